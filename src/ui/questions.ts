/**
 * Questions that agents ask a person.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import type { Input, ReadResult } from "./input.ts";
import type { Question } from "./sink.ts";
import type { Style } from "./style.ts";
import type { Tty } from "./tty.ts";

/** What questions are asked with. */
export interface QuestionOptions {
  readonly input: Input;
  readonly tty: Tty;
  readonly style: Style;
  /** Read at every question. */
  readonly settings: Pick<Settings, "confirm_timeout">;
}

/**
 * Makes what asks a person: resolves to the answer, or null where none was given. Requests for a permission are answered
 * by `yes`, `always` or `no` and nothing else. Ctrl-C gives no answer, and does what it does while nothing is read.
 * Questions come one at a time. Never throws.
 */
export function createQuestions(options: QuestionOptions): (question: Question) => Promise<string | null> {
  return (question) =>
    options.input.exclusive(async () => {
      const late = new AbortController(), seconds = options.settings.confirm_timeout;
      const timer = seconds > 0
        ? setTimeout(() => late.abort(), Math.min(seconds * 1000, 2 ** 31 - 1))
        : undefined;
      try {
        return await askOne(options, question, late.signal);
      } catch {
        return null;
      } finally {
        clearTimeout(timer);
      }
    });
}

async function askOne(
  { input, tty, style, settings }: QuestionOptions,
  asked: Question,
  late: AbortSignal,
): Promise<string | null> {
  const { asker, question, context, permission } = asked, seconds = settings.confirm_timeout;
  const options = permission === undefined ? asked.options ?? [] : [];
  if (asked.signal?.aborted) return null;
  const head = `${asker === undefined ? "" : style.cyan(`[${one(asker)}] `)}${style.bold("?")} `;
  const lines = [`${head}${style.bold(clean(question.trim()))}`];
  if (permission !== undefined) lines.push(`  permission: ${style.yellow(one(permission))}`);
  if (context?.trim()) lines.push(...clean(context.trim()).split("\n").map((line) => style.dim(`  ${line}`)));
  lines.push(...options.map((option, i) => `  ${style.bold(String(i + 1))} ${one(option)}`));
  tty.write(`${lines.join("\n")}\n`);
  const prompt = permission !== undefined
    ? "allow? [yes/always/no] "
    : options.length > 0
    ? `answer [1${options.length > 1 ? `-${options.length}` : ""} or your own] `
    : "answer ";
  const signal = asked.signal ? AbortSignal.any([late, asked.signal]) : late;
  for (let first = true;; first = false) {
    const read: ReadResult = await input.readLine({
      prompt: style.yellow(prompt),
      fresh: true,
      ...(first ? {} : { quiet: 0 }),
      signal,
    });
    if (signal.aborted) {
      if (late.aborted) tty.write(style.dim(`(no answer in ${seconds}s)`) + "\n");
      return null;
    }
    if (read.kind === "interrupt") {
      input.interrupt();
      return null;
    }
    if (read.kind === "end") return null;
    const answer = read.text.trim();
    if (permission === undefined) {
      if (answer === "") return null;
      const number = /^\d{1,3}$/.test(answer) ? Number(answer) : 0;
      return options[number - 1] ?? answer;
    }
    const word = answer.toLowerCase();
    if (word === "y" || word === "yes") return "yes";
    if (word === "a" || word === "always") return "always";
    if (word === "n" || word === "no" || word === "") return word === "" ? null : "no";
    tty.write(style.dim('(answer "yes", "always" or "no")') + "\n");
  }
}

function clean(text: string): string {
  return cleanForTerminal(text);
}

function one(text: string): string {
  return cleanForTerminal(text, { line: true });
}
