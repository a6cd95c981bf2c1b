/**
 * HTML to readable Markdown: title, headings, links with whole addresses, lists, tables, code. Navigation, scripts and what
 * is hidden are left out, and so is what stands around a page's main part, where it marks one.
 *
 * @module
 */
import { Parser } from "htmlparser2";
import { type Block, joinBlocks, MarkdownWriter, type Region } from "./_html_writer.ts";
import { type Table, tableBlocks } from "./_html_table.ts";

type Attributes = Readonly<Record<string, string>>;

/** Elements whose content is never text to read. */
const DROPPED = new Set(
  "script style noscript template svg math iframe object embed canvas audio video map select datalist button dialog textarea"
    .split(" "),
);
/** Elements that end the block before them. */
const BLOCKS = new Set(
  ("address article aside body center dd details div dl dt fieldset figcaption figure footer form header hgroup html legend main p " +
    "search section summary tbody tfoot thead tr td th caption li ul ol menu blockquote pre table h1 h2 h3 h4 h5 h6")
    .split(
      " ",
    ),
);
const MARKS: ReadonlyMap<string, string> = new Map([
  ["b", "**"],
  ["strong", "**"],
  ["em", "*"],
  ["i", "*"],
  ["del", "~~"],
  ["s", "~~"],
  ["strike", "~~"],
]);
const HEADINGS: ReadonlyMap<string, string> = new Map(
  [1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, `${"#".repeat(level)} `]),
);
/** Elements whose names say what they are for. */
const CONTAINERS = new Set(["div", "ul", "ol", "section", "table"]);
const NOTHING = () => {};
const AROUND = new Set(["header", "footer", "aside"]);
const AROUND_ROLES = new Set(["banner", "contentinfo", "complementary"]);
const AROUND_NAMES =
  /(?:^|\s)(?:nav|navbar|navigation|sidebar|side-bar|menu|breadcrumbs?|toc|cookie-banner|cookie-consent|skip-link|site-header|site-footer)(?:\s|$)/i;
/** Cells beside code that count its lines. */
const LINE_NUMBERS = /(?:^|\s)(?:gutter|gl|lineno|linenos|blob-num|rouge-gutter|line-numbers?)(?:\s|$)/;
/** Tables inside tables that are still read as tables. */
const DEEPEST_TABLE = 4;
/** Cells inside cells. */
const MOST_WRITERS = 16;
/** Milliseconds after which the rest of a document is left out. */
const PATIENCE = 8_000;
const CHUNK = 65_536;
/** Nesting at which the rest of a document is left out: no page is that deep, and the parser slows down with depth. */
const DEEPEST_ELEMENT = 4_000;

/**
 * Converts a page.
 *
 * @param html the whole document, decoded
 * @param address where it is from: links become whole addresses by it
 */
export function htmlToMarkdown(html: string, address: string): string {
  const text = new Converter(address, false).run(html);
  // A page that is nothing but navigation (a site map) is shown as it is.
  return text !== "" ? text : new Converter(address, true).run(html);
}

interface Open {
  readonly name: string;
  /** Undoes what the element's beginning did. */
  readonly close: () => void;
}

class Converter {
  readonly #all: boolean;
  #base: string;
  #title = "";
  #inTitle = false;
  #dropped = 0;
  #main = 0;
  #article = 0;
  #soft = 0;
  /** Text of the `pre` that is open, or null. */
  #code: string | null = null;
  #language = "";
  readonly #stack: Open[] = [];
  #writers: MarkdownWriter[];
  readonly #hrefs = new Map<string, string | null>();

  constructor(address: string, all: boolean) {
    this.#base = address;
    this.#all = all;
    this.#writers = [new MarkdownWriter(this.#region)];
  }

