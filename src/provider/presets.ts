/**
 * The providers that are known by name: where they are, which key they take, and what is particular to them.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";

/** One known provider. */
export interface Preset {
  readonly name: string;
  /** Base URL of the Chat Completions API; empty: must be configured. */
  readonly baseUrl: string;
  /** Variables of the environment that may hold its key, in order. */
  readonly keyVariables: readonly string[];
  /** It does not answer without a key. */
  readonly needsKey: boolean;
  /** The model where none is configured; empty: the first one that the server lists. */
  readonly model: string;
  /** Field in which a model's thinking is sent back to it; absent: not sent back. */
  readonly thinkingField?: "reasoning" | "reasoning_content";
}

/** The known providers, in the order in which keys are looked for. */
export const PRESETS: readonly Preset[] = [
  {
    name: "openai",
    baseUrl: "https://api.openai.com/v1",
    keyVariables: ["OPENAI_API_KEY"],
    needsKey: true,
    model: "gpt-5-mini",
  },
  {
    name: "groq",
    baseUrl: "https://api.groq.com/openai/v1",
    keyVariables: ["GROQ_API_KEY"],
    needsKey: true,
    model: "openai/gpt-oss-120b",
  },
  {
    name: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyVariables: ["ANTHROPIC_API_KEY"],
    needsKey: true,
    model: "claude-sonnet-4-5",
  },
  {
    name: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
    needsKey: true,
    model: "openrouter/auto",
    thinkingField: "reasoning",
  },
  {
    name: "ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyVariables: ["OLLAMA_API_KEY"],
    needsKey: false,
    model: "",
  },
  {
    name: "openai-compatible",
    baseUrl: "",
    keyVariables: ["OPENAI_COMPATIBLE_API_KEY"],
    needsKey: false,
    model: "",
  },
];

/** Names that the key `provider` may have. */
export const PROVIDER_NAMES: readonly string[] = ["auto", ...PRESETS.map((preset) => preset.name), "replay"];

/**
 * A preset by name.
 *
 * @param more presets of plugins; none of them takes the place of a known one
 * @throws {ConfigError} when there is none
 */
export function presetOf(name: string, more: readonly Preset[] = []): Preset {
  const found = [...PRESETS, ...more].find((preset) => preset.name === name);
  if (found) return found;
  throw new ConfigError(
    `provider: ${JSON.stringify(name)} is not known; use one of ${
      [...PROVIDER_NAMES.filter((n) => n !== "replay"), ...more.map((preset) => preset.name)].join(", ")
    }`,
  );
}

/**
 * Where a provider is: its preset's address, for Ollama what `OLLAMA_HOST` says, as Ollama's own client reads it:
 * `host`, `host:port` or a URL; a server that listens everywhere is asked on this machine.
 *
 * @param env a variable of the environment
 * @returns the base URL; empty where it has to be configured
 * @throws {ConfigError} for an `OLLAMA_HOST` that cannot be understood
 */
export function baseUrlOf(preset: Preset, env: (name: string) => string | undefined): string {
  const host = preset.name === "ollama" ? env("OLLAMA_HOST")?.trim() ?? "" : "";
  if (host === "") return preset.baseUrl;
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(host)!;
  // Without a scheme the port is Ollama's own; an IPv6 address may stand without brackets.
  const bare = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(rest)
    ? `[${rest}]`
    : rest.startsWith(":")
    ? `127.0.0.1${rest}`
    : rest;
  let url: URL;
  try {
    url = new URL(`${scheme ?? "http"}://${bare}`);
  } catch {
    throw new ConfigError(
      `OLLAMA_HOST is ${
        JSON.stringify(host)
      }; expected a host, a host and port, or a URL, such as "127.0.0.1:11434"`,
    );
  }
  if (scheme === undefined && url.port === "" && !/:80$/.test(bare)) url.port = "11434";
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return normalizeBaseUrl(url.href);
}

/**
 * The base URL in the form to which `/chat/completions` is appended: a version segment (`/v1`) is added where the
 * path has none, and a trailing `/chat/completions` is taken off.
 *
 * @throws {ConfigError} when it is not an http(s) URL, or holds a password
 */
export function normalizeBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new ConfigError(
      `base_url: ${JSON.stringify(text)} is not a URL; expected one such as "http://127.0.0.1:8080/v1"`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ConfigError(`base_url: ${url.protocol.slice(0, -1)} is not supported; use http or https`);
  }
  if (url.username || url.password) {
    throw new ConfigError("base_url: holds a user or password; put the key into providers.json instead");
  }
  url.hash = "";
  let path = url.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  if (!/\/v\d+[a-z0-9]*(\/|$)/.test(path)) path += "/v1";
  url.pathname = path;
  return url.href.replace(/\/(?=\?|$)/, "");
}

/** Host and port that a base URL leads to; IPv6 addresses without brackets. */
export function addressOf(baseUrl: string): { host: string; port: number } {
  const url = new URL(baseUrl);
  const port = url.port ? Number(url.port) : url.protocol === "https:" ? 443 : 80;
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port };
}
