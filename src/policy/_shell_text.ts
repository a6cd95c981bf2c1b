/**
 * What is refused by the look of the text alone, and names for what is refused by its structure.
 *
 * @module
 */
import { Refusal } from "./_shell_words.ts";

const LONGEST = 32_768;

/** Refuses text before it is parsed: line ends, control and invisible characters, too much of it. */
export function checkText(command: string): void {
  if (/[\n\r]/.test(command)) throw new Refusal("more than one line");
  if (command.length > LONGEST) throw new Refusal(`a command of more than ${LONGEST} characters`);
  if (!command.isWellFormed()) throw new Refusal("broken Unicode");
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(command)) throw new Refusal("a control character");
  if (/[\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(command)) {
    throw new Refusal("a character that changes how the text is shown");
  }
  // Blanks and invisible characters that look like nothing or like a space are text to a shell: in quotes only.
  if (/[\p{Zs}\p{Cf}\u115f\u1160\u3164\uffa0\ufe00-\ufe0f]/u.test(unquoted(command).replaceAll(" ", ""))) {
    throw new Refusal("an unusual blank or invisible character outside of quotes");
  }
}

/** What stands outside of quotes. */
function unquoted(command: string): string {
  let out = "", quote = "";
  for (let i = 0; i < command.length; i++) {
    const char = command[i]!;
    if (char === "\\" && quote !== "'") {
      if (quote === "") out += command[i + 1] ?? "";
      i++;
    } else if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === "'" || char === '"') quote = char;
    else out += char;
  }
  return out;
}

/** How a message names a kind of command that is not a simple one. */
export function constructName(type: string): string {
  const names: Record<string, string> = {
    Subshell: "a subshell `( … )`",
    BraceGroup: "a group `{ … }`",
    Function: "a function definition",
    If: "`if`",
    For: "a `for` loop",
    ArithmeticFor: "a `for` loop",
    While: "a `while` or `until` loop",
    Select: "a `select` loop",
    Case: "`case`",
    Coproc: "a coprocess",
    TestCommand: "`[[ … ]]`",
    ArithmeticCommand: "arithmetic `(( … ))`",
    Redirected: "a redirection of a compound command",
    AndOr: "a nested list",
    Pipeline: "a nested pipeline",
  };
  return names[type] ?? `the construct \`${type}\``;
}