  run(html: string): string {
    const parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      ontext: (text) => this.#text(text),
      onclosetag: (name) => this.#close(name),
    }, { decodeEntities: true, lowerCaseTags: true });
    const began = performance.now();
    let at = 0;
    for (; at < html.length; at += CHUNK) {
      if (performance.now() - began > PATIENCE || this.#stack.length > DEEPEST_ELEMENT) break;
      parser.write(html.slice(at, at + CHUNK));
    }
    parser.end();
    this.#writer.flush();
    const rest = at < html.length
      ? "\n\n(the rest of the page was left out: it is too large or too deep)"
      : "";
    return this.#result() + rest;
  }

  get #writer(): MarkdownWriter {
    return this.#writers.at(-1)!;
  }

  readonly #region = (): Region => ({
    main: this.#main > 0,
    article: this.#article > 0,
    soft: this.#soft > 0,
  });

  /** What is worth reading: the main part, else the articles, else all but the margins, else all. */
  #result(): string {
    const { blocks } = this.#writers[0]!;
    const total = sizeOf(blocks);
    const main = blocks.filter(({ region }) => region.main && !region.soft);
    const articles = blocks.filter(({ region }) => region.article && !region.soft);
    const firm = blocks.filter(({ region }) => !region.soft);
    const chosen = worth(main, Math.min(200, total / 5))
      ? main
      : worth(articles, total / 2)
      ? articles
      : worth(firm, Math.min(200, total / 5))
      ? firm
      : blocks;
    const text = joinBlocks(chosen), title = this.#title.replace(/\s+/g, " ").trim();
    if (title === "" || text.split("\n", 1)[0] === `# ${title}`) return text;
    return text === "" ? `# ${title}` : `# ${title}\n\n${text}`;
  }

  #text(text: string): void {
    if (this.#inTitle) this.#title += text;
    else if (this.#dropped > 0) return;
    else if (this.#code !== null) this.#code += text;
    else this.#writer.text(text);
  }

  #open(name: string, attributes: Attributes): void {
    if (name === "title" && this.#title === "" && this.#dropped === 0) {
      this.#inTitle = true;
      this.#stack.push({ name, close: () => this.#inTitle = false });
      return;
    }
    if (name === "base" && attributes.href !== undefined) {
      this.#base = this.#href(attributes.href) ?? this.#base;
    }
    this.#stack.push({ name, close: this.#dropped > 0 ? this.#drop() : this.#begin(name, attributes) });
  }

  #close(name: string): void {
    const open = this.#stack.pop();
    if (open?.name === name) open.close();
    else if (open) this.#stack.push(open);
  }

  #drop(): () => void {
    this.#dropped++;
    return () => this.#dropped--;
  }

  #begin(name: string, attributes: Attributes): () => void {
    const { role = "" } = attributes;
    if (DROPPED.has(name) || isHidden(attributes)) return this.#drop();
    if (!this.#all && (name === "nav" || role === "navigation" || role === "search" || role === "menu")) {
      return this.#drop();
    }
    if (this.#code !== null) return this.#inCode(name, attributes);
    const leave = this.#enter(name, attributes), end = this.#element(name, attributes);
    if (end === NOTHING) return leave;
    return () => {
      end();
      leave();
    };
  }

  /** Ends the block before a block element, and notes which part of the page begins with it. */
  #enter(name: string, { role = "", class: names = "", id = "" }: Attributes): () => void {
    if (!BLOCKS.has(name)) return NOTHING;
    const writer = this.#writer;
    writer.flush();
    const free = this.#main === 0 && this.#article === 0;
    const around = (AROUND.has(name) && this.#article === 0 && !(name === "header" && this.#main > 0)) ||
      (role !== "" && AROUND_ROLES.has(role)) ||
      (free && CONTAINERS.has(name) &&
        ((names !== "" && AROUND_NAMES.test(names)) || (id !== "" && AROUND_NAMES.test(id))));
    const main = name === "main" || role === "main" ? 1 : 0;
    const article = name === "article" || role === "article" ? 1 : 0, soft = around ? 1 : 0;
    if (main + article + soft === 0) return () => writer.flush();
    this.#main += main;
    this.#article += article;
    this.#soft += soft;
    return () => {
      writer.flush();
      this.#main -= main;
      this.#article -= article;
      this.#soft -= soft;
    };
  }

  #element(name: string, attributes: Attributes): () => void {
    const writer = this.#writer, mark = MARKS.get(name), heading = HEADINGS.get(name);
    if (mark !== undefined) {
      writer.mark(name, mark);
      return () => writer.unmark(name);
    }
    if (heading !== undefined) return () => writer.flush(heading);
    switch (name) {
      case "a":
        return this.#link(writer, attributes);
      case "img":
        this.#image(writer, attributes);
        break;
      case "br":
        writer.raw("\n");
        break;
      case "hr":
        writer.block("---");
        break;
      case "code":
      case "kbd":
      case "samp":
      case "tt":
        writer.mark("code", "`");
        return () => writer.unmark("code");
      case "q":
        writer.raw('"');
        return () => writer.raw('"');
      case "dt":
        writer.mark("dt", "**");
        return () => {
          writer.flush();
          writer.unmark("dt");
        };
      case "blockquote":
        return this.#nest(writer, () => writer.quote());
      case "ul":
      case "menu":
        return this.#nest(writer, () => writer.list(null));
      case "ol":
        return this.#nest(writer, () => writer.list(integer(attributes.start) ?? 1));
      case "li":
      case "dd":
        return this.#nest(writer, () => writer.item(integer(attributes.value)));
      case "pre":
        return this.#pre(writer, attributes);
      case "table":
        return this.#table(writer, attributes);
      case "tr":
        return this.#row();
      case "td":
      case "th":
      case "caption":
        return this.#cell(name, attributes);
    }
    return NOTHING;
  }

  #nest(writer: MarkdownWriter, begin: () => void): () => void {
    if (!writer.room) return () => {};
    begin();
    return () => writer.end();
  }

  #link(writer: MarkdownWriter, { href }: Attributes): () => void {
    const target = href === undefined || href.startsWith("#") ? null : this.#href(href);
    if (target === null) {
      if (href?.startsWith("#")) writer.mark("anchor", "", "", isSign);
      return () => writer.unmark("anchor");
    }
    writer.mark("a", "[", `](${target})`);
    return () => writer.unmark("a");
  }

  #image(writer: MarkdownWriter, { alt = "", src = "" }: Attributes): void {
    const words = alt.replace(/\s+/g, " ").trim();
    if (words === "") return;
    const target = /^data:/i.test(src) || src === "" ? null : this.#href(src);
    writer.raw(target === null ? words : `![${words.replace(/[[\]]/g, "")}](${target})`);
  }

  /** A whole http(s) or mail address; null for anything else. */
  #href(href: string): string | null {
    const known = this.#hrefs.get(href);
    if (known !== undefined) return known;
    let found: string | null = null;
    try {
      const url = new URL(href.trim(), this.#base);
      if (/^(?:https?|mailto):$/.test(url.protocol)) {
        found = url.href.replace(/\(/g, "%28").replace(/\)/g, "%29");
      }
    } catch {
      // What is no address is text.
    }
    this.#hrefs.set(href, found);
    return found;
  }

  #pre(writer: MarkdownWriter, attributes: Attributes): () => void {
    writer.flush();
    this.#code = "";
    this.#language = languageOf(attributes);
    return () => {
      const code = (this.#code ?? "").replace(/\r\n?/g, "\n").replace(/^\n/, "").trimEnd();
      this.#code = null;
      if (code.trim() === "") return;
      const longest = (code.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
      const fence = "`".repeat(longest + 1);
      writer.block(`${fence}${this.#language}\n${code}\n${fence}`);
    };
  }

  #inCode(name: string, attributes: Attributes): () => void {
    if (name === "br") this.#code += "\n";
    if (name === "code" && this.#language === "") this.#language = languageOf(attributes);
    const line = name === "div" || name === "p" || name === "tr" || name === "li";
    return () => {
      if (line && this.#code !== null && !this.#code.endsWith("\n")) this.#code += "\n";
    };
  }

  /** Reads a table: each cell by a writer of its own. */
  #table(outer: MarkdownWriter, { role = "" }: Attributes): () => void {
    if (this.#tables.length >= DEEPEST_TABLE) return () => {};
    const layout = /^(?:presentation|none)$/.test(role), table: Table = { rows: [], caption: "", layout };
    const around = this.#tables.at(-1);
    if (around) around.layout = true;
    this.#tables.push(table);
    return () => {
      this.#tables.pop();
      for (const block of tableBlocks(table)) outer.block(block);
    };
  }

  #row(): () => void {
    const table = this.#tables.at(-1);
    table?.rows.push([]);
    return () => {};
  }

  /** A cell or caption: its text is written apart and then handed to the table. */
  #cell(name: string, { class: names = "", colspan }: Attributes): () => void {
    const table = this.#tables.at(-1);
    if (!table || this.#writers.length > MOST_WRITERS) return () => {};
    const writer = new MarkdownWriter(this.#region);
    this.#writers.push(writer);
    return () => {
      writer.flush();
      this.#writers.pop();
      const blocks = writer.blocks.length, text = joinBlocks(writer.blocks);
      if (name === "caption") table.caption = text;
      else if (!LINE_NUMBERS.test(names)) {
        if (table.rows.length === 0) table.rows.push([]);
        const span = Math.min(Math.max(integer(colspan) ?? 1, 1), 20);
        table.rows.at(-1)!.push({ text, blocks, header: name === "th", span });
      }
    };
  }

  readonly #tables: Table[] = [];
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + block.text.length, 0);
}

function worth(blocks: readonly Block[], least: number): boolean {
  return blocks.length > 0 && sizeOf(blocks) >= least;
}

function isHidden(attributes: Attributes): boolean {
  return attributes.hidden !== undefined && attributes.hidden !== "until-found" ||
    attributes["aria-hidden"] === "true" ||
    (attributes.style !== undefined &&
      /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b/i.test(attributes.style));
}

function languageOf({ class: names = "", lang, "data-lang": data }: Attributes): string {
  const found = /(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]?([\w+#.-]+)/i.exec(names)?.[1] ??
    data ?? lang ?? "";
  return /^[\w+#.-]{1,30}$/.test(found) ? found.toLowerCase() : "";
}

/** The sign beside a heading by which one links to it. */
function isSign(text: string): boolean {
  return /^(?:[#¶§†\u{1f517}]|\[link\]|permalink)$/iu.test(text);
}

function integer(text: string | undefined): number | null {
  return text !== undefined && /^-?\d{1,9}$/.test(text.trim()) ? Number(text) : null;
}
