/**
 * What a plugin says of itself: `manifest.json` in its folder.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { isAbsolute } from "../text/path.ts";
import type { Json } from "../tool.ts";
import { parseVersion } from "./_semver.ts";

/** Name of the file. */
export const MANIFEST: string = "manifest.json";

/** What a plugin's code may reach, kind by kind. */
export interface PluginAccess {
  /** Folders and files that it reads: relative to the project (`.` is all of it), absolute, or below `~/`. */
  readonly read: readonly string[];
  /** Folders and files that it writes. */
  readonly write: readonly string[];
  /** Hosts that it reaches: `host` or `host:port`. */
  readonly net: readonly string[];
  /** Programs that it starts, by name or absolute path. What they do is not limited. */
  readonly run: readonly string[];
  /** Variables of your environment that it reads. */
  readonly env: readonly string[];
}

/** The kinds of access, in the order in which they are shown. */
export const ACCESS_KINDS: readonly (keyof PluginAccess)[] = ["read", "write", "net", "run", "env"];

/** Nothing. */
export const NO_ACCESS: PluginAccess = { read: [], write: [], net: [], run: [], env: [] };

/** What a plugin brings beside tools: data, read without running any of its code. */
export interface PluginProvides {
  /** Names of its tools; what its code describes must be these. */
  readonly tools: readonly string[];
  /** Providers' presets by name. */
  readonly presets: readonly PluginPreset[];
  /** Roles by name, as in `roles.json`. */
  readonly roles: Readonly<Record<string, Json>>;
  /** Teams by name, as in `teams.json`. */
  readonly teams: Readonly<Record<string, Json>>;
  /** Skills: Markdown files, relative to the plugin's folder. */
  readonly skills: readonly string[];
  /** Slash commands: each stands for a prompt. */
  readonly commands: readonly PluginCommand[];
}

/** A provider that can be chosen by name. Its key stands in the user's providers.json under that name; no variable is sent to it. */
export interface PluginPreset {
  readonly name: string;
  readonly baseUrl: string;
  readonly model?: string;
}

/** A slash command that stands for a prompt; `$ARGUMENTS` in it is what follows the command. */
export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
}

/** A manifest that was checked. */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Range of polyglav versions that it works with. */
  readonly polyglav: string;
  /** Module with its tools, relative to its folder; null: it brings none. */
  readonly entry: string | null;
  readonly access: PluginAccess;
  readonly provides: PluginProvides;
  /** Megabytes that its host may use. */
  readonly memory: number;
}

/** Names of plugins. */
export const PLUGIN_NAME: RegExp = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

const KEYS = [
  "$schema",
  "name",
  "version",
  "description",
  "polyglav",
  "entry",
  "access",
  "provides",
  "memory",
];
const PROVIDES = ["tools", "presets", "roles", "teams", "skills", "commands"];
const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;
/** Variables that change what Deno and the dynamic linker do. */
const LOADER = /^(?:DENO_|LD_|DYLD_|NODE_|POLYGLAV_)/i;

/**
 * Reads a manifest.
 *
 * @param text of `manifest.json`
 * @param where its path, for messages
 * @throws {ConfigError} that names the key and what is expected there
 */
export function parseManifest(text: string, where: string): PluginManifest {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new ConfigError(`${where} is no JSON: ${(error as Error).message}`);
  }
  const read = new Reader(where, root, "");
  read.only(KEYS);
  const name = read.text("name", 64);
  if (!PLUGIN_NAME.test(name)) {
    read.fail("name", name, 'lower case letters and digits with "-" between, such as "word-stats"');
  }
  const version = read.text("version", 64);
  if (!parseVersion(version)) read.fail("version", version, 'three numbers, such as "1.0.0"');
  const provides = readProvides(read.member("provides"));
  const entry = read.optional("entry");
  if (entry !== null) read.inside("entry", entry);
  if (entry === null && provides.tools.length > 0) {
    read.fail("entry", undefined, "the module with the tools, since provides.tools names some");
  }
  const memory = read.value("memory") ?? 128;
  if (typeof memory !== "number" || !Number.isInteger(memory) || memory < 32 || memory > 2048) {
    read.fail("memory", memory, "megabytes from 32 to 2048");
  }
  return {
    name,
    version,
    description: read.text("description", 400),
    polyglav: read.text("polyglav", 100),
    entry,
    access: readAccess(read.member("access")),
    provides,
    memory: memory as number,
  };
}

function readAccess(read: Reader): PluginAccess {
  read.only(ACCESS_KINDS);
  const list = (kind: keyof PluginAccess, check: (value: string) => string | null) =>
    read.list(kind).map((value) => {
      if (value.includes(",") || value.includes("\0") || value === "") {
        read.fail(kind, value, "values without commas");
      }
      const problem = check(value);
      if (problem !== null) read.fail(kind, value, problem);
      return value;
    });
  return {
    read: list("read", pathProblem),
    write: list("write", pathProblem),
    net: list("net", netProblem),
    run: list("run", runProblem),
    env: list("env", envProblem),
  };
}

