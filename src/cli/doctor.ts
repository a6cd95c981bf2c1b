/**
 * `polyglav doctor`: tries each ring of the sandbox with a harmless escape, and looks at what a run needs.
 *
 * @module
 */
import { globalConfigFile, projectConfigFile } from "../config/paths.ts";
import { messageOf, ToolError } from "../errors.ts";
import { resolvePrograms } from "../policy/programs.ts";
import { providerAddress, readKeys } from "../provider/detect.ts";
import { BWRAP_PATHS, SEATBELT_PATH } from "../sandbox/_confine_paths.ts";
import { acceptsAddition } from "../sandbox/environment.ts";
import { dirname } from "../text/path.ts";
import type { Command, Invocation } from "./_command.ts";
import { ceilingOf, type Host, POLICY_OPTIONS, prepare, underCeiling } from "./_host.ts";

/** How a line stands: `active` and `missing` are states, `broken` is a fault, `info` is neither. */
export type DoctorStatus = "active" | "missing" | "broken" | "info";

/** One line of the report. */
export interface DoctorLine {
  /** Stable name, such as `policy`, `confinement` or `git`. */
  readonly id: string;
  readonly status: DoctorStatus;
  /** What holds, or what is missing and how to get it, or what is broken and why. */
  readonly detail: string;
}

/** The command. */
export const command: Command = {
  name: "doctor",
  summary: "Checks which rings of the sandbox are active, and what a run needs.",
  details:
    "Tries a harmless escape at each ring and prints one line: active, missing (and how to get it) or broken (and why).\n" +
    "Nothing is changed. Exit code 1 where something is broken.",
  options: {
    ...POLICY_OPTIONS,
    provider: { type: "string", value: "NAME", help: "the provider to look at; default: the configured one" },
    "base-url": { type: "string", value: "URL", help: "its address" },
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: ["text", "json"],
      help: "text (default) or one JSON object",
    },
  },
  examples: [
    ["doctor", "what protects this machine from what a model does"],
    ["doctor --output json", "the same for a script"],
  ],
  run,
};

async function run({ values, io }: Invocation): Promise<number> {
  const { canLaunch } = await import("../sandbox/launch.ts");
  const flags = { provider: values.provider, base_url: values["base-url"] };
  const host = await prepare(values, io, flags, { quiet: canLaunch() });
  const code = await underCeiling(host, () => flagsOf(host));
  if (code !== null) return code;
  const lines = await examine(host);
  if (values.output === "json") io.out(`${JSON.stringify({ lines }, null, 2)}\n`);
  else {
    const width = Math.max(...lines.map(({ id }) => id.length));
    for (const { id, status, detail } of lines) {
      io.out(`${status.padEnd(7)}  ${id.padEnd(width)}  ${detail.replace(/\s*\n\s*/g, " ")}\n`);
    }
  }
  return lines.some(({ status }) => status === "broken") ? 1 : 0;
}

/** The ceiling of any other headless command here, and what doctor itself starts and looks at. */
function flagsOf(host: Host): ReturnType<typeof ceilingOf> {
  const { policyInput } = host;
  const flags = ceilingOf(host, {
    yes: false,
    providerAddress: addressOf(host),
    read: [policyInput.shell, ...(policyInput.wrappers ?? [])],
  });
  const search = { path: policyInput.env.PATH ?? policyInput.env.Path ?? "", worktree: host.worktree };
  const own = resolvePrograms(["git", ...BWRAP_PATHS, SEATBELT_PATH], search).paths;
  return { ...flags, run: [...new Set([...flags.run, ...own])] };
}

/** Every line of the report, in order. */
async function examine(host: Host): Promise<DoctorLine[]> {
  const checks: [string, (host: Host) => Promise<DoctorLine[]> | DoctorLine[]][] = [
    ["policy", policy],
    ["guard", guard],
    ["worker", worker],
    ["ceiling", ceiling],
    ["confinement", confinement],
    ["deno", deno],
    ["config", config],
    ["provider", provider],
    ["git", programs],
    ["terminal", terminal],
  ];
  const lines: DoctorLine[] = [];
  for (const [id, check] of checks) {
    try {
      lines.push(...await check(host));
    } catch (error) {
      lines.push({ id, status: "broken", detail: messageOf(error) });
    }
  }
  return lines;
}

/** The folder above the worktree: nothing may be read there without a yes. Null for a worktree that is everything. */
function outsideOf({ worktree }: Host): string | null {
  const parent = dirname(worktree);
  return parent === worktree ? null : parent;
}

