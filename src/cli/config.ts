/**
 * `polyglav config`: shows and changes the configuration.
 *
 * @module
 */
import { type ConfigFile, setKey, unsetKey, userConfigFile } from "../config/edit.ts";
import { entryOf, keysOf, parseValue, unknownKey } from "../config/keys.ts";
import { loadConfig, type LoadedConfig, type Origin } from "../config/load.ts";
import { globalConfigFile, projectConfigFile, type UserPaths, userPaths } from "../config/paths.ts";
import { lookUp } from "../config/schema.ts";
import { listTrust } from "../config/trust.ts";
import { EXIT, messageOf, PolyglavError, UsageError } from "../errors.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { nearest } from "../text/nearest.ts";
import { join } from "../text/path.ts";
import type { Json } from "../tool.ts";
import type { CliIo, Command, Invocation, OptionSpec } from "./_command.ts";
import { loadSettings, trustsRun } from "./_load.ts";
import { resolveWorktree } from "./_worktree.ts";

const PATH: OptionSpec = {
  type: "string",
  value: "DIR",
  help: "the project to work in (default: the current folder)",
};
const TRUST: OptionSpec = { type: "boolean", help: "trust the project's configuration for this run" };
const USER: OptionSpec = {
  type: "boolean",
  help: "your own file for this project, where the answer always to a question is kept",
};
const ORIGIN: OptionSpec = {
  type: "boolean",
  help:
    "say where a value comes from: default, global, user (your own file for this project), project or flag",
};

/** The command `config`. */
export const command: Command = {
  name: "config",
  summary: "list, get, set and unset configuration; its schema",
  details:
    "Configuration is read from ~/.config/polyglav/config.json (global), then from your own file for this " +
    "project below ~/.config/polyglav/projects (user), then from .polyglav/config.json of the project; the command " +
    "line comes last. Keys are dotted: tool_permission.bash.",
  examples: [
    ["config list --show-origin", "every key, its value and where it comes from"],
    ["config set tool_permission.bash deny", "no commands in this project"],
    ["config set --global model qwen3:8b", "for all projects"],
    ["config set tools.deny '[\"web_fetch\"]'", "lists, numbers and the like are JSON"],
  ],
  subcommands: [
    {
      name: "list",
      summary: "every key with its value",
      examples: [["config list --output json", "for programs"]],
      options: {
        "show-origin": ORIGIN,
        global: { type: "boolean", help: "only what the global file sets" },
        user: USER,
        output: {
          type: "string",
          value: "FORMAT",
          choices: ["text", "json"],
          help: "text (default) or json",
        },
        trust: TRUST,
        path: PATH,
      },
      run: list,
    },
    {
      name: "get",
      summary: "the value of one key (or of a group, as JSON)",
      usage: "KEY",
      examples: [["config get tool_permission.bash", "prints ask"]],
      options: {
        "show-origin": ORIGIN,
        global: { type: "boolean", help: "only what the global file sets" },
        user: USER,
        trust: TRUST,
        path: PATH,
      },
      positionals: [1, 1],
      run: get,
    },
    {
      name: "set",
      summary: "set a key in the project's file, or with --global or --user in yours",
      usage: "KEY VALUE",
      examples: [
        ["config set max_rounds 30", "in this project"],
        ["config set --global temperature -- 0.2", "-- where a value could be read as an option"],
      ],
      options: { global: { type: "boolean", help: "in the global file" }, user: USER, path: PATH },
      positionals: [2, 2],
      run: set,
    },
    {
      name: "unset",
      summary: "remove a key from the project's file, or with --global or --user from yours",
      usage: "KEY",
      examples: [
        ["config unset tools.deny", "the global value or the default counts again"],
        ["config unset --user consent.tools", "no tool runs without a question any more"],
      ],
      options: { global: { type: "boolean", help: "from the global file" }, user: USER, path: PATH },
      positionals: [1, 1],
      run: unset,
    },
    {
      name: "schema",
      summary: "the JSON Schema of a configuration file, for editors",
      examples: [["config schema > polyglav.schema.json", 'then: "$schema": "./polyglav.schema.json"']],
      options: { path: PATH },
      run: async ({ io }) => {
        const { jsonSchema } = await import("../config/json_schema.ts");
        io.out(`${JSON.stringify(jsonSchema(), null, 2)}\n`);
        return EXIT.ok;
      },
    },
  ],
};

/** Entries with their origin, either of everything or of one file. */
function entriesOf(values: Invocation["values"], io: CliIo): (readonly [string, Json, Origin])[] {
  if (values.global === true) {
    return keysOf(globalConfigFile(userPaths(io.env))).map(([key, value]) => [key, value, "global"] as const);
  }
  if (values.user === true) {
    const { path } = userConfigFile(userPaths(io.env), resolveWorktree(values, io));
    return keysOf(path).map(([key, value]) => [key, value, "user"] as const);
  }
  const { loaded } = loadSettings(values, io);
  return loaded.entries().map(([key, value]) => [key, value, loaded.origin(key)] as const);
}

function list({ values, io }: Invocation): number {
  const entries = entriesOf(values, io), origins = values["show-origin"] === true;
  if (values.output === "json") {
    const rows = entries.map(([key, value, origin]) => [key, origins ? { value, origin } : value]);
    print(io, JSON.stringify(Object.fromEntries(rows), null, 2));
    return EXIT.ok;
  }
  for (const [key, value, origin] of entries) {
    print(io, `${origins ? `${origin.padEnd(8)} ` : ""}${key} = ${JSON.stringify(value)}`);
  }
  return EXIT.ok;
}

