/**
 * What `polyglav roles`, `teams` and `skills` have in common.
 *
 * @module
 */
import type { Catalog, Kind } from "../catalog/catalog.ts";
import { entryLine, entryText } from "../catalog/text.ts";
import { extendTrust } from "../config/trust.ts";
import { EXIT } from "../errors.ts";
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";
import type { Command, Invocation, OptionSpec } from "./_command.ts";
import { lateCatalog } from "./_heads.ts";
import { loadSettings, trustsRun } from "./_load.ts";
import { catalogLayers } from "./_plugins.ts";

/** What differs. */
export interface CatalogCommand {
  readonly kind: Kind;
  readonly summary: string;
  readonly details: string;
  /** How an entry is made. */
  readonly options: Readonly<Record<string, OptionSpec>>;
  readonly example: readonly [string, string];
  /** The fields that the options of `new` say. */
  readonly fields: (invocation: Invocation) => Promise<Record<string, unknown>> | Record<string, unknown>;
}

const OUTPUT: Readonly<Record<string, OptionSpec>> = {
  output: { type: "string", value: "FORMAT", choices: ["text", "json"], help: "text (default) or json" },
  trust: { type: "boolean", help: "let this project's files count in this run" },
};
const TRUST: Readonly<Record<string, OptionSpec>> = { trust: OUTPUT.trust! };

/** Makes the command for a kind of entry. */
export function catalogCommand(spec: CatalogCommand): Command {
  const { kind } = spec, name = `${kind}s`;
  const list: Command = {
    name: "list",
    summary: `the ${name}, with where they come from`,
    examples: [[`${name} list`, "one a line"]],
    options: OUTPUT,
    async run({ values, io }): Promise<number> {
      const { catalog } = await open({ values, io });
      const entries = catalog.list(kind);
      if (values.output === "json") io.out(`${cleanJson(JSON.stringify(entries, null, 2))}\n`);
      else if (entries.length === 0) io.err(`no ${name} here yet\n`);
      else io.out(`${cleanForTerminal(entries.map((entry) => entryLine(kind, entry)).join("\n"))}\n`);
      return EXIT.ok;
    },
  };
  const show: Command = {
    name: "show",
    summary: `all that is known of a ${kind}`,
    usage: "NAME",
    examples: [[`${name} show NAME`, "its fields"]],
    options: OUTPUT,
    positionals: [1, 1],
    async run({ values, positionals, io }): Promise<number> {
      const { catalog } = await open({ values, io }), entry = catalog.get(kind, positionals[0]!);
      io.out(
        values.output === "json"
          ? `${cleanJson(JSON.stringify(entry, null, 2))}\n`
          : `${cleanForTerminal(entryText(kind, entry))}\n`,
      );
      return EXIT.ok;
    },
  };
  const create: Command = {
    name: "new",
    summary: `save a ${kind} in this project, or change one`,
    usage: "NAME",
    details: "What is not given stays as it is.",
    examples: [spec.example],
    options: { ...spec.options, ...TRUST },
    positionals: [1, 1],
    async run(invocation): Promise<number> {
      const { catalog, trust } = await open(invocation), entry = invocation.positionals[0]!;
      const { path, trusted } = catalog.fileOf(kind, entry);
      const notes = catalog.save(kind, entry, await spec.fields(invocation));
      invocation.io.out(`Saved ${kind}: ${entry} (${path})\n`);
      for (const note of notes) invocation.io.err(`note: ${cleanForTerminal(note, { line: true })}\n`);
      // The user wrote it, so it counts; not so what others wrote into the same file.
      if (trusted) trust(path);
      else invocation.io.err(`${path} is not trusted; look at it, then run polyglav trust\n`);
      return EXIT.ok;
    },
  };
  const remove: Command = {
    name: "remove",
    summary: `remove a ${kind} of this project`,
    usage: "NAME",
    examples: [[`${name} remove NAME`, "bundled ones stay"]],
    options: TRUST,
    positionals: [1, 1],
    async run(invocation): Promise<number> {
      const { catalog, trust } = await open(invocation), entry = invocation.positionals[0]!;
      const { path, trusted } = catalog.fileOf(kind, entry);
      catalog.remove(kind, entry);
      if (trusted) trust(path);
      invocation.io.out(`Removed ${kind}: ${entry} (${path})\n`);
      return EXIT.ok;
    },
  };
  const validate: Command = {
    name: "validate",
    summary: `what is wrong with the ${name}`,
    usage: "[NAME]",
    examples: [[`${name} validate`, "exit 1 where something is"]],
    options: TRUST,
    positionals: [0, 1],
    async run({ values, positionals, io }): Promise<number> {
      const { catalog } = await open({ values, io }), problems = catalog.validate(kind, positionals[0]);
      io.out(`${cleanForTerminal(problems.join("\n") || "ok")}\n`);
      return problems.length > 0 ? EXIT.failed : EXIT.ok;
    },
  };
  return {
    name,
    summary: spec.summary,
    details: spec.details,
    examples: [[`${name} list`, `the ${name} there are`], spec.example],
    subcommands: [list, show, create, remove, validate],
  };
}

async function open(
  { values, io }: Pick<Invocation, "values" | "io">,
): Promise<{ catalog: Catalog; trust: (path: string) => void }> {
  const base = loadSettings(values, io), { paths, worktree } = base;
  const warn = (message: string) => io.err(`Warning: ${cleanForTerminal(message, { line: true })}\n`);
  const catalog = await lateCatalog(base, trustsRun(values, io), warn, () => catalogLayers(base, io)).load();
  return { catalog, trust: (path) => void extendTrust({ paths, worktree, files: [path] }, new Date()) };
}

/** A comma list of the command line. */
export function commaList(value: Invocation["values"][string]): string[] | undefined {
  if (typeof value !== "string") return undefined;
  return value.split(",").map((item) => item.trim()).filter((item) => item !== "");
}

/** `KEY=ACTION,…` as an object. */
export function actionList(value: Invocation["values"][string]): Record<string, string> | undefined {
  const items = commaList(value);
  return items && Object.fromEntries(items.map((item) => {
    const at = item.indexOf("=");
    return at < 0 ? [item, ""] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
  }));
}

/** The given fields without those that were not given. */
export function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
