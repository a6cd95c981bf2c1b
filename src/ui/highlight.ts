/**
 * Colours for code, line by line as it streams in. The package that knows the languages (highlight.js) is loaded when the
 * first piece of code comes, and each language when it is met.
 *
 * @module
 */
import type hljs from "highlight.js/lib/core";
import type { Style } from "./style.ts";

type Api = typeof hljs;

/** Paints one piece of code. */
export interface CodePainter {
  /** The next line, without its line break and clean for a terminal, with escapes. */
  line(text: string): string;
}

/** Knows languages. */
export interface Highlighter {
  /** Begins a piece of code; null where the language is unknown, a promise where it must be loaded first. */
  open(language: string): CodePainter | null | Promise<CodePainter | null>;
}

type Load = () => Promise<{ readonly default: Parameters<Api["registerLanguage"]>[1] }>;

const LANGUAGES: Readonly<Record<string, Load>> = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  csharp: () => import("highlight.js/lib/languages/csharp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  dockerfile: () => import("highlight.js/lib/languages/dockerfile"),
  go: () => import("highlight.js/lib/languages/go"),
  graphql: () => import("highlight.js/lib/languages/graphql"),
  ini: () => import("highlight.js/lib/languages/ini"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  kotlin: () => import("highlight.js/lib/languages/kotlin"),
  lua: () => import("highlight.js/lib/languages/lua"),
  makefile: () => import("highlight.js/lib/languages/makefile"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  php: () => import("highlight.js/lib/languages/php"),
  powershell: () => import("highlight.js/lib/languages/powershell"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  scala: () => import("highlight.js/lib/languages/scala"),
  scss: () => import("highlight.js/lib/languages/scss"),
  sql: () => import("highlight.js/lib/languages/sql"),
  swift: () => import("highlight.js/lib/languages/swift"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: Readonly<Record<string, string>> = {
  ...{ sh: "bash", shell: "bash", zsh: "bash", console: "bash", "c++": "cpp", h: "c", hpp: "cpp", cc: "cpp" },
  ...{
    cs: "csharp",
    "c#": "csharp",
    docker: "dockerfile",
    golang: "go",
    gql: "graphql",
    toml: "ini",
    conf: "ini",
  },
  ...{
    js: "javascript",
    jsx: "javascript",
    mjs: "javascript",
    cjs: "javascript",
    jsonc: "json",
    json5: "json",
  },
  ...{ jsonl: "json", kt: "kotlin", make: "makefile", mk: "makefile", md: "markdown", ps1: "powershell" },
  ...{ pwsh: "powershell", py: "python", python3: "python", rb: "ruby", rs: "rust", ts: "typescript" },
  ...{
    tsx: "typescript",
    mts: "typescript",
    cts: "typescript",
    html: "xml",
    svg: "xml",
    xhtml: "xml",
    vue: "xml",
  },
  ...{ yml: "yaml", patch: "diff", sass: "scss", less: "css" },
};

/** Code that is read again because a comment or text reaches over its lines; more of it begins anew. */
const MEMORY = 4000;
/** Longer lines are not looked into. */
const LONG = 1000;
/** So much of one piece of code is coloured. */
const MOST = 200_000;

const PAINTS: Readonly<Record<string, keyof Omit<Style, "on">>> = {
  keyword: "magenta",
  literal: "cyan",
  number: "cyan",
  string: "green",
  regexp: "green",
  char: "green",
  subst: "bold",
  comment: "dim",
  quote: "dim",
  doctag: "dim",
  title: "blue",
  section: "blue",
  name: "blue",
  "selector-tag": "blue",
  "selector-class": "blue",
  "selector-id": "blue",
  attr: "cyan",
  attribute: "cyan",
  property: "cyan",
  symbol: "cyan",
  bullet: "cyan",
  variable: "cyan",
  "template-variable": "cyan",
  built_in: "yellow",
  type: "yellow",
  meta: "yellow",
  addition: "green",
  deletion: "red",
  link: "underline",
  emphasis: "italic",
  strong: "bold",
};

/** Makes a highlighter; nothing is loaded yet. */
export function createHighlighter(style: Style): Highlighter {
  let api: Api | null = null;
  let loading: Promise<void> = Promise.resolve();
  const known = new Set<string>();
  const load = async (name: string) => {
    const [core, language] = await Promise.all([import("highlight.js/lib/core"), LANGUAGES[name]!()]);
    api ??= core.default;
    if (!known.has(name)) api.registerLanguage(name, language.default);
    known.add(name);
  };
  return {
    open(language) {
      const given = language.toLowerCase();
      const name = Object.hasOwn(ALIASES, given) ? ALIASES[given]! : given;
      if (!Object.hasOwn(LANGUAGES, name)) return null;
      if (api && known.has(name)) return new Painter(api, name, style);
      const wait = loading.then(() => load(name));
      loading = wait.catch(() => {});
      return wait.then(() => new Painter(api!, name, style));
    },
  };
}

class Painter implements CodePainter {
  readonly #api: Api;
  readonly #language: string;
  readonly #style: Style;
  /** Lines before this one that something which is still open began in. */
  #before = "";
  #left = MOST;

  constructor(api: Api, language: string, style: Style) {
    this.#api = api;
    this.#language = language;
    this.#style = style;
  }

  line(text: string): string {
    this.#left -= text.length + this.#before.length;
    if (text.length > LONG || this.#left < 0) {
      this.#before = "";
      return text;
    }
    try {
      const code = `${this.#before}${text}\n`;
      const { value } = this.#api.highlight(code, { language: this.#language, ignoreIllegals: true });
      // A line break within a part says that the part goes on.
      const open = /<\/span>$/.test(value) && code.length < MEMORY;
      const out = this.#escapes(value, countOf(this.#before));
      this.#before = open ? code : "";
      return out;
    } catch {
      this.#left = -1;
      return text;
    }
  }

  /** The line of this number, with escapes instead of tags. */
  #escapes(html: string, line: number): string {
    const stack: (keyof Omit<Style, "on"> | null)[] = [];
    let out = "", at = 0;
    for (const token of html.matchAll(/<span class="([^"]*)">|<\/span>|\n|[^<\n]+/g)) {
      const [part, names] = token;
      if (part === "\n") {
        if (++at > line) break;
      } else if (names !== undefined) stack.push(paintOf(names) ?? stack.at(-1) ?? null);
      else if (part === "</span>") stack.pop();
      else if (at === line) {
        const paint = stack.at(-1) ?? null, text = unescape(part);
        out += paint === null ? text : this.#style[paint](text);
      }
    }
    return out;
  }
}

function paintOf(names: string): keyof Omit<Style, "on"> | null {
  const name = names.split(" ", 1)[0]!.replace(/^hljs-/, "");
  return Object.hasOwn(PAINTS, name) ? PAINTS[name]! : null;
}

function countOf(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

function unescape(text: string): string {
  return text.includes("&") ? text.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name) => ENTITIES[name]!) : text;
}