const EVERYTHING =
  "the worktree is the whole file system, so nothing lies outside; start in a project or give --path";

function policy(host: Host): DoctorLine[] {
  const tool = host.registry.get("list_dir"), outside = outsideOf(host);
  if (outside === null) return [{ id: "policy", status: "missing", detail: EVERYTHING }];
  if (!tool) return [{ id: "policy", status: "broken", detail: "there is no list_dir to ask it about" }];
  const decision = host.policy.resolve(tool, { path: outside, depth: 1 });
  const mode = `mode ${host.policy.mode}`;
  return [
    decision.action === "allow"
      ? {
        id: "policy",
        status: "info",
        detail: `${mode}; ${outside} may be listed without asking [${decision.rule}]`,
      }
      : {
        id: "policy",
        status: "active",
        detail: `${mode}; listing ${outside} is "${decision.action}" [${decision.rule}]`,
      },
  ];
}

async function guard(host: Host): Promise<DoctorLine[]> {
  const outside = outsideOf(host);
  if (outside === null) return [{ id: "guard", status: "missing", detail: EVERYTHING }];
  const { createWorkspace } = await import("../sandbox/guard.ts");
  const { worktree } = host;
  const workspace = createWorkspace({
    worktree,
    roots: [{ path: worktree, access: "read" }],
    rules: [],
    consented: [],
    home: host.paths.home,
  });
  try {
    workspace.readDirectory(outside);
    return [{ id: "guard", status: "broken", detail: `the guard let a call list ${outside}` }];
  } catch (error) {
    const held = error instanceof ToolError && error.kind === "permission";
    return [{
      id: "guard",
      status: held ? "active" : "broken",
      detail: held ? `listing ${outside} was refused` : messageOf(error),
    }];
  }
}

async function worker(host: Host): Promise<DoctorLine[]> {
  const outside = outsideOf(host);
  if (outside === null) return [{ id: "worker", status: "missing", detail: EVERYTHING }];
  const { tryWorker } = await import("../sandbox/_exec_probe.ts");
  const { outcome, why } = await tryWorker(host.worktree, outside);
  return [{ id: "worker", status: outcome === "held" ? "active" : "broken", detail: why }];
}

async function ceiling(host: Host): Promise<DoctorLine[]> {
  const [{ ceilingState, isOpen }, { tryProcess }] = await Promise.all([
    import("../sandbox/launch.ts"),
    import("../sandbox/_exec_probe.ts"),
  ]);
  const state = ceilingState(), outside = outsideOf(host);
  const attempt = outside === null ? { outcome: "open", why: EVERYTHING } : tryProcess(outside);
  const line = (status: DoctorStatus, detail: string): DoctorLine[] => [{ id: "ceiling", status, detail }];
  if (attempt.outcome === "held") {
    const by = {
      ceiling: "flags compiled from the policy",
      compiled: "what was compiled in",
      own: "your own flags",
      launcher: "",
    };
    return line("active", `${attempt.why} (${by[state] || "flags"})`);
  }
  if (state === "compiled") {
    return line(
      "missing",
      "this binary has the permissions that it was compiled with; compile one with scripts/compile.ts --policy PATH",
    );
  }
  if (isOpen()) {
    return line(
      "missing",
      "an interactive session has no ceiling of its own; policy, guard, workers and confinement hold in it",
    );
  }
  if (state === "ceiling") {
    return line(
      "info",
      `the configuration lets this process read ${
        outside ?? "everything"
      }; writing and network are still bounded`,
    );
  }
  return line(
    "missing",
    "this process has more rights than its policy needs; start it with deno run -A, and it sets its own ceiling",
  );
}

async function confinement(host: Host): Promise<DoctorLine[]> {
  const { Confiner } = await import("../sandbox/confine.ts");
  const { settings, worktree, paths } = host, mode = settings.exec.confine;
  const confiner = new Confiner({ mode, worktree, home: paths.home, writable: settings.exec.writable });
  const found = await confiner.found();
  const line = (status: DoctorStatus, detail: string): DoctorLine[] => [
    { id: "confinement", status, detail: `${detail} (exec.confine: ${mode})` },
    environment(host, status === "active"),
  ];
  if (mode === "off") {
    return line(
      "missing",
      `switched off: commands run with your rights${
        found.available ? `; ${found.why} would confine them` : ""
      }`,
    );
  }
  if (found.available) return line("active", `${found.why}; a write beside the worktree was refused`);
  const broken = found.program !== null || mode === "require";
  return line(broken ? "broken" : "missing", found.why);
}

