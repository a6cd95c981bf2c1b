/**
 * Makes the executables: one per operating system, with their SHA-256 sums.
 *
 * usage: deno task compile [--target TRIPLE]... [--out DIR] [--policy PROJECT]
 *
 * `--policy PROJECT` bakes the permission flags that `polyglav policy --output flags` prints for a project into the
 * binary, so that not even the program itself can do more. Without it a binary runs with all permissions, and its
 * own rings (policy, guard, worker permissions, confinement of commands) hold.
 *
 * @module
 */
import { dirname, join } from "../src/text/path.ts";

/** The targets, in Deno's names. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** Modules of workers: found at run time by their path, so they are embedded beside the bundle. */
export const WORKER_MODULES: readonly string[] = [
  "entry.ts",
  "run_entry.ts",
  "page_entry.ts",
  "web_entry.ts",
  "plugin_worker.ts",
  "plugin_files_worker.ts",
];

/** What to make. */
export interface CompileOptions {
  /** A name of {@link TARGETS}; null: the machine that compiles. */
  readonly target: string | null;
  /** Folder of the executables. */
  readonly out: string;
  /** Permission flags to bake in; default `-A`. */
  readonly permissions: readonly string[];
}

/** The file name of a target's executable. */
export function executableName(target: string): string {
  return `polyglav-${target}${target.includes("windows") ? ".exe" : ""}`;
}

/** The words after `deno` that compile one executable. */
export function compileArguments(root: string, options: CompileOptions): string[] {
  const name = executableName(options.target ?? Deno.build.target);
  return [
    "compile",
    "--quiet",
    "--no-check",
    "--no-prompt",
    ...options.permissions,
    "--unstable-worker-options",
    // A bundle leaves out what openai does not use; the worker's module is found at run time by its path.
    "--bundle",
    ...WORKER_MODULES.flatMap((name) => ["--include", join(root, "src/sandbox", name)]),
    ...(options.target ? ["--target", options.target] : []),
    "--output",
    join(options.out, name),
    join(root, "main.ts"),
  ];
}

/**
 * Compiles one executable.
 *
 * @returns the path of the executable
 * @throws {Error} with what the compiler said
 */
export async function compileOne(root: string, options: CompileOptions): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: compileArguments(root, options),
    cwd: root,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const [stderr, status] = await Promise.all([new Response(child.stderr).text(), child.status]);
  const file = join(options.out, executableName(options.target ?? Deno.build.target));
  if (!status.success) throw new Error(`Cannot compile ${file}: ${stderr.trim()}`);
  return file;
}

/** SHA-256 of a file, in hexadecimal digits. */
export async function sha256(file: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(file));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The permission flags of a project, as `polyglav policy --output flags` prints them. */
export async function projectFlags(root: string, project: string): Promise<string[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(root, "main.ts"), "policy", "--output", "flags", "--path", project],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const [text, status] = await Promise.all([new Response(child.stdout).text(), child.status]);
  if (!status.success) throw new Error(`Cannot bake the policy of ${project}: exit ${status.code}`);
  // `--cached-only` and worker options are given above; a binary knows neither of them as a permission.
  return text.split("\n").map((line) => line.trim()).filter((line) => /^--(allow|deny)-/.test(line));
}

if (import.meta.main) {
  const root = dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname)));
  const targets: string[] = [];
  let out = join(root, "dist"), policy: string | null = null;
  for (let i = 0; i < Deno.args.length; i++) {
    const [word, value] = [Deno.args[i], Deno.args[i + 1]];
    if (value === undefined || !["--target", "--out", "--policy"].includes(word!)) {
      console.error(
        `compile: cannot understand "${word}"; usage: deno task compile [--target TRIPLE]... [--out DIR] [--policy PROJECT]`,
      );
      Deno.exit(2);
    }
    if (word === "--target") targets.push(value);
    else if (word === "--out") out = value;
    else policy = value;
    i++;
  }
  for (const target of targets) {
    if (!TARGETS.includes(target)) {
      console.error(`compile: unknown target "${target}"; one of ${TARGETS.join(", ")}`);
      Deno.exit(2);
    }
  }
  Deno.mkdirSync(out, { recursive: true });
  const permissions = policy === null ? ["--allow-all"] : await projectFlags(root, policy);
  const sums: string[] = [];
  for (const target of targets.length > 0 ? targets : TARGETS) {
    const file = await compileOne(root, { target, out, permissions });
    const line = `${await sha256(file)}  ${executableName(target)}`;
    sums.push(line);
    console.log(line);
  }
  Deno.writeTextFileSync(join(out, "SHA256SUMS"), `${sums.join("\n")}\n`);
}
