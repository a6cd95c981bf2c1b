/**
 * A plugin's host: a process of its own with the permissions that were granted, and nothing else. It never has a
 * terminal: standard input is a pipe that carries the calls, output and error are read and bounded.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { isWithin } from "../text/path.ts";
import {
  LineReader,
  MAX_LINE,
  type PluginConnection,
  type PluginEvents,
  type PluginLink,
  type PluginPermissions,
  type PluginPlan,
  type PluginSetup,
} from "./_plugin_protocol.ts";

export type { PluginPermissions, PluginPlan } from "./_plugin_protocol.ts";

/** Where the host's own code is. */
export interface PluginHostCode {
  /** URL of the module that a host begins with; null: this is a compiled binary, which starts itself. */
  readonly main: string | null;
  /** Words before the setup on a compiled binary's command line. */
  readonly command: readonly string[];
  /** Folders of the program's own modules; none where they are not local. */
  readonly sourceRoots: readonly string[];
  /** What `@polyglav/cli/tools` means for a plugin. */
  readonly library: string;
}

/** Characters of standard error that are kept, from its end. */
const MAX_STDERR = 2000;

/** Exit code by which a host says that it used too much memory. */
export const OUT_OF_MEMORY = 70;

/**
 * The command line of a plugin's host, without Deno itself.
 *
 * @throws {ConfigError} for a value with a comma, which a flag cannot carry, and for a grant to start Deno
 */
export function pluginArguments(plan: PluginPlan, code: PluginHostCode): string[] {
  const { permissions: p, root, memory } = plan;
  const deno = real(Deno.execPath());
  if (p.run.some((program) => real(program) === deno)) {
    throw new ConfigError(
      `Cannot start plugin ${plan.name}: it may not start Deno, because whoever may start Deno may do anything`,
    );
  }
  const setup: PluginSetup = {
    root,
    entry: plan.entry,
    worktree: plan.worktree,
    read: p.read,
    write: p.write,
    memory,
    narrow: code.main === null ? narrowed(p) : null,
  };
  if (code.main === null) return [...code.command, JSON.stringify(setup)];
  const imports = { imports: { "@polyglav/cli/tools": code.library } };
  return [
    "run",
    "--no-prompt",
    "--cached-only",
    "--no-config",
    "--no-lock",
    "--unstable-worker-options",
    `--import-map=data:application/json,${encodeURIComponent(JSON.stringify(imports))}`,
    `--v8-flags=--max-old-space-size=${memory}`,
    ...flag("allow-read", [root, ...code.sourceRoots, ...p.read]),
    ...flag("deny-read", p.denyRead),
    ...flag("allow-write", p.write),
    ...flag("deny-write", p.denyWrite),
    ...flag("allow-net", p.net),
    ...flag("allow-run", p.run),
    ...flag("allow-env", p.env),
    code.main,
    JSON.stringify(setup),
  ];
}

/** What a worker can be given: it knows no denied places, so a folder with some in it is left out where it is about writing. */
function narrowed(permissions: PluginPermissions): PluginPermissions {
  const { write, denyWrite } = permissions;
  return {
    ...permissions,
    write: write.filter((place) => !denyWrite.some((closed) => isWithin(closed, place))),
  };
}

function flag(name: string, values: readonly string[]): string[] {
  const bad = values.find((value) => value.includes(",") || value === "");
  if (bad !== undefined) {
    throw new ConfigError(
      `Cannot start a plugin's host: ${
        JSON.stringify(bad)
      } cannot be written as --${name}; use a value without commas`,
    );
  }
  return values.length > 0 ? [`--${name}=${values.join(",")}`] : [];
}

function real(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

/** Starts hosts as children of this process. For the launcher, and for a process that has no ceiling. */
export class ProcessLink implements PluginLink {
  readonly #plans: readonly PluginPlan[];
  readonly #code: PluginHostCode;
  readonly #running = new Set<PluginConnection>();

  /** @param plans what may be started; @param code the host's own code */
  constructor(plans: readonly PluginPlan[], code: PluginHostCode) {
    this.#plans = plans;
    this.#code = code;
  }

  start(plugin: string, events: PluginEvents): PluginConnection {
    const plan = this.#plans.find(({ name }) => name === plugin);
    const connection = startPlugin(plan, this.#code, {
      onLine: events.onLine,
      onEnd: (reason) => {
        this.#running.delete(connection);
        events.onEnd(reason);
      },
    });
    this.#running.add(connection);
    return connection;
  }

  close(): void {
    for (const connection of this.#running) connection.end();
    this.#running.clear();
  }
}

function startPlugin(
  plan: PluginPlan | undefined,
  code: PluginHostCode,
  events: PluginEvents,
): PluginConnection {
  let child: Deno.ChildProcess;
  try {
    if (!plan) throw new Error("there is no such plugin");
    child = new Deno.Command(Deno.execPath(), {
      args: pluginArguments(plan, code),
      cwd: plan.root,
      clearEnv: true,
      env: plan.env as Record<string, string>,
      // A session of its own: no terminal, and its children end with it.
      detached: Deno.build.os !== "windows",
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (error) {
    queueMicrotask(() => events.onEnd(`it could not be started: ${messageOf(error)}`));
    return { send() {}, end() {} };
  }
  const writer = child.stdin.getWriter(), encoder = new TextEncoder();
  let verdict: string | null = null, errors = "";
  const kill = (why: string) => {
    verdict ??= why;
    try {
      if (Deno.build.os === "windows") child.kill("SIGKILL");
      else Deno.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  let passed: void | Promise<void> = undefined;
  const lines = new LineReader(
    (line) => passed = events.onLine(line),
    () => kill(`it wrote more than ${MAX_LINE >> 20} MB without a line break`),
  );
  const decoder = new TextDecoder();
  const reading = Promise.all([
    drain(child.stdout, (bytes) => {
      lines.push(bytes);
      return passed;
    }),
    drain(child.stderr, (bytes) => {
      errors = (errors + decoder.decode(bytes, { stream: true })).slice(-MAX_STDERR);
    }),
  ]);
  void child.status.then(async ({ code, signal }) => {
    // What it left behind may hold the pipes open.
    kill("");
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 500))]);
    writer.close().catch(() => {});
    events.onEnd(verdict || describe(code, signal, errors, plan.memory));
  });
  return {
    send(line) {
      writer.write(encoder.encode(`${line}\n`)).catch(() => {});
    },
    end: () => kill("it was ended"),
  };
}

async function drain(
  stream: ReadableStream<Uint8Array>,
  take: (bytes: Uint8Array) => void | Promise<void>,
): Promise<void> {
  try {
    for await (const bytes of stream) await take(bytes);
  } catch {
    // The process ended in the middle of it.
  }
}

function describe(code: number, signal: string | null, errors: string, memory: number): string {
  const heap = /JavaScript heap out of memory|OOM error|reached heap limit/i.test(errors);
  if (code === OUT_OF_MEMORY || heap) return `it used more than ${memory} MB of memory`;
  const last = cleanForTerminal(errors, { line: true }).trim();
  const how = signal ? `it was ended by ${signal}` : `it exited with code ${code}`;
  return last === "" ? how : `${how}: ${last.slice(-300)}`;
}
