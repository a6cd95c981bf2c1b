/**
 * Enforces who may import whom, and which names may stand where. Run by `deno task ok` and CI; prints each breach as
 * `file:line: what` and exits 1.
 *
 * @module
 */
import { dirname, join, relative } from "../src/text/path.ts";

/** What a room may import: prefixes of paths below the project's root, or package names. */
interface Room {
  /** Files of the room: a path prefix. The longest prefix that matches a file decides. */
  readonly files: string;
  /** Path prefixes of ours that it may import. Its own prefix is always allowed unless `alone`. */
  readonly may: readonly string[];
  /** Files of the room may not import each other. */
  readonly alone?: boolean;
}

const LEAF = ["src/errors.ts", "src/text/"];
const TYPES = [
  "src/tool.ts",
  "src/toolset.ts",
  "src/policy/types.ts",
  "src/provider/provider.ts",
  "src/session/turns.ts",
  "src/config/settings.ts",
];

/** The table of the rooms. */
export const ROOMS: readonly Room[] = [
  { files: "main.ts", may: ["src/cli/"], alone: true },
  { files: "src/lib.ts", may: ["src/"] },
  { files: "src/llm/mod.ts", may: ["src/"] },
  { files: "src/plugins/mod.ts", may: ["src/"] },
  { files: "src/toolset.ts", may: ["src/tool.ts"] },
  { files: "src/cli/", may: ["src/", "tools/"] },
  {
    files: "src/engine/",
    may: [
      "src/llm/",
      "src/registry/",
      "src/session/",
      "src/catalog/",
      "src/config/",
      "src/ui/sink.ts",
      ...TYPES,
      ...LEAF,
    ],
  },
  { files: "src/registry/", may: ["src/policy/", "src/sandbox/", ...TYPES, ...LEAF] },
  { files: "src/policy/", may: ["src/tool.ts", "src/config/settings.ts", ...LEAF] },
  {
    files: "src/sandbox/",
    may: [
      "src/tool.ts",
      "src/policy/types.ts",
      "src/policy/compile.ts",
      "src/errors.ts",
      "src/text/ansi.ts",
      "src/text/git_settings.ts",
      "src/text/path.ts",
    ],
  },
  { files: "src/sandbox/entry.ts", may: ["src/sandbox/", "tools/far_files.ts"] },
  { files: "src/sandbox/run_entry.ts", may: ["src/sandbox/", "tools/far_programs.ts"] },
  { files: "src/sandbox/page_entry.ts", may: ["src/sandbox/", "tools/far_web.ts"] },
  { files: "src/provider/", may: [...TYPES, ...LEAF] },
  { files: "src/session/", may: [...TYPES, ...LEAF] },
  { files: "src/config/", may: [...TYPES, ...LEAF] },
  { files: "src/undo/", may: [...TYPES, ...LEAF] },
  { files: "src/catalog/", may: [...TYPES, ...LEAF] },
  { files: "src/ui/", may: [...TYPES, ...LEAF] },
  { files: "src/plugins/", may: ["src/registry/", "src/sandbox/", ...TYPES, ...LEAF] },
  { files: "src/llm/", may: ["src/registry/", ...TYPES, ...LEAF] },
  { files: "src/text/", may: [] },
  { files: "src/tool.ts", may: [], alone: true },
  { files: "src/errors.ts", may: [], alone: true },
  { files: "tools/mod.ts", may: ["tools/", "src/tool.ts"] },
  { files: "tools/far_files.ts", may: ["tools/", "src/tool.ts"] },
  { files: "tools/far_programs.ts", may: ["tools/", "src/tool.ts"] },
  { files: "tools/far_web.ts", may: ["tools/", "src/tool.ts"] },
  { files: "tools/", may: ["src/tool.ts", ...LEAF, "tools/_"], alone: true },
];

/** Names that may stand in some rooms alone. */
export const NAMES: readonly {
  readonly pattern: RegExp;
  readonly what: string;
  readonly only: readonly string[];
}[] = [
  { pattern: /from "openai|import\("openai/, what: "the package openai", only: ["src/provider/"] },
  { pattern: /\bnew Worker\(|\bDeno\.Command\b/, what: "Worker and Deno.Command", only: ["src/sandbox/"] },
  { pattern: /node:child_process/, what: "node:child_process", only: ["src/sandbox/"] },
  {
    pattern: /\bDeno\.(exit|args)\b|\bconsole\./,
    what: "Deno.exit, Deno.args and console",
    only: ["main.ts", "src/cli/", "src/ui/", "src/sandbox/_serve.ts"],
  },
  {
    pattern: /\bDeno\.(env|cwd)\b/,
    what: "the environment and the working directory",
    only: ["src/cli/", "src/config/", "src/sandbox/flags.ts"],
  },
  { pattern: /\.output(Sync)?\(\)/, what: "Deno.Command's output() (it ignores `detached`)", only: [] },
];

/** The room of a file. */
export function roomOf(file: string): Room | null {
  const fitting = ROOMS.filter((room) =>
    room.files.endsWith("/") ? file.startsWith(room.files) : file === room.files
  );
  return fitting.sort((a, b) => b.files.length - a.files.length)[0] ?? null;
}

/** Whether a file may import another; both relative to the root. */
export function mayImport(file: string, target: string): boolean {
  const room = roomOf(file);
  if (!room) return false;
  if (!room.alone && room.files.endsWith("/") && target.startsWith(room.files)) return true;
  return room.may.some((prefix) =>
    prefix.endsWith("/") || prefix.endsWith("_") ? target.startsWith(prefix) : target === prefix
  );
}

/** Breaches in one file's text. */
export function checkText(file: string, text: string): string[] {
  const out: string[] = [];
  const code = text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(
      /(^|\s)\/\/[^\n]*/g,
      (comment) => " ".repeat(comment.length).replace(/^ /, comment[0] === "\n" ? "\n" : " "),
    );
  code.split("\n").forEach((line, i) => {
    const found = /(?:from|import\(?|new URL\()\s*"(\.{1,2}\/[^"]+)"/.exec(line);
    if (found) {
      const target = join(dirname(file), found[1]!);
      if (!mayImport(file, target)) out.push(`${file}:${i + 1}: may not import ${target}`);
    }
    const remote = /(?:from|import\(?)\s*"((?:https?|jsr|npm):[^"]+)"/.exec(line);
    if (remote) out.push(`${file}:${i + 1}: imports ${remote[1]}; use a bare name of deno.json`);
    for (const { pattern, what, only } of NAMES) {
      if (pattern.test(line) && !only.some((prefix) => file.startsWith(prefix))) {
        out.push(`${file}:${i + 1}: ${what} may stand only in ${only.join(", ") || "no file"}`);
      }
    }
  });
  return out;
}

function* sources(directory: string): Generator<string> {
  for (const entry of Deno.readDirSync(directory)) {
    const path = join(directory, entry.name);
    if (entry.isDirectory) yield* sources(path);
    else if (entry.name.endsWith(".ts")) yield path;
  }
}

if (import.meta.main) {
  const root = dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname)));
  const files = [join(root, "main.ts"), ...sources(join(root, "src")), ...sources(join(root, "tools"))];
  const breaches = files.flatMap((file) => checkText(relative(root, file), Deno.readTextFileSync(file)));
  for (const breach of breaches) console.error(breach);
  console.error(
    breaches.length === 0
      ? `imports: ${files.length} files, all as they should be`
      : `imports: ${breaches.length} breaches`,
  );
  Deno.exit(breaches.length === 0 ? 0 : 1);
}
