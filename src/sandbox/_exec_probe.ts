/**
 * Harmless attempts by which `polyglav doctor` finds out what really holds.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { readCeiling, workerPlan } from "./flags.ts";

/** What an attempt came to: `held` it was refused, `open` it was not, `failed` it could not be made. */
export interface Attempt {
  readonly outcome: "held" | "open" | "failed";
  /** One line. */
  readonly why: string;
}

/** Milliseconds that an attempt may take. */
const PATIENCE = 5000;

/** Whether this process itself may list a folder that it should not see. */
export function tryProcess(outside: string): Attempt {
  try {
    Deno.readDirSync(outside)[Symbol.iterator]().next();
    return { outcome: "open", why: `this process may read ${outside}` };
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) {
      return { outcome: "held", why: `reading ${outside} was refused` };
    }
    return { outcome: "failed", why: messageOf(error) };
  }
}

/** Whether a worker with the permissions of a reading tool may list a folder outside the worktree. */
export async function tryWorker(worktree: string, outside: string): Promise<Attempt> {
  const code = `let said;
try { Deno.readDirSync(${JSON.stringify(outside)})[Symbol.iterator]().next(); said = "open"; }
catch (error) { said = error.name === "NotCapable" ? "held" : "failed: " + error.message; }
postMessage(said);`;
  let worker: Worker | undefined, timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const set = { read: [worktree], write: [], run: [], net: [], env: [] };
    const { permissions } = workerPlan(set, readCeiling()?.flags ?? null, true);
    worker = new Worker(`data:text/javascript,${encodeURIComponent(code)}`, {
      type: "module",
      deno: { permissions },
    } as WorkerOptions);
    const said = await new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("it did not answer")), PATIENCE);
      worker!.onmessage = ({ data }) => resolve(String(data));
      worker!.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    });
    if (said === "held") return { outcome: "held", why: `a worker's reading of ${outside} was refused` };
    if (said === "open") return { outcome: "open", why: `a worker may read ${outside}` };
    return { outcome: "failed", why: said };
  } catch (error) {
    const why = messageOf(error);
    return {
      outcome: "failed",
      why: /Unstable API|worker-options/.test(why)
        ? "workers cannot be narrowed without --unstable-worker-options"
        : `no worker could be started (${why})`,
    };
  } finally {
    clearTimeout(timer);
    worker?.terminate();
  }
}

/** The first line that a program prints about its version; null where it is not there, `refused` where it may not be started. */
export async function versionOf(
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null | "refused"> {
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command(program, {
      args: ["--version"],
      clearEnv: true,
      env: { ...env },
      cwd: Deno.build.os === "windows" ? undefined : "/",
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? "refused" : null;
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
  try {
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    await child.status;
    return (out.trim() || err.trim()).split("\n", 1)[0]!.slice(0, 100);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether something accepts connections at an address. */
export async function tryConnect(host: string, port: number): Promise<Attempt> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => timer = setTimeout(() => done(null), 3000));
  const connecting = Deno.connect({ hostname: host.replace(/^\[(.*)\]$/, "$1"), port });
  try {
    const connection = await Promise.race([connecting, late]);
    if (connection === null) {
      connecting.then((each) => each.close(), () => {});
      return { outcome: "failed", why: "no answer within 3 s" };
    }
    connection.close();
    return { outcome: "open", why: "answers" };
  } catch (error) {
    return { outcome: "failed", why: messageOf(error).replace(/ \(os error \d+\)/, "") };
  } finally {
    clearTimeout(timer);
  }
}
