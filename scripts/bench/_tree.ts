/**
 * A source tree of a given size for the search figures.
 *
 * @module
 */
import { join } from "../../src/text/path.ts";

/** Writes a tree of `files` files and about `bytes` bytes, always the same one. */
export function makeTree(root: string, size: { readonly files: number; readonly bytes: number }): void {
  let seed = 12345;
  const random = (n: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
  const words =
    "alpha beta gamma delta const let return function import export value index result error path while"
      .split(" ");
  const line = () => Array.from({ length: 6 + random(8) }, () => words[random(words.length)]).join(" ");
  const block = Array.from({ length: 400 }, line).join("\n");
  const average = Math.floor(size.bytes / size.files);
  for (let i = 0; i < size.files; i++) {
    const directory = join(root, `pkg${Math.floor(i / 400)}`, `mod${Math.floor(i / 40) % 10}`);
    if (i % 40 === 0) Deno.mkdirSync(directory, { recursive: true });
    const from = random(block.length - 1000), length = Math.floor(average / 2) + random(average);
    let text = "";
    while (text.length < length) text += `${block.slice(from, from + length - text.length)}\n`;
    if (i % 250 === 0) text += `const needle_${i} = true;\n`;
    Deno.writeTextFileSync(
      join(directory, `file${i}.${i % 3 === 0 ? "ts" : i % 3 === 1 ? "md" : "json"}`),
      text,
    );
  }
}
