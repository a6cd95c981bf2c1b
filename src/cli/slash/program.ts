/**
 * `/config`, `/policy`, `/plugins`, `/trust`, `/doctor`, `/version`, `/exit`: the program itself.
 *
 * @module
 */
import { PolyglavError, UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { nearest } from "../../text/nearest.ts";
import type { CompletionItem } from "../../ui/complete.ts";
import { VERSION } from "../_version.ts";
import type { Repl } from "../repl/repl.ts";
import { splitWords } from "../repl/words.ts";
import { runCli } from "./_cli.ts";
import type { SlashCommand } from "./_command.ts";

const clean = (text: string) => cleanForTerminal(text, { line: true });

/** `/config`. */
export const config: SlashCommand = {
  name: "config",
  summary: "the configuration; set a key in the project's file, or with --global in yours",
  usage: "[KEY [VALUE] | list | set [--global] KEY VALUE | unset KEY]",
  details: "What is changed counts from the next call on, as far as the project is trusted.",
  async run(repl, rest) {
    const words = splitWords(rest), [first = "list", second] = words;
    const verbs = ["list", "get", "set", "unset", "schema"];
    const line = verbs.includes(first) || first.startsWith("-")
      ? words.length === 0 ? ["list", "--show-origin"] : words
      : second === undefined
      ? ["get", first]
      : ["set", ...words];
    await runCli(repl, "config", line);
    if (line[0] !== "set" && line[0] !== "unset") return;
    for (const warning of await repl.reload()) {
      repl.print(repl.front.style.yellow(`warning: ${clean(warning)}`));
    }
  },
  async complete(_repl, words) {
    const verbs = ["list", "get ", "set ", "unset "].map((text) => ({ text }));
    const { SCHEMA } = await import("../../config/schema.ts");
    const keys = SCHEMA.filter(({ key }) => !key.includes("*")).map(({ key, doc }) => ({
      text: key,
      hint: doc,
    }));
    const plain = words.filter((word) => !word.startsWith("-"));
    if (plain.length === 0) return [...verbs, ...keys];
    return plain.length === 1 && ["get", "set", "unset"].includes(plain[0]!) ? keys : [];
  },
};

/** `/policy`. */
export const policy: SlashCommand = {
  name: "policy",
  summary: "what each tool may do now, and why; explain one call",
  usage: "[TOOL [JSON]]",
  async run(repl, rest) {
    const [, word = "", given = ""] = /^(?:explain\s+)?(\S*)\s*([\s\S]*)$/.exec(rest)!, { host, live } = repl;
    if (word === "") {
      const rows = host.registry.list().map((tool) => ({ name: tool.name, ...live.allowed(tool) }));
      const width = Math.max(...rows.map(({ name }) => name.length)), { style } = repl.front;
      return repl.print(
        [
          `mode ${clean(live.mode)}`,
          ...rows.map(({ name, action, rule }) =>
            `${name.padEnd(width)}  ${action.padEnd(5)}  ${style.dim(clean(rule))}`
          ),
        ].join("\n"),
      );
    }
    const tool = host.registry.get(word);
    if (!tool) {
      const near = nearest(word, host.registry.list().map(({ name }) => name));
      throw new UsageError(`there is no tool "${word}"${near ? `, did you mean "${near}"?` : ""}`);
    }
    const [{ explain }, { cleanArguments, parseArguments }] = await Promise.all([
      import("../../policy/explain.ts"),
      import("../../registry/arguments.ts"),
    ]);
    if (given === "") {
      const { action, rule, reason } = live.allowed(tool);
      return repl.print(clean(`${tool.name}: ${action} (${rule}: ${reason})`));
    }
    const args = cleanArguments(tool, parseArguments(given));
    repl.print(cleanForTerminal(explain(live.resolve(tool, args), tool)));
  },
  complete: toolNames,
};

function toolNames(repl: Repl, words: readonly string[]): CompletionItem[] {
  return words.length > 0 ? [] : repl.host.registry.list().map(({ name }) => ({ text: name }));
}

/** `/plugins`. */
export const plugins: SlashCommand = {
  name: "plugins",
  summary: "list, show, install, enable and disable plugins",
  usage: "[list | show NAME | install FOLDER | enable NAME | disable NAME | test …]",
  async run(repl, rest) {
    const words = splitWords(rest);
    await runCli(repl, "plugins", words.length === 0 ? ["list"] : words);
    if (["install", "enable", "disable", "uninstall"].includes(words[0] ?? "")) {
      repl.print(repl.front.style.dim("(it counts from the next start of polyglav on)"));
    }
  },
};

/** `/trust`. */
export const trust: SlashCommand = {
  name: "trust",
  summary: "let this project's configuration count, from the next call on",
  usage: "[--revoke | --list]",
  async run(repl, rest) {
    await runCli(repl, "trust", splitWords(rest));
    await repl.reload();
    repl.host.catalog.loaded?.reload();
  },
};

/** `/doctor`. */
export const doctor: SlashCommand = {
  name: "doctor",
  summary: "which rings of the sandbox are active here",
  usage: "[--output json]",
  run: async (repl, rest) => {
    const { provider, base_url } = repl.provider.settings;
    const words = ["--provider", provider, "--base-url", base_url, "--mode", repl.mode, ...splitWords(rest)];
    if ((await runCli(repl, "doctor", words)) !== 0) {
      throw new PolyglavError("something is broken, see above");
    }
  },
};

/** `/version`. */
export const version: SlashCommand = {
  name: "version",
  summary: "the version",
  run: (repl) => repl.print(`polyglav ${VERSION}, deno ${Deno.version.deno}, ${Deno.build.target}`),
};

/** `/exit`. */
export const exit: SlashCommand = {
  name: "exit",
  aliases: ["quit", "q"],
  summary: "leave; the session can be gone on with",
  run(repl) {
    repl.leaving = true;
  },
};
