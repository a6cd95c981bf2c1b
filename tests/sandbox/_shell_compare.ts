/**
 * Runs command lines by the executor and by a real bash, each in a folder of its own with the same files and a PATH of
 * recorder programs, and compares what was started, what was written and how it ended.
 *
 * @module
 */
import { join } from "../../src/text/path.ts";
import { checkCommand, planAllowed } from "../../src/policy/shell_command.ts";
import type { CommandPlan } from "../../src/policy/types.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import { runTree } from "../../src/sandbox/shell.ts";
import { ToolError } from "../../src/errors.ts";

/** Entries of the list under which {@link compare} checks. */
export const PREFIXES: readonly string[] = ["rec", "ok", "no", "two", "nope", "echo", "printf"];

/** Reads all input, notes its name and arguments, shows them, and ends with the status of its name. */
const RECORDER = `#!/bin/sh
trap '' PIPE
in=
while IFS= read -r line; do in="$in$line;"; done
in="$in$line"
name="\${0##*/}"
record="$name"
shown="<$name"
unit='\x1f'
for a; do record="$record$unit$a"; shown="$shown|$a"; done
printf '%s\\036' "$record" >> "$RECORD"
printf '%s|%s>\\n' "$shown" "$in" 2>/dev/null
printf 'e:%s\\n' "$name" >&2 2>/dev/null
case "$0" in *no) exit 1;; *two) exit 2;; esac
exit 0
`;

const FILES: Readonly<Record<string, string>> = {
  "a.txt": "A\n",
  "b.txt": "B\n",
  "c1": "C\n",
  ".hid": "H\n",
  "d/x.md": "X\n",
  "d/y.md": "Y\n",
  "d/e/z": "Z\n",
  "é1": "",
  "[a": "",
  "sp ace": "",
};

/** What one command did. */
export interface Observed {
  readonly started: string;
  readonly output: string;
  readonly status: number;
  readonly files: string;
}

/** A command that bash and the executor treat differently. */
export interface Difference {
  readonly command: string;
  readonly bash: Observed;
  readonly ours: Observed | string;
}

/** The environment's variables that commands expand. */
const VARIABLES = { V: "v w", W: "*.txt", E: "", S: " s ", HOME: "/home/nobody", LC_ALL: "C.UTF-8" };

/** Checks a command as {@link compare} does. */
export function check(command: string, worktree: string, path: string): CommandPlan {
  return checkCommand(command, {
    prefixes: PREFIXES,
    worktree,
    cwd: worktree,
    env: { ...VARIABLES, PATH: path },
    shell: "/bin/sh",
    home: VARIABLES.HOME,
  });
}

/** Whether a plan stays inside the worktree, so that guard and bash can agree. */
function staysInside(plan: CommandPlan, worktree: string): boolean {
  return plan.paths.every(({ path }) => `${join(path)}/`.startsWith(`${worktree}/`));
}

/** Lines that run between two looks at what they did; their folders are used again for the next ones. */
const BATCH = 200;

/**
 * Compares command lines; those that are not let through are passed over.
 *
 * @returns how many were run, and what differed
 */
