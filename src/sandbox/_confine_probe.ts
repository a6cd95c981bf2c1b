/**
 * Finds out whether commands can be confined here, by trying.
 *
 * @module
 */
import { BWRAP_PATHS, SEATBELT_PATH } from "./_confine_paths.ts";
import { basename, dirname, isAbsolute, isWithin, join } from "../text/path.ts";
import { bwrapBase, PRIVATE } from "./_confine_bwrap.ts";
import { CACHES, GIT_PROTECTED, SECRETS } from "./_confine_secrets.ts";
import type { Confinement } from "./confine.ts";

/** What {@link probeConfinement} needs. */
export interface ProbeInput {
  /** Canonical. */
  readonly worktree: string;
  readonly home: string;
  /** `exec.writable` and the program's own directories, absolute: whether and where they exist is looked up as well. */
  readonly paths?: readonly string[];
  /** Absolute paths to try instead of the usual places of bubblewrap. */
  readonly programs?: readonly string[];
  /** Default: this system. */
  readonly os?: typeof Deno.build.os;
}

const NONE = {
  available: false,
  kind: null,
  program: null,
  overlays: false,
  userNamespace: false,
  root: false,
  found: {},
  gitDirectories: [],
};
const GET_BWRAP =
  "bubblewrap is not installed; get it with your package manager (apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap)";

/**
 * Tries to confine a harmless command: it must not be able to write beside the worktree, to see this process or to have
 * a network interface but loopback. The same run looks where the user's secrets and caches lie, which this process may not
 * be allowed to see. Needs permission to run the confining program; never throws.
 */
export async function probeConfinement(input: ProbeInput): Promise<Confinement> {
  const os = input.os ?? Deno.build.os;
  if (os === "darwin") return await probeSeatbelt(input);
  if (os !== "linux") {
    return { ...NONE, why: `there is nothing to confine commands with on ${os}; they run with your rights` };
  }
  let denied = false;
  for (const program of input.programs ?? BWRAP_PATHS) {
    const version = await runProgram([program, "--version"]);
    if (version === null) {
      denied ||= Deno.permissions.querySync({ name: "run", command: program }).state !== "granted";
      continue;
    }
    return await probeBwrap(program, version.out, input);
  }
  if (denied && !Deno.permissions.querySync({ name: "run" }).state.startsWith("granted")) {
    return { ...NONE, why: `${GET_BWRAP}, or this process may not start it` };
  }
  return { ...NONE, why: GET_BWRAP };
}

// Prints what was possible and must not have been, then, for each path, where it really is.
const SCRIPT = `
mark=$1; pid=$2; shift 2
echo "u$(id -u)"
if (echo x > "$mark") 2>/dev/null; then echo "!write"; fi
if [ -d "/proc/$pid/fd" ] && [ "$pid" -gt 50 ]; then echo "!processes"; fi
if [ -r /proc/net/dev ] && [ "$(sed 1,2d /proc/net/dev | grep -vc '^ *lo:')" != 0 ]; then echo "!network"; fi
for p do
  r=; [ -e "$p" ] && r=$(readlink -f "$p")
  if [ -z "$r" ]; then echo "-"; elif [ -d "$r" ]; then echo "d$r"; else echo "f$r"; fi
done
`;
// As above, unconfined but for the read-only root: prints the first line of a file.
const LINES = 'for p do if [ -f "$p" ]; then printf "%s\\n" "$(head -n 1 "$p")"; else echo; fi; done';

async function probeBwrap(program: string, version: string, input: ProbeInput): Promise<Confinement> {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const overlays = Number(major) > 0 || Number(minor) >= 11;
  const failed = (why: string): Confinement => ({ ...NONE, kind: "bwrap", program, why });
  const paths = [
    ...SECRETS.map((name) => join(input.home, name)),
    ...CACHES.map((name) => join(input.home, name)),
    ...PRIVATE,
    ...(input.paths ?? []),
  ];
  const mark = join(dirname(input.worktree), `.polyglav-probe-${crypto.randomUUID()}`);
  const script = [SCRIPT, "sh", mark, String(Deno.pid), ...paths];
  let run: Captured | null = null, look: string[] = [], userNamespace = false;
  for (userNamespace of [false, true]) {
    look = looking(program, userNamespace);
    run = await runProgram([...look, ...script]);
    if (run === null) return failed(`${program} cannot be started`);
    if (run.code === 0) break;
  }
  if (run!.code !== 0) {
    const why = run!.err.split("\n", 1)[0]!.replace(/^bwrap: /, "") || `exit ${run!.code}`;
    return failed(
      `bubblewrap is installed, but this system does not let it work (${why}); ` +
        "allow unprivileged user namespaces, or start the container with them",
    );
  }
  const { uid, holes, places } = parse(run!.out);
  if (holes.length > 0) return failed(`bubblewrap runs, but lets a command through to: ${holes.join(", ")}`);
  const found = placed(paths, places);
  const gitDirectories = await findGit(look, input, found);
  return {
    available: true,
    why: `bubblewrap ${version.replace(/^\D*/, "").trim()}${
      overlays ? "" : " (before 0.11: caches outside the worktree are read-only inside)"
    }`,
    kind: "bwrap",
    program,
    overlays,
    userNamespace,
    root: uid === "0" && !userNamespace,
    found,
    gitDirectories,
  };
}

