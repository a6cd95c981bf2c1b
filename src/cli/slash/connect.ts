/**
 * `/connect`: a provider with its key, tried before it is saved.
 *
 * @module
 */
import { setKey } from "../../config/edit.ts";
import { globalConfigFile } from "../../config/paths.ts";
import { entryOf } from "../../config/keys.ts";
import { messageOf, PolyglavError, ProviderError, UsageError } from "../../errors.ts";
import { KEY_FILE } from "../../provider/detect.ts";
import { addressOf, baseUrlOf, normalizeBaseUrl, presetOf, PRESETS } from "../../provider/presets.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { join } from "../../text/path.ts";
import type { Repl } from "../repl/repl.ts";
import { saveKey } from "../repl/keys.ts";
import { splitWords } from "../repl/words.ts";
import type { SlashCommand } from "./_command.ts";

/** Models that are offered by number. */
const OFFERED = 12;

const clean = (text: string) => cleanForTerminal(text, { line: true });

/** The command. */
export const connect: SlashCommand = {
  name: "connect",
  summary: "connect to a provider: asks for the key, tries it, then saves it",
  usage: "[PROVIDER [BASE-URL]]",
  details:
    "The key is typed hidden, tried with the provider, and kept in your own providers.json, which only you can read.\n" +
    "Provider and model become the default of your configuration.",
  async run(repl, rest) {
    const [given, url, ...more] = splitWords(rest);
    if (more.length > 0) {
      throw new UsageError("/connect takes a provider and perhaps a base URL; it asks for the key");
    }
    const { front, host } = repl, presets = [...PRESETS, ...repl.provider.settings.presets ?? []];
    const name = given ??
      await front.ask({ question: "Which provider?", options: presets.map((p) => p.name) });
    if (!name?.trim()) return;
    const preset = presetOf(name.trim(), repl.provider.settings.presets);
    let base = url ?? baseUrlOf(preset, host.io.env);
    if (base === "") base = (await front.line("Address, such as http://127.0.0.1:8080/v1: ")) ?? "";
    if (base.trim() === "") return;
    base = normalizeBaseUrl(base);
    const { host: server } = addressOf(base);
    const local = server === "localhost" || server === "::1" || /^127\./.test(server);

    let key: string | null = null;
    if (preset.needsKey || preset.name === "openai-compatible") {
      const optional = preset.needsKey ? "" : ", or Enter for none";
      const typed = await front.secret(`Key of ${clean(preset.name)} (nothing is shown${optional}): `);
      if (typed === null || (typed.trim() === "" && preset.needsKey)) {
        return repl.print(front.style.dim("(not connected: no key was given)"));
      }
      key = typed.trim() || null;
      if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
        throw new ProviderError("that holds blanks or other characters that no key has; nothing was saved");
      }
      if (key !== null && base.startsWith("http:") && !local) {
        throw new ProviderError(`${new URL(base).origin} would get the key unencrypted; use https`);
      }
    }
    const models = await repl.patiently(() => probe(preset.name, base, key));
    const model = await chooseModel(repl, preset.model, models);
    if (model === null) return repl.print(front.style.dim("(not connected: no model was chosen)"));
    const proven = key;
    if (proven !== null) await repl.patiently(() => prove(preset.name, base, proven, model));

    if (key !== null) saveKey(join(host.paths.config, KEY_FILE), preset.name, key);
    const set = (name: string, value: string) => {
      const file = { path: globalConfigFile(host.paths), mode: 0o600, directoryMode: 0o700 };
      setKey(file, name, entryOf(name), value);
    };
    set("provider", preset.name);
    set("base_url", base === (preset.baseUrl && normalizeBaseUrl(preset.baseUrl)) ? "" : base);
    set("model", model);
    await repl.provider.use({ provider: preset.name, base_url: base, model });
    const variable = preset.keyVariables.find((each) => host.io.env(each)?.trim());
    if (key !== null && variable !== undefined) {
      repl.print(front.style.yellow(`warning: ${variable} is set and wins over the key that was saved`));
    }
    repl.print(
      `Connected to ${clean(preset.name)} with ${clean(model)}.` +
        (key === null ? "" : ` The key is in ${clean(join(host.paths.config, KEY_FILE))}, for you alone.`),
    );
  },
  complete: (repl, words) =>
    words.length > 0
      ? []
      : [...PRESETS, ...repl.provider.settings.presets ?? []].map(({ name }) => ({ text: name })),
};

/** The models of a server: that it answers, and takes the key, is known then. */
async function probe(name: string, baseUrl: string, apiKey: string | null): Promise<string[]> {
  const { listModels } = await import("../../provider/openai.ts");
  try {
    return await listModels({ baseUrl, apiKey });
  } catch (error) {
    const why = messageOf(error);
    // What a server echoes is not shown again.
    const shown = apiKey === null ? why : why.replaceAll(apiKey, "(the key)");
    throw new PolyglavError(`${name} could not be reached with that, so nothing was saved: ${shown}`);
  }
}

/** Servers may list their models to everybody: whether they take the key shows in a short answer. */
async function prove(name: string, baseUrl: string, apiKey: string, model: string): Promise<void> {
  const { createOpenAIProvider, listModels } = await import("../../provider/openai.ts");
  try {
    await listModels({ baseUrl, apiKey: null });
  } catch {
    return; // the list was given for the key
  }
  const provider = createOpenAIProvider({ name, baseUrl, apiKey, model, timeout: 60_000 });
  try {
    for await (
      const event of provider.chat([{ role: "user", content: "Say ok." }], [], { model, maxTokens: 16 })
    ) {
      // Who is told to pay or to wait was recognized.
      if (event.type !== "error" || event.code === 402 || event.code === 429) break;
      const code = event.code > 0 ? `${event.code}, ` : "";
      throw new PolyglavError(
        `${name} did not answer with that, so nothing was saved: ${code}${event.message}`,
      );
    }
  } finally {
    await provider.close?.();
  }
}

async function chooseModel(repl: Repl, usual: string, models: readonly string[]): Promise<string | null> {
  if (usual !== "" && (models.length === 0 || models.includes(usual))) return usual;
  if (models.length === 1) return models[0]!;
  if (models.length === 0) return (await repl.front.line("Model: "))?.trim() || null;
  const answer = await repl.front.ask({
    question: `Which model? (${models.length} are offered${
      models.length > OFFERED ? "; any may be named" : ""
    })`,
    options: models.slice(0, OFFERED),
  });
  return answer?.trim() || null;
}