function pathProblem(path: string): string | null {
  if (/[*?[\]{}]/.test(path)) return "folders and files by their names, without wildcards";
  if (path.split(/[\\/]/).includes("..")) return 'paths without ".."';
  return /^[/\\]$|^~[/\\]?$|^[A-Za-z]:[/\\]?$/.test(path) ? "a folder below that, not all of it" : null;
}

function netProblem(host: string): string | null {
  const fits =
    /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
  return fits.test(host) ? null : "a host, or host:port, without scheme, wildcards and ranges";
}

function runProblem(program: string): string | null {
  if (/^deno(?:\.exe)?$/i.test(program.split(/[\\/]/).at(-1)!)) {
    return "another program than deno, which may do anything";
  }
  return isAbsolute(program) || /^[A-Za-z0-9_.+-]+$/.test(program)
    ? null
    : "a program's name or absolute path";
}

function envProblem(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return "names of variables";
  return LOADER.test(name) ? "a variable that does not change how programs are loaded" : null;
}

function readProvides(read: Reader): PluginProvides {
  read.only(PROVIDES);
  const tools = read.list("tools");
  for (const tool of tools) {
    if (!TOOL_NAME.test(tool)) read.fail("tools", tool, "names of tools in snake_case");
  }
  const skills = read.list("skills");
  for (const skill of skills) {
    read.inside("skills", skill);
    if (!/(?:^|\/)[A-Za-z0-9_-]+\.md$/.test(skill)) read.fail("skills", skill, "Markdown files (name.md)");
  }
  return {
    tools,
    skills,
    presets: read.objects("presets").map((preset) => {
      preset.only(["name", "base_url", "model"]);
      const baseUrl = preset.text("base_url", 500), name = preset.name("name");
      if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? "")) {
        preset.fail("base_url", baseUrl, "an http(s) URL");
      }
      return { name, baseUrl, model: preset.optional("model") ?? undefined };
    }),
    roles: read.record("roles"),
    teams: read.record("teams"),
    commands: read.objects("commands").map((command) => {
      command.only(["name", "description", "prompt"]);
      return {
        name: command.name("name"),
        description: command.text("description", 400),
        prompt: command.text("prompt", 20_000),
      };
    }),
  };
}

/** Reads members of an object, with messages that say where they stand. */
class Reader {
  readonly #where: string;
  readonly #key: string;
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(where: string, value: unknown, key: string) {
    this.#where = where;
    this.#key = key;
    if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value))) {
      throw new ConfigError(`${where}: ${key || "the file"} must be an object`);
    }
    this.#object = (value ?? {}) as Record<string, unknown>;
  }

  fail(name: string, value: unknown, expected: string): never {
    const given = value === undefined ? "is missing" : `is ${JSON.stringify(value)?.slice(0, 80)}`;
    throw new ConfigError(`${this.#where}: ${this.#path(name)} ${given}; expected ${expected}`);
  }

  only(names: readonly string[]): void {
    const other = Object.keys(this.#object).find((name) => !names.includes(name));
    if (other !== undefined) {
      throw new ConfigError(`${this.#where}: ${this.#path(other)} is unknown; expected ${names.join(", ")}`);
    }
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
  }

  text(name: string, most: number): string {
    const value = this.value(name);
    if (typeof value !== "string" || value.trim() === "" || value.length > most) {
      this.fail(name, value, `text of 1 to ${most} characters`);
    }
    return value;
  }

  name(name: string): string {
    const value = this.text(name, 64);
    if (!PLUGIN_NAME.test(value)) this.fail(name, value, 'lower case letters and digits with "-" between');
    return value;
  }

  optional(name: string): string | null {
    return this.value(name) === undefined ? null : this.text(name, 500);
  }

  inside(name: string, path: string): void {
    if (isAbsolute(path) || /\\/.test(path) || path.split("/").some((part) => part === ".." || part === "")) {
      this.fail(name, path, "a file of the plugin's folder");
    }
  }

  list(name: string): string[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value) || value.length > 64 || value.some((item) => typeof item !== "string")) {
      this.fail(name, value, "a list of texts");
    }
    return [...new Set(value as string[])];
  }

  objects(name: string): Reader[] {
    const value = this.value(name) ?? [];
    if (!Array.isArray(value) || value.length > 64) this.fail(name, value, "a list of objects");
    return (value as unknown[]).map((item, i) =>
      new Reader(this.#where, item ?? null, `${this.#path(name)}[${i}]`)
    );
  }

  record(name: string): Record<string, Json> {
    const value = this.value(name) ?? {};
    if (typeof value !== "object" || Array.isArray(value)) this.fail(name, value, "an object by name");
    for (const key of Object.keys(value as object)) {
      if (!PLUGIN_NAME.test(key)) {
        this.fail(name, key, 'names of lower case letters and digits with "-" between');
      }
    }
    return value as Record<string, Json>;
  }

  member(name: string): Reader {
    return new Reader(this.#where, this.value(name), this.#path(name));
  }

  #path(name: string): string {
    return this.#key === "" ? name : `${this.#key}.${name}`;
  }
}
