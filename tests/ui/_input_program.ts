/**
 * A program that reads from a terminal as its first argument says; tests drive it in a pty.
 *
 * @module
 */
import { Input } from "../../src/ui/input.ts";
import { openTty } from "../../src/ui/tty.ts";

const [what, argument = ""] = Deno.args;
const tty = openTty({ env: (name) => Deno.env.get(name) });
const input = new Input(tty);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Lines until "quit", each shown as JSON. */
async function lines(): Promise<void> {
  const history = {
    entries: ["first entry", "second entry", "three\nlines\nof it"] as string[],
    add(text: string) {
      this.entries.push(text);
    },
  };
  const words = ["apple", "apricot", "banana split "];
  while (true) {
    const result = await input.readLine({
      prompt: argument === "long" ? "a prompt that is longer than forty columns are wide> " : "> ",
      history,
      hidden: argument === "hidden",
      complete: (line, cursor) => {
        const from = line.lastIndexOf(" ", cursor - 1) + 1, start = line.slice(from, cursor);
        const items = words.filter((word) => word.startsWith(start)).map((text) => ({ text }));
        return Promise.resolve({ from, items });
      },
    });
    tty.write(`${JSON.stringify(result)}\n`);
    if (result.kind === "end" || (result.kind === "line" && result.text === "quit")) return;
  }
}

input.start();
if (what === "lines") await lines();
else if (what === "busy") {
  // A turn of some length, then a line.
  const stop = input.onInterrupt(() => tty.write("interrupted\n"));
  tty.write("working\n");
  await pause(Number(argument));
  stop();
  tty.write("ready\n");
  await lines();
} else if (what === "crash") {
  void lines();
  await pause(300);
  throw new Error("crashed");
} else if (what === "confirm") {
  const { createConfirm } = await import("../../src/ui/confirm.ts");
  const { createStyle } = await import("../../src/ui/style.ts");
  const { requestOf, runTool } = await import("./_questions.ts");
  const rules = { choices: () => [], remember: () => Promise.resolve(), explain: () => ["the trail"] };
  const settings = { glyph_params: true, confirm_timeout: 0 };
  const confirm = createConfirm({ input, tty, style: createStyle(tty.color), settings, rules });
  tty.write("working\n");
  await pause(Number(argument));
  const answer = await confirm(requestOf(runTool, { command: "git push --force && echo 你好" }));
  tty.write(`${JSON.stringify(answer)}\n`);
  await lines();
}
input.close();
tty.write("left\n");
Deno.exit(0);