/** What commands get to know of the host's environment. */
function environment(host: Host, confined: boolean): DoctorLine {
  const dropped = Object.entries(host.settings.exec.env).filter(([name, value]) =>
    !acceptsAddition(name, value)
  );
  const names = dropped.map(([name]) => name).join(", ");
  return {
    id: "environment",
    status: dropped.length > 0 ? "info" : "active",
    detail: `commands get ${Object.keys(host.childEnv).length} variables, none that looks like a secret${
      names === "" ? "" : `; of exec.env not passed on: ${names}`
    }${
      confined
        ? ""
        : "; unconfined commands run as you: they can still read this process's environment through /proc and the key file"
    }`,
  };
}

function deno(): DoctorLine[] {
  const { deno, v8 } = Deno.version, [major = 0, minor = 0] = deno.split(".").map(Number);
  const good = major > 2 || (major === 2 && minor >= 9);
  return [{
    id: "deno",
    status: good ? "info" : "broken",
    detail: good
      ? `${deno} (V8 ${v8}, ${Deno.build.target})`
      : `${deno}; polyglav needs 2.9 or later: deno upgrade`,
  }];
}

function config(host: Host): DoctorLine[] {
  const { loaded, paths, worktree } = host;
  const lines: DoctorLine[] = [];
  const global = globalConfigFile(paths);
  lines.push({
    id: "config",
    status: "info",
    detail: `${exists(global) ? global : `${global} (not there: defaults)`}`,
  });
  if (loaded.projectFile === null) {
    lines.push({ id: "project", status: "info", detail: `${worktree} has no configuration of its own` });
  } else {
    const ignored = loaded.ignored.map(({ key }) => key).join(", ");
    lines.push({
      id: "project",
      status: "info",
      detail: `${projectConfigFile(worktree)} is ${
        loaded.trusted
          ? "trusted"
          : `not trusted: it only narrows${ignored === "" ? "" : ` (ignored: ${ignored})`}; polyglav trust`
      }`,
    });
  }
  return lines;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function addressOf(host: Host): { host: string; port: number } | null {
  try {
    return providerAddress(host.settings, host.io.env, readKeys(host.paths.config));
  } catch {
    // The line about the provider says what is wrong.
    return null;
  }
}

async function provider(host: Host): Promise<DoctorLine[]> {
  const { settings, io, paths } = host;
  const line = (status: DoctorStatus, detail: string): DoctorLine[] => [{ id: "provider", status, detail }];
  const address = providerAddress(settings, io.env, readKeys(paths.config));
  if (address === null) return line("info", `${settings.provider}: nothing to reach`);
  const { tryConnect } = await import("../sandbox/_exec_probe.ts");
  const { outcome, why } = await tryConnect(address.host, address.port);
  const where = `${settings.provider} at ${address.host}:${address.port}`;
  if (outcome === "open") return line("active", `${where} ${why}`);
  const hint = settings.provider === "auto" || settings.provider === ""
    ? "set a key (OPENAI_API_KEY, …), start Ollama, or name a server with --provider and --base-url"
    : "check base_url and the network";
  return line("missing", `${where}: ${why}; ${hint}`);
}

async function programs(host: Host): Promise<DoctorLine[]> {
  const { versionOf } = await import("../sandbox/_exec_probe.ts");
  const env = host.childEnv as Record<string, string>, shell = host.policyInput.shell;
  const git = await versionOf("git", { PATH: env.PATH ?? "", HOME: env.HOME ?? "" });
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(git ?? "") ?? [];
  const old = Number(major) < 2 || (Number(major) === 2 && Number(minor) < 39);
  const lines: DoctorLine[] = [
    git === null
      ? { id: "git", status: "missing", detail: "not on PATH; the git tools need git 2.39 or later" }
      : git === "refused"
      ? { id: "git", status: "info", detail: "not on PATH, or this process may not start it" }
      : old
      ? { id: "git", status: "broken", detail: `${git}; the git tools need 2.39 or later` }
      : { id: "git", status: "active", detail: git },
  ];
  lines.push(
    exists(shell) ? { id: "shell", status: "info", detail: shell } : {
      id: "shell",
      status: "missing",
      detail: `${shell} is not there; set SHELL to the shell that commands shall run in`,
    },
  );
  return lines;
}

function terminal({ io }: Host): DoctorLine[] {
  const has = io.stdinIsTerminal && io.stderrIsTerminal;
  return [{
    id: "terminal",
    status: "info",
    detail: `${has ? "yes" : "no: what needs a yes is denied unless --yes is given"}; colours ${
      io.color ? "on" : "off"
    }`,
  }];
}