export async function compare(
  commands: Iterable<string>,
  wanted: number,
): Promise<{ ran: number; differences: Difference[] }> {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-shell-" }));
  const bin = join(root, "bin");
  const source = commands[Symbol.iterator]();
  let ran = 0, done = 0;
  const differences: Difference[] = [];
  try {
    for (const directory of [bin, join(root, "capture")]) Deno.mkdirSync(directory);
    for (const name of ["rec", "ok", "no", "two"]) {
      Deno.writeTextFileSync(join(bin, name), RECORDER);
      Deno.chmodSync(join(bin, name), 0o755);
    }
    while (done < wanted) {
      const batch = await compareBatch(source, Math.min(BATCH, wanted - done), root);
      done += batch.chosen;
      ran += batch.ran;
      differences.push(...batch.differences);
      if (batch.chosen === 0) break;
    }
    return { ran, differences };
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

async function compareBatch(
  source: Iterator<string>,
  wanted: number,
  root: string,
): Promise<{ chosen: number; ran: number; differences: Difference[] }> {
  const bin = join(root, "bin"), capture = join(root, "capture");
  const chosen: { command: string; plan: CommandPlan }[] = [];
  while (chosen.length < wanted) {
    const { value: command, done } = source.next();
    if (done) break;
    const worktree = folder(root, "ours", chosen.length), plan = check(command, worktree, bin);
    if (!planAllowed(plan) || !staysInside(plan, worktree)) continue;
    chosen.push({ command, plan });
  }
  chosen.forEach((_, i) => {
    for (const side of ["ours", "bash"]) {
      fill(folder(root, side, i));
      forget(`${folder(root, side, i)}.record`);
    }
  });
  const bash = runBash(root, bin, chosen.map(({ command }) => command));
  const ours: (Observed | string)[] = [], left = chosen.entries();
  // Most of a line's time is waiting for processes.
  const lane = async () => {
    for (const [i, { plan }] of left) ours[i] = await runOurs(root, bin, capture, i, plan);
  };
  await Promise.all([bash, ...Array.from({ length: 6 }, lane)]);
  const differences: Difference[] = [];
  let ran = 0;
  chosen.forEach(({ command }, i) => {
    const mine = ours[i]!;
    // A pattern that matches a name like an option is refused at run time, on purpose.
    if (typeof mine === "string" && mine.includes("could take for an option")) return;
    ran++;
    if (racing(command)) return;
    const theirs = observe(root, "bash", i, loose(command));
    const same = typeof mine !== "string" &&
      JSON.stringify(sortLoose(mine, loose(command))) === JSON.stringify(theirs);
    if (!same) differences.push({ command, bash: theirs, ours: mine });
  });
  return { chosen: chosen.length, ran, differences };
}

/** Parts of pipelines and background jobs run at the same time: their order is nobody's promise. */
function loose(command: string): boolean {
  return /[|&]/.test(command.replace(/&&|\|\||2>&1|1?>&2/g, ""));
}

/** Whether commands that run at the same time touch files: what is in them in the end is nobody's promise. */
function racing(command: string): boolean {
  const redirects = command.match(/[<>]/g)?.length ?? 0, background = /(^|[^&|>])&($|[^&>])/.test(command);
  return loose(command) && redirects > (background ? 0 : 1);
}

function sortLoose(observed: Observed, unordered: boolean): Observed {
  if (!unordered) return observed;
  const started = observed.started.split("\u001e").sort().join("\u001e");
  return { ...observed, started, output: [...observed.output].sort().join("") };
}

function folder(root: string, side: string, i: number): string {
  return join(root, side, String(i));
}

/** Makes a folder what it was: commands only write files, and writing all of them anew takes a disk seconds. */
function fill(worktree: string): void {
  Deno.mkdirSync(join(worktree, "d/e"), { recursive: true });
  for (const path of below(worktree)) if (FILES[path] === undefined) forget(join(worktree, path));
  for (const [name, content] of Object.entries(FILES)) {
    const path = join(worktree, name);
    if (textOf(path) !== content) Deno.writeTextFileSync(path, content);
  }
}

function forget(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* it was not there */ }
}

function textOf(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}

async function runOurs(
  root: string,
  bin: string,
  captureDirectory: string,
  i: number,
  plan: CommandPlan,
): Promise<Observed | string> {
  const worktree = folder(root, "ours", i);
  const scope = {
    worktree,
    home: VARIABLES.HOME,
    roots: [{ path: worktree, access: "write" as const }],
    rules: [],
    consented: [],
  };
  try {
    const result = await runTree(plan, {
      cwd: worktree,
      env: { ...VARIABLES, PATH: bin, RECORD: join(root, "ours", `${i}.record`) },
      timeout: 60_000,
      // On a busy machine a job in the background takes its time, and what it does is compared, too.
      grace: 30_000,
      captureDirectory,
      workspace: createWorkspace(scope),
    });
    Deno.writeTextFileSync(join(root, "ours", `${i}.out`), result.output);
    Deno.writeTextFileSync(join(root, "ours", `${i}.status`), String(result.code ?? -1));
    return observe(root, "ours", i, false);
  } catch (error) {
    if (error instanceof ToolError) return `${error.kind}: ${error.message}`;
    throw error;
  }
}

/** One bash script runs all; each command in a bash of its own, as `-c` text. */
async function runBash(root: string, bin: string, commands: readonly string[]): Promise<void> {
  const text = commands.map((command, i) => {
    const quoted = `'${command.replaceAll("'", "'\\''")}'`, base = join(root, "bash", String(i));
    return `cd ${base} && RECORD=${base}.record PATH=${bin} /bin/bash -c ${quoted} >${base}.out 2>&1 </dev/null\n` +
      `echo $? >${base}.status`;
  }).join("\n");
  const script = join(root, "all.sh");
  Deno.writeTextFileSync(script, text);
  const child = new Deno.Command("/bin/bash", {
    args: [script],
    clearEnv: true,
    env: VARIABLES,
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  await child.status;
}

function observe(root: string, side: string, i: number, unordered: boolean): Observed {
  const base = join(root, side, String(i));
  const read = (end: string) => {
    try {
      return Deno.readTextFileSync(base + end);
    } catch {
      return "";
    }
  };
  const plain = (text: string) =>
    text.replaceAll(join(root, side), "").replace(/\/bin\/bash: line \d+: /g, "");
  return sortLoose({
    started: plain(read(".record")),
    output: plain(read(".out")),
    status: Number(read(".status")),
    files: plain(tree(base)),
  }, unordered);
}

/** All files that the template does not have, or has otherwise. */
function tree(directory: string): string {
  return below(directory).map((path) => [path, textOf(join(directory, path))] as const)
    .filter(([path, content]) => FILES[path] !== content).map(([path, content]) => `${path}=${content}\n`)
    .join("");
}

/** Paths of all files, sorted by folder. */
function below(directory: string, inside = ""): string[] {
  const entries = [...Deno.readDirSync(join(directory, inside))].sort((a, b) => a.name < b.name ? -1 : 1);
  return entries.flatMap((entry) => {
    const path = inside === "" ? entry.name : `${inside}/${entry.name}`;
    return entry.isDirectory ? below(directory, path) : [path];
  });
}