function get({ values, positionals, io }: Invocation): number {
  const key = positionals[0]!, found = lookUp(key);
  if (found === null) throw unknownKey(key);
  const entries = entriesOf(values, io);
  const show = (value: unknown, origin: Origin) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    print(io, values["show-origin"] === true ? `${origin}\t${text}` : text);
    return EXIT.ok;
  };
  if (found !== "section") {
    const entry = entries.find(([name]) => name === key);
    if (entry) return show(entry[1], entry[2]);
  } else {
    const below = entries.filter(([name]) => name.startsWith(`${key}.`));
    const strength: readonly Origin[] = ["default", "global", "user", "project", "flag"];
    const origin = below.reduce((most, [, , next]) => Math.max(most, strength.indexOf(next)), 0);
    if (below.length > 0 || !key.includes("modes.")) {
      return show(
        Object.fromEntries(below.map(([name, value]) => [name.slice(key.length + 1), value])),
        strength[origin]!,
      );
    }
  }
  throw new PolyglavError(
    `${key} is not set${
      values.global === true ? " in the global file" : values.user === true ? " in your own file" : ""
    }`,
  );
}

function set({ values, positionals, io }: Invocation): number {
  const [key, text] = positionals as [string, string], entry = entryOf(key);
  const value = parseValue(key, entry, text), target = targetOf(values, io);
  if (key === "mode") checkMode(String(value), target);
  setKey(target.file, key, entry, value);
  io.err(`${cleanForTerminal(key)} is set in ${cleanForTerminal(target.file.path)}\n`);
  remark(target, key, values, io);
  return EXIT.ok;
}

function unset({ values, positionals, io }: Invocation): number {
  const key = positionals[0]!, found = lookUp(key), target = targetOf(values, io);
  const removed = unsetKey(target.file, key, found === null || found === "section");
  if (!removed && found === null) throw unknownKey(key);
  const name = cleanForTerminal(key), file = cleanForTerminal(target.file.path);
  io.err(removed ? `${name} is removed from ${file}\n` : `${name} was not set in ${file}\n`);
  if (removed) remark(target, key, values, io);
  return EXIT.ok;
}

interface Target {
  readonly file: ConfigFile;
  readonly paths: UserPaths;
  /** Canonical; null with `--global`. */
  readonly worktree: string | null;
}

function targetOf(values: Invocation["values"], io: CliIo): Target {
  if (values.global === true && values.user === true) {
    throw new UsageError("config: --global and --user name different files; give one");
  }
  const paths = userPaths(io.env);
  if (values.global === true) {
    return {
      paths,
      worktree: null,
      file: { path: globalConfigFile(paths), mode: 0o600, directoryMode: 0o700 },
    };
  }
  const worktree = resolveWorktree(values, io);
  if (values.user === true) return { paths, worktree: null, file: userConfigFile(paths, worktree) };
  return {
    paths,
    worktree,
    file: {
      path: projectConfigFile(worktree),
      within: join(worktree, ".polyglav"),
      mode: 0o644,
      directoryMode: 0o755,
    },
  };
}

/** A mode must exist before a file may ask for it, or no command would start any more. */
function checkMode(mode: string, { paths, worktree }: Target): void {
  const known = ["build", "plan"];
  try {
    const files: [string, string | undefined][] = [[globalConfigFile(paths), undefined]];
    if (worktree !== null) files.push([projectConfigFile(worktree), join(worktree, ".polyglav")]);
    for (const [key] of files.flatMap(([path, within]) => keysOf(path, within))) {
      if (key.startsWith("modes.")) known.push(key.split(".")[1]!);
    }
  } catch {
    // A file that is broken elsewhere says nothing about modes; the built-in ones are left.
  }
  if (known.includes(mode)) return;
  const meant = nearest(mode, known), all = [...new Set(known)].join(", ");
  throw new UsageError(
    `there is no mode ${JSON.stringify(mode)}; ${meant ? `did you mean ${meant}? ` : ""}there are ${all}`,
  );
}

/** Says what still keeps a changed key from counting. */
function remark({ worktree, paths }: Target, key: string, values: Invocation["values"], io: CliIo): void {
  let loaded: LoadedConfig;
  try {
    loaded = loadConfig({
      worktree: worktree ?? resolveWorktree(values, io),
      paths,
      trust: trustsRun(values, io),
    });
  } catch (error) {
    io.err(`Warning: ${cleanForTerminal(messageOf(error))}\n`);
    return;
  }
  const mine = loaded.ignored.find((other) => other.key === key);
  const recorded = () => listTrust(paths).some((record) => record.worktree === worktree);
  if (worktree !== null && !mine && loaded.ignored.length > 0 && recorded()) {
    io.err("Note: the project's file changed, so all of it counts again only after polyglav trust\n");
  } else if (worktree !== null && mine) {
    io.err(`Note: ${key} counts in full once you run polyglav trust (until then: ${mine.why})\n`);
  } else if (worktree === null && loaded.origin(key) === "project") {
    io.err(
      `Note: in this project .polyglav/config.json sets ${key} too, and it comes after the global file\n`,
    );
  }
}

function print(io: CliIo, text: string): void {
  io.out(`${io.stdoutIsTerminal ? cleanForTerminal(text) : text}\n`);
}
