/**
 * The question before a call that needs a yes.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { messageOf } from "../errors.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import type { ConsentChoice, ConsentRules } from "./consent.ts";
import { editable } from "./_confirm/editing.ts";
import { argumentLines, type CallView, viewCall } from "./_confirm/view.ts";
import type { Input } from "./input.ts";
import type { Key } from "./keys.ts";
import type { ConfirmAnswer, ConfirmRequest } from "./sink.ts";
import type { Style } from "./style.ts";
import type { Tty } from "./tty.ts";

/** What questions are asked with. */
export interface ConfirmOptions {
  readonly input: Input;
  readonly tty: Tty;
  readonly style: Style;
  /** Read at every question. */
  readonly settings: Pick<Settings, "glyph_params" | "confirm_timeout">;
  readonly rules: ConsentRules;
}

/** Makes the prompt that asks: y, n, a (always), e (edit), ? (why). Questions come one at a time. Never throws. */
export function createConfirm(options: ConfirmOptions): (request: ConfirmRequest) => Promise<ConfirmAnswer> {
  return (request) =>
    options.input.exclusive(async () => {
      const question = new Confirmation(options, request);
      try {
        return await question.ask();
      } catch (error) {
        options.tty.write(`\n${options.style.red(`error: ${one(messageOf(error))}; declined`)}\n`);
        return "no";
      } finally {
        question.end();
      }
    });
}

type Pressed = Key | "cancel" | "gone" | "late";

class Confirmation {
  readonly #options: ConfirmOptions;
  readonly #request: ConfirmRequest;
  readonly #choices: readonly ConsentChoice[];
  readonly #editable: readonly string[];
  readonly #late = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #seconds: number;
  /** The person has begun to answer: keys count at once. */
  #answering = false;

