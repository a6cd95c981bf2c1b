/**
 * `/mode`, `/model`, `/models`, `/provider`: how the next calls are decided, and who answers.
 *
 * @module
 */
import { PolyglavError, UsageError } from "../../errors.ts";
import { readKeys } from "../../provider/detect.ts";
import { baseUrlOf, normalizeBaseUrl, presetOf, PRESETS } from "../../provider/presets.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import type { Repl } from "../repl/repl.ts";
import { splitWords } from "../repl/words.ts";
import type { SlashCommand } from "./_command.ts";

const clean = (text: string) => cleanForTerminal(text, { line: true });

/** `/mode`. */
export const mode: SlashCommand = {
  name: "mode",
  aliases: ["m"],
  summary: "switch the mode from the next call on, or show the modes",
  usage: "[NAME]",
  async run(repl, rest) {
    if (rest === "") {
      const { style } = repl.front;
      return repl.print(
        repl.modes().map((name) =>
          name === repl.mode ? `${style.bold(`* ${clean(name)}`)}` : `  ${clean(name)}`
        ).join("\n"),
      );
    }
    await repl.setMode(rest);
    repl.print(repl.front.style.dim(`(mode: ${clean(repl.mode)})`));
  },
  complete: (repl, words) => words.length > 0 ? [] : repl.modes().map((text) => ({ text })),
};

/** `/model`. */
export const model: SlashCommand = {
  name: "model",
  summary: "use another model from the next turn on, or show the one in use",
  usage: "[NAME]",
  async run(repl, rest) {
    await repl.patiently(async () => {
      if (rest !== "") await repl.provider.use({ model: rest });
      else await repl.provider.ready();
    });
    repl.print(repl.front.style.dim(`(model: ${clean(repl.provider.model)}, ${clean(repl.provider.name)})`));
  },
  complete: async (repl, words) => words.length > 0 ? [] : (await modelsOf(repl)).map((text) => ({ text })),
};

/** `/models`. */
export const models: SlashCommand = {
  name: "models",
  summary: "the models that the provider offers",
  usage: "[PART OF A NAME]",
  async run(repl, rest) {
    const all = await repl.patiently(() => modelsOf(repl, true)), word = rest.toLowerCase();
    const found = all.filter((name) => name.toLowerCase().includes(word));
    if (found.length === 0) {
      throw new PolyglavError(
        all.length === 0 ? "the provider lists no models" : `no model has "${rest}" in its name`,
      );
    }
    repl.print(found.map((name) => `${name === repl.provider.model ? "*" : " "} ${clean(name)}`).join("\n"));
  },
};

/** `/provider`. */
export const provider: SlashCommand = {
  name: "provider",
  summary: "use another provider from the next turn on, or show the providers",
  usage: "[NAME [BASE-URL]]",
  details: "For this session; /connect saves a provider with its key.",
  async run(repl, rest) {
    const [name, url, ...more] = splitWords(rest);
    if (name === undefined) return repl.print(list(repl));
    if (more.length > 0) throw new UsageError("/provider takes a name and perhaps a base URL");
    if (name !== "auto") presetOf(name, repl.provider.settings.presets);
    await repl.patiently(() => repl.provider.use({ provider: name, base_url: url ?? "", model: "" }));
    repl.print(
      repl.front.style.dim(`(provider: ${clean(repl.provider.name)}, model: ${clean(repl.provider.model)})`),
    );
  },
  complete: (repl, words) => words.length > 0 ? [] : ["auto", ...names(repl)].map((text) => ({ text })),
};

function names(repl: Repl): string[] {
  return [...PRESETS, ...repl.provider.settings.presets ?? []].map((preset) => preset.name);
}

function list(repl: Repl): string {
  const { host, provider, front: { style } } = repl, keys = readKeys(host.paths.config);
  return [...PRESETS, ...provider.settings.presets ?? []].map((preset) => {
    const key = preset.keyVariables.find((variable) => host.io.env(variable)?.trim());
    const state = key !== undefined
      ? `key in ${key}`
      : keys[preset.name] !== undefined
      ? "key saved"
      : preset.needsKey
      ? "no key"
      : "needs no key";
    return `${preset.name === provider.name ? "*" : " "} ${clean(preset.name).padEnd(18)} ${
      style.dim(state)
    }`;
  }).join("\n");
}

/**
 * The models that the provider in use lists.
 *
 * @param say throw why there is no list; else it is empty then
 */
export async function modelsOf(repl: Repl, say = false): Promise<string[]> {
  try {
    const current = await repl.provider.ready(), { settings } = repl.provider, { env } = repl.host.io;
    const preset = presetOf(current.name, settings.presets);
    const base = settings.base_url || baseUrlOf(preset, env),
      { listModels } = await import("../../provider/openai.ts");
    const key = preset.keyVariables.map((variable) => env(variable)?.trim()).find(Boolean) ??
      readKeys(repl.host.paths.config)[preset.name] ?? null;
    return await listModels({ baseUrl: normalizeBaseUrl(base), apiKey: key }, say ? 10_000 : 2_000);
  } catch (error) {
    if (say) throw error;
    return [];
  }
}
