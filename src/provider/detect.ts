/**
 * Which provider a run uses: what the configuration says; else the one whose key is there; else an Ollama that
 * answers on this machine.
 *
 * @module
 */
import { ConfigError, messageOf, ProviderError } from "../errors.ts";
import { join } from "../text/path.ts";
import { addressOf, baseUrlOf, normalizeBaseUrl, type Preset, presetOf, PRESETS } from "./presets.ts";
import type { Provider } from "./provider.ts";

/** The settings that choose a provider. */
export interface ProviderSettings {
  /** `auto`, a preset's name, or `replay`. */
  readonly provider: string;
  /** Empty: the preset's. */
  readonly base_url: string;
  /** Empty: the preset's, or the first one that the server lists. */
  readonly model: string;
  /** Presets that plugins bring. */
  readonly presets?: readonly Preset[];
}

/** What {@link createProvider} works with. */
export interface ProviderInput {
  readonly settings: ProviderSettings;
  /** The user's folders; `providers.json` is in `config`. */
  readonly paths: { readonly config: string };
  /** A variable of the environment. */
  readonly env: (name: string) => string | undefined;
  /** Recording to play instead of asking a model. */
  readonly replay?: string;
  /** File to write a recording to. */
  readonly record?: string;
  /** Absolute path of the worktree, for recordings. */
  readonly worktree?: string;
  /** Keys that were read already ({@link readKeys}); without them the file is read here. */
  readonly keys?: ProviderKeys;
  /** Told what the user should know. */
  readonly warn?: (message: string) => void;
}

/** Keys by provider, as `providers.json` has them. */
export interface ProviderKeys {
  readonly [provider: string]: string;
}

/** Name of the file with keys, in the user's configuration folder. */
export const KEY_FILE = "providers.json";

/** How long an Ollama may take to answer, in milliseconds. */
const OLLAMA_TIMEOUT = 300;

/**
 * Reads `providers.json`: `{"groq": "key"}` or `{"groq": {"api_key": "key"}}`. A file that others may read gives a
 * warning.
 *
 * @param configDir the user's configuration folder
 * @throws {ConfigError} when the file is broken; no value of it is in the message
 */
export function readKeys(
  configDir: string,
  warn: (message: string) => void = () => {},
): ProviderKeys {
  const file = join(configDir, KEY_FILE);
  let text: string;
  try {
    text = Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw new ConfigError(`${file}: cannot be read (${messageOf(error)})`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ConfigError(`${file}: not JSON; expected an object such as {"openai": {"api_key": "…"}}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ConfigError(`${file}: expected an object such as {"openai": {"api_key": "…"}}`);
  }
  const mode = Deno.statSync(file).mode;
  if (Deno.build.os !== "windows" && mode !== null && (mode & 0o077) !== 0) {
    warn(`${file} may be read by others (mode ${(mode & 0o777).toString(8)}); run: chmod 600 ${file}`);
  }
  const keys: Record<string, string> = Object.create(null);
  for (const [name, entry] of Object.entries(value)) {
    const key = typeof entry === "object" && entry !== null && !Array.isArray(entry)
      ? (entry as { api_key?: unknown }).api_key
      : entry as unknown;
    if (key === undefined || key === null || key === "") continue;
    if (typeof key !== "string") {
      throw new ConfigError(`${file}: ${name}: expected a key as text or {"api_key": "…"}`);
    }
    keys[name] = key;
  }
  return keys;
}

/** A provider that was chosen, before any server was asked. */
interface Choice {
  readonly preset: Preset;
  readonly baseUrl: string;
  readonly key: string | null;
}

/** What settings, environment and keys choose; null: only an Ollama on this machine is left to try. */
function choose(
  settings: ProviderSettings,
  env: (name: string) => string | undefined,
  keys: ProviderKeys,
): Choice | null {
  let preset: Preset | null = null;
  if (settings.provider !== "" && settings.provider !== "auto") {
    preset = presetOf(settings.provider, settings.presets);
  } else if (settings.base_url !== "") preset = presetOf("openai-compatible");
  else {
    preset = PRESETS.find((p) => p.needsKey && fromEnvironment(p, env) !== null) ??
      PRESETS.find((p) => p.needsKey && keys[p.name] !== undefined) ?? null;
  }
  if (!preset) return null;
  const base = settings.base_url || baseUrlOf(preset, env);
  if (base === "") {
    throw new ConfigError(
      `provider: ${preset.name} needs base_url; set it with: polyglav config set --global base_url http://127.0.0.1:8080/v1`,
    );
  }
  return { preset, baseUrl: normalizeBaseUrl(base), key: keyFor(preset, env, keys) };
}

function fromEnvironment(preset: Preset, env: (name: string) => string | undefined): string | null {
  for (const variable of preset.keyVariables) {
    const value = env(variable)?.trim();
    if (value) return value;
  }
  return null;
}

function keyFor(
  preset: Preset,
  env: (name: string) => string | undefined,
  keys: ProviderKeys,
): string | null {
  const key = fromEnvironment(preset, env) ?? keys[preset.name]?.trim() ?? null;
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    throw new ProviderError(
      `the key of ${preset.name} holds blanks or other characters that no key has; set it anew (${
        preset.keyVariables[0]
      } or ${KEY_FILE})`,
    );
  }
  return key;
}

