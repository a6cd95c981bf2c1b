/**
 * What Tab finds at the prompt: commands and what goes behind them, and files after `@` and in `!` commands.
 *
 * @module
 */
import { dirname, isAbsolute, join } from "../../text/path.ts";
import type { Completer, CompletionItem } from "../../ui/complete.ts";
import { isSlash, SLASH_COMMANDS, slashCommand } from "../slash/mod.ts";
import type { Repl } from "./repl.ts";

/** Most names of a folder that are looked at. */
const MOST = 2000;

/** Makes the completer of a session. */
export function createCompleter(repl: Repl): Completer {
  return async (line, cursor) => {
    const before = line.slice(0, cursor);
    const mention = /(?:^|[\s([{<'"])@(?:"([^"\n]*)|([^\s"'`]*))$/.exec(before);
    if (mention) {
      const word = mention[1] ?? mention[2] ?? "", items = await files(repl, word);
      const quote = (text: string) => /\s/.test(text.trimEnd()) || mention[1] !== undefined;
      const from = cursor - word.length - (mention[1] === undefined ? 0 : 1);
      return {
        from,
        items: items.map(({ text, ...rest }) => {
          if (!quote(text)) return { text, ...rest };
          return { text: text.endsWith("/") ? `"${text}` : `"${text.trimEnd()}" `, ...rest };
        }),
      };
    }
    if (/^\/\S*$/.test(before)) {
      const items = [...SLASH_COMMANDS, ...repl.more].map(({ name, summary }) => ({
        text: `/${name} `,
        hint: summary,
      }));
      return { from: 0, items: items.filter(({ text }) => text.startsWith(before)) };
    }
    const word = /\S*$/.exec(before)![0], from = cursor - word.length;
    if (isSlash(before)) {
      const [, name = "", rest = ""] = /^\/(\S+)\s+([\s\S]*)$/.exec(before.slice(0, from)) ?? [];
      const command = slashCommand(name.toLowerCase(), repl.more);
      const items = await command?.complete?.(repl, rest.split(/\s+/).filter((each) => each !== "")) ?? [];
      const found = items.filter(({ text }) => text.startsWith(word));
      return { from, items: found.map((item) => ({ ...item, text: ended(item.text) })) };
    }
    if (before.startsWith("!")) {
      const path = word.replace(/^!/, "");
      return { from: cursor - path.length, items: path === "" ? [] : await files(repl, path) };
    }
    return { from: cursor, items: [] };
  };
}

/** A word that is complete ends with a blank. */
function ended(text: string): string {
  return /[\s/]$/.test(text) ? text : `${text} `;
}

/** Names in the folder that a path names, that begin with the path's last part. */
async function files({ host }: Repl, path: string): Promise<CompletionItem[]> {
  const above = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "",
    last = path.slice(above.length);
  const folder = above.startsWith("~/")
    ? join(host.paths.home, above.slice(2))
    : isAbsolute(above)
    ? (above === "/" ? "/" : dirname(`${above}x`))
    : join(host.worktree, above);
  const found: CompletionItem[] = [];
  let looked = 0;
  try {
    for await (const entry of Deno.readDir(folder)) {
      if (++looked > MOST) break;
      if (!entry.name.startsWith(last) || (entry.name.startsWith(".") && !last.startsWith("."))) continue;
      found.push({ text: `${above}${entry.name}${await isFolder(folder, entry) ? "/" : " "}` });
    }
  } catch { /* no such folder */ }
  return found.sort((a, b) => a.text < b.text ? -1 : 1);
}

async function isFolder(folder: string, entry: Deno.DirEntry): Promise<boolean> {
  if (!entry.isSymlink) return entry.isDirectory;
  try {
    return (await Deno.stat(join(folder, entry.name))).isDirectory;
  } catch {
    return false;
  }
}