/** The beginning of a look around: as confined commands run, but for the private folders, in which there may be something. */
function looking(program: string, userNamespace: boolean): string[] {
  const base = bwrapBase({ userNamespace, root: false });
  return [program, ...base, "--unshare-net", "--chdir", "/", "--", "/bin/sh", "-c"];
}

type Places = Record<string, { path: string; directory: boolean }>;

function parse(out: string): { uid: string; holes: string[]; places: string[] } {
  const lines = out.split("\n").filter((line) => line !== "");
  return {
    uid: lines.find((line) => line.startsWith("u"))?.slice(1) ?? "",
    holes: lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1)),
    places: lines.filter((line) => /^[-df]/.test(line)),
  };
}

function placed(paths: readonly string[], places: readonly string[], found: Places = {}): Places {
  paths.forEach((path, i) => {
    const line = places[i] ?? "-";
    if (line !== "-") found[path] = { path: line.slice(1), directory: line.startsWith("d") };
  });
  return found;
}

/**
 * Git directories outside the worktree that git in it writes to: that of a linked worktree or submodule (only where it
 * points back to this worktree, so that a `.git` file cannot open any other folder), or of a repository further up.
 */
async function findGit(
  look: readonly string[],
  input: ProbeInput,
  found: Places,
): Promise<string[]> {
  const { worktree, home } = input;
  const own = join(worktree, ".git");
  let link: string | null = null;
  try {
    const status = Deno.lstatSync(own);
    if (status.isDirectory) return [];
    if (status.isFile) link = /^gitdir: (.+?)\s*$/m.exec(Deno.readTextFileSync(own))?.[1] ?? null;
  } catch { /* none here */ }
  const lines = async (paths: string[]) =>
    (await runProgram([...look, LINES, "sh", ...paths]))?.out.split("\n").map((line) => line.trim()) ?? [];
  const places = async (paths: string[]) => {
    const run = await runProgram([...look, SCRIPT, "sh", "/proc/none", "0", ...paths]);
    placed(paths, parse(run?.out ?? "").places, found);
  };
  const keep = async (directories: string[]) => {
    const parts = directories.flatMap((directory) => [
      directory,
      join(directory, "info"),
      join(directory, "modules"),
      ...GIT_PROTECTED.map(({ name }) => join(directory, name)),
    ]);
    await places(parts);
    return directories.filter((directory) => found[directory]?.directory);
  };
  if (link !== null) {
    const directory = isAbsolute(link) ? link : join(worktree, link);
    const [back, common] = await lines([join(directory, "gitdir"), join(directory, "commondir")]);
    if (back === own && common) {
      const shared = isAbsolute(common) ? common : join(directory, common);
      if (basename(dirname(directory)) === "worktrees" && isWithin(directory, shared)) {
        return await keep([shared, directory]);
      }
    }
    // A submodule's has its configuration, with the way back, in `<superproject>/.git/modules/<name>`.
    const modules = /^(.*\/\.git)\/modules\//.exec(directory);
    if (modules && isWithin(worktree, dirname(modules[1]!))) return await keep([directory]);
    return [];
  }
  const up: string[] = [];
  for (let at = dirname(worktree); at !== dirname(at) && !isWithin(home, at); at = dirname(at)) {
    up.push(join(at, ".git"));
  }
  if (up.length === 0) return [];
  await places(up);
  const nearest = up.find((path) => found[path]);
  return nearest && found[nearest]!.directory ? await keep([nearest]) : [];
}

async function probeSeatbelt(input: ProbeInput): Promise<Confinement> {
  const program = input.programs?.[0] ?? SEATBELT_PATH;
  const mark = join(dirname(input.worktree), `.polyglav-probe-${crypto.randomUUID()}`);
  const profile = "(version 1)(allow default)(deny file-write*)(deny network*)";
  const paths = [...SECRETS, ...CACHES].map((name) => join(input.home, name)).concat(input.paths ?? []);
  const run = await runProgram([
    program,
    "-p",
    profile,
    "--",
    "/bin/sh",
    "-c",
    SCRIPT,
    "sh",
    mark,
    "0",
    ...paths,
  ]);
  if (run === null) return { ...NONE, why: `${program} cannot be started` };
  const { holes, places } = parse(run.out);
  if (run.code !== 0 || holes.includes("write")) {
    return { ...NONE, kind: "sandbox-exec", program, why: "sandbox-exec runs, but does not confine" };
  }
  const found = placed(paths, places);
  return { ...NONE, available: true, why: "sandbox-exec", kind: "sandbox-exec", program, found };
}

/** What a program of the system did. */
export interface Captured {
  code: number;
  out: string;
  err: string;
}

/** Runs a program of the system to its end; null where it cannot be started. */
export async function runProgram(argv: readonly string[]): Promise<Captured | null> {
  try {
    const child = new Deno.Command(argv[0]!, {
      args: argv.slice(1),
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
      cwd: "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const [out, err, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.status,
    ]);
    return { code: status.code, out, err };
  } catch {
    return null;
  }
}