/**
 * Where requests of a run go, without asking anybody; the process ceiling is compiled from it before the start.
 * Null: nowhere (`replay`). Where nothing but an Ollama on this machine is left to try, that one's address.
 *
 * @throws {ConfigError} for an unknown provider or a broken base URL
 */
export function providerAddress(
  settings: ProviderSettings,
  env: (name: string) => string | undefined,
  keys: ProviderKeys,
): { host: string; port: number } | null {
  if (settings.provider === "replay") return null;
  return addressOf(choose(settings, env, keys)?.baseUrl ?? baseUrlOf(presetOf("ollama"), env));
}

/**
 * The provider of a run.
 *
 * @throws {ConfigError} for settings and recordings that cannot be understood
 * @throws {ProviderError} when there is none: what to do stands in the message
 */
export async function createProvider(input: ProviderInput): Promise<Provider> {
  const provider = await open(input);
  if (input.record === undefined) return provider;
  const { recordProvider } = await import("./replay.ts");
  return recordProvider(provider, input.record, { worktree: input.worktree });
}

async function open(input: ProviderInput): Promise<Provider> {
  const { settings, env } = input;
  if (input.replay !== undefined) {
    const { createReplayProvider } = await import("./replay.ts");
    return createReplayProvider(input.replay, { worktree: input.worktree });
  }
  if (settings.provider === "replay") {
    throw new ConfigError("provider: replay needs a recording; name one with --replay FILE");
  }
  const keys = input.keys ?? readKeys(input.paths.config, input.warn);
  const choice = choose(settings, env, keys);
  if (!choice) return await findOllama(settings, env, keys);
  const { preset, baseUrl, key } = choice;
  if (preset.needsKey && key === null) {
    throw new ProviderError(
      `${preset.name} needs a key: set ${
        preset.keyVariables[0]
      }, or put {"${preset.name}": {"api_key": "…"}} into ${join(input.paths.config, KEY_FILE)}`,
    );
  }
  if (key !== null && baseUrl.startsWith("http:") && !isLocal(addressOf(baseUrl).host)) {
    input.warn?.(`${new URL(baseUrl).origin} gets the key of ${preset.name} unencrypted; use https`);
  }
  const model = settings.model || preset.model || await firstModel(preset, baseUrl, key);
  return await make(preset, baseUrl, key, model);
}

async function make(
  preset: Preset,
  baseUrl: string,
  apiKey: string | null,
  model: string,
): Promise<Provider> {
  const { name, thinkingField } = preset;
  const { createOpenAIProvider } = await import("./openai.ts");
  return createOpenAIProvider({ name, model, baseUrl, apiKey, thinkingField });
}

async function firstModel(preset: Preset, baseUrl: string, apiKey: string | null): Promise<string> {
  let models: string[];
  try {
    const { listModels } = await import("./openai.ts");
    models = await listModels({ baseUrl, apiKey });
  } catch (error) {
    throw new ProviderError(
      `${preset.name}: no model is set and its list could not be had (${
        messageOf(error)
      }); set one: --model NAME`,
    );
  }
  const first = models[0];
  if (first === undefined) {
    throw new ProviderError(
      preset.name === "ollama"
        ? "ollama has no model yet; get one with: ollama pull qwen3"
        : `${preset.name}: no model is set and the server lists none; set one: --model NAME`,
    );
  }
  return first;
}

async function findOllama(
  settings: ProviderSettings,
  env: (name: string) => string | undefined,
  keys: ProviderKeys,
): Promise<Provider> {
  const preset = presetOf("ollama"), baseUrl = baseUrlOf(preset, env);
  const apiKey = keyFor(preset, env, keys);
  let models: string[];
  try {
    const { listModels } = await import("./openai.ts");
    models = await listModels({ baseUrl, apiKey }, OLLAMA_TIMEOUT);
  } catch {
    throw new ProviderError(NOTHING);
  }
  const model = settings.model || models[0];
  if (model === undefined) {
    throw new ProviderError(
      "an Ollama answers here, but it has no model yet; get one with: ollama pull qwen3",
    );
  }
  return await make(preset, baseUrl, apiKey, model);
}

const NOTHING = [
  "no model to talk to: no key in the environment and no Ollama on this machine.",
  "  With a key: export OPENAI_API_KEY=… (or GROQ_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY).",
  "  Without one: install Ollama and run `ollama pull qwen3`, or name any server: --provider openai-compatible --base-url http://127.0.0.1:8080/v1.",
].join("\n");

function isLocal(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\./.test(host);
}