  constructor(options: ConfirmOptions, request: ConfirmRequest) {
    this.#options = options;
    this.#request = request;
    this.#choices = options.rules.choices(request);
    this.#editable = editable(request.tool, request.args);
    this.#seconds = options.settings.confirm_timeout;
    if (this.#seconds > 0) {
      this.#timer = setTimeout(() => this.#late.abort(), Math.min(this.#seconds * 1000, 2 ** 31 - 1));
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  async ask(): Promise<ConfirmAnswer> {
    const { style } = this.#options;
    const view = await viewCall(this.#request, this.#options.settings, style);
    this.#lines(view.lines);
    // A diff may be long; of what a shell will read nothing is taken on trust.
    let unseen = view.cut && this.#request.tool.commandArg !== undefined;
    for (;;) {
      const pressed = await this.#press(this.#prompt(view));
      if (pressed === "cancel") return this.#say("cancelled", "cancel");
      if (pressed === "gone") return this.#say("no", "no");
      if (pressed === "late") return this.#say(`no answer in ${this.#seconds}s: no`, "no");
      const word = wordOf(pressed);
      if (word === "y" || word === "yes") {
        if (!unseen) return this.#say("yes", "yes");
        // Nobody says yes to what was not shown.
        this.#say("first all of it:", "no");
        this.#lines(argumentLines(this.#request.args, style));
        unseen = false;
      } else if (word === "n" || word === "no" || pressed.name === "escape") return this.#say("no", "no");
      else if (word === "?" || word === "h" || word === "help") {
        this.#say("why", "no");
        this.#lines(this.#options.rules.explain(this.#request).map((line) => style.dim(`  ${one(line)}`)));
      } else if (word === "v" && view.cut) {
        this.#say("all of it:", "no");
        this.#lines(argumentLines(this.#request.args, style));
        unseen = false;
      } else if ((word === "a" || word === "always") && this.#choices.length > 0) {
        const answer = await this.#always();
        if (answer !== null) return answer;
      } else if ((word === "e" || word === "edit") && this.#editable.length > 0) {
        const answer = await this.#edit();
        if (answer !== null) return answer;
      } else this.#say("?", "no");
    }
  }

  /** Offers rules; null: back to the question. */
  async #always(): Promise<ConfirmAnswer | null> {
    const { style, rules } = this.#options;
    this.#say("always", "no");
    const offered = this.#choices.slice(0, 9);
    this.#lines(offered.map(({ label }, i) => `  ${style.bold(String(i + 1))} ${one(label)}`));
    const pressed = await this.#press(`which? [1${offered.length > 1 ? `-${offered.length}` : ""}, n] `);
    if (pressed === "cancel") return this.#say("cancelled", "cancel");
    if (pressed === "gone" || pressed === "late") return this.#say("no", "no");
    const choice = offered[/^[1-9]$/.test(wordOf(pressed)) ? Number(wordOf(pressed)) - 1 : -1];
    if (!choice) return this.#say("none", null);
    this.#say(wordOf(pressed), null);
    const where = choice.lasts === "project" ? "is saved for this project" : "holds for this session";
    this.#lines([`  ${style.bold(one(choice.rule))} ${style.dim(`(${where})`)}`]);
    const sure = await this.#press("keep this rule and run the call? [y/n] ");
    if (sure === "cancel") return this.#say("cancelled", "cancel");
    if (sure === "gone" || sure === "late") return this.#say("no", "no");
    if (wordOf(sure) !== "y" && wordOf(sure) !== "yes") return this.#say("no", null);
    this.#say("yes", null);
    try {
      await rules.remember(this.#request, choice);
    } catch (error) {
      this.#lines([style.red(`error: the rule was not kept: ${one(messageOf(error))}`)]);
      return null;
    }
    return "yes";
  }

  /** Lets the person change the call; null: back to the question. */
  async #edit(): Promise<ConfirmAnswer | null> {
    const { input, style } = this.#options, { args, tool } = this.#request;
    this.#say("edit", null);
    let name = this.#editable[0]!;
    if (this.#editable.length > 1) {
      const offered = this.#editable.slice(0, 9);
      this.#lines(offered.map((each, i) => `  ${style.bold(String(i + 1))} ${one(each)}`));
      const pressed = await this.#press(`which? [1-${offered.length}, n] `);
      if (pressed === "cancel") return this.#say("cancelled", "cancel");
      if (pressed === "gone" || pressed === "late") return this.#say("no", "no");
      const picked = offered[/^[1-9]$/.test(wordOf(pressed)) ? Number(wordOf(pressed)) - 1 : -1];
      if (picked === undefined) return this.#say("none", null);
      this.#say(wordOf(pressed), null);
      name = picked;
    }
    const before = String(args[name]);
    const read = await input.readLine({
      prompt: style.cyan(name === tool.commandArg ? "$ " : `${one(name)}: `),
      continuation: style.dim("· "),
      initial: before,
      lines: "text",
      fresh: true,
      quiet: 0,
      signal: this.#late.signal,
    });
    if (this.#late.signal.aborted || read.kind === "end") return this.#say("no", "no");
    if (read.kind !== "line" || read.text === before) {
      this.#lines([style.dim("  (unchanged)")]);
      return null;
    }
    return { edit: { ...args, [name]: read.text } };
  }

  #prompt(view: CallView): string {
    const { style } = this.#options;
    const keys = [
      "y",
      "n",
      ...(this.#choices.length > 0 ? ["a"] : []),
      ...(this.#editable.length > 0 ? ["e"] : []),
      ...(view.cut ? ["v"] : []),
      "?",
    ];
    const words: Record<string, string> = {
      y: "yes",
      n: "no",
      a: "always…",
      e: "edit",
      v: "view all",
      "?": "why",
    };
    const long = keys.map((key) => key === "?" ? "? why" : `${key} ${words[key]}`).join("  ");
    const text = long.length + 12 < this.#options.tty.columns ? long : keys.join("/");
    return `${style.yellow("approve?")} [${text}] `;
  }

  async #press(prompt: string): Promise<Pressed> {
    const { input, tty } = this.#options;
    tty.write(prompt);
    if (this.#late.signal.aborted) return "late";
    for (;;) {
      const key = await input.readKey({
        signal: this.#late.signal,
        ...(this.#answering ? { quiet: 0 } : {}),
      });
      if (key === null) return this.#late.signal.aborted ? "late" : "gone";
      if (key.ctrl && key.name === "c") return "cancel";
      if (key.ctrl && key.name === "d") return "gone";
      this.#answering = true;
      // Enter says nothing: it may be the end of a line that was typed ahead.
      if (wordOf(key) !== "" || key.name === "escape") return key;
    }
  }

  #say<T>(word: string, answer: T): T {
    this.#options.tty.write(`${word}\n`);
    return answer;
  }

  #lines(lines: readonly string[]): void {
    if (lines.length > 0) this.#options.tty.write(`${lines.join("\n")}\n`);
  }
}

/** What was typed in one go, as a word; nothing for all other keys. */
function wordOf(key: Key): string {
  return key.name === "text" && !key.ctrl && !key.alt ? key.text!.trim().toLowerCase() : "";
}

function one(text: string): string {
  return cleanForTerminal(text, { line: true });
}
