/**
 * Looks into arguments that are programs of their own: sed scripts, awk programs, tar's first word. What is not
 * understood counts as dangerous.
 *
 * @module
 */
import type { ShellWord } from "./types.ts";

/** Which language. */
export type Script = "sed" | "awk" | "tar";

/** The word that holds the dangerous script, or null. */
export function scriptHit(kind: Script, words: readonly ShellWord[], spelled: number): string | null {
  return kind === "sed"
    ? sedHit(words, spelled)
    : kind === "awk"
    ? awkHit(words, spelled)
    : tarHit(words, spelled);
}

/** tar's old style: the first word is a cluster without a dash. An archive `HOST:FILE` starts a remote shell. */
function tarHit(words: readonly ShellWord[], spelled: number): string | null {
  const remote = words.find(({ text, pattern }, i) =>
    i >= spelled && (text.includes(":") || pattern !== undefined)
  );
  if (remote) return remote.text;
  const word = words[1];
  if (!word || word.text.startsWith("-") || spelled > 1) return null;
  return word.pattern === undefined && /^[tvfzjJaO]*t[tvfzjJaO]*$/.test(word.text) ? null : word.text;
}

function sedHit(words: readonly ShellWord[], spelled: number): string | null {
  const scripts: ShellWord[] = [], operands: ShellWord[] = [];
  let covered = true, given = false;
  const add = (index: number, text: string | undefined) => {
    given = true;
    const word = words[index];
    if (text === undefined || !word) return;
    if (index >= spelled) covered = false;
    scripts.push({ ...word, text });
  };
  for (let i = 1; i < words.length; i++) {
    const text = words[i]!.text;
    if (text === "--") {
      operands.push(...words.slice(i + 1));
      if (!given && i + 1 >= spelled) covered = false;
      break;
    }
    if (text.startsWith("--")) {
      const equals = text.indexOf("="), name = equals < 0 ? text : text.slice(0, equals);
      if ("--expression".startsWith(name)) {
        if (equals >= 0) add(i, text.slice(equals + 1));
        else add(++i, words[i]?.text);
      } else if ("--line-length".startsWith(name)) {
        if (equals < 0 && words[++i]?.pattern !== undefined) return words[i]!.text;
      } else if ("--file".startsWith(name)) {
        given = true;
        i += equals < 0 ? 1 : 0;
      }
      continue;
    }
    if (!text.startsWith("-") || text === "-") {
      if (operands.length === 0 && !given && i >= spelled) covered = false;
      operands.push(words[i]!);
      continue;
    }
    for (let at = 1; at < text.length; at++) {
      const letter = text[at]!, rest = text.slice(at + 1);
      if (letter === "e") {
        if (rest) add(i, rest);
        else add(++i, words[i]?.text);
        break;
      }
      if (letter === "f" || letter === "l") {
        given ||= letter === "f";
        const value = rest || words[++i]?.text;
        // On some systems -l takes no value, and what follows is the script.
        if (letter === "l" && !/^\d+$/.test(value ?? "")) return value ?? text;
        if (words[i]?.pattern !== undefined) return words[i]!.text;
        break;
      }
      if (letter === "i") break;
      if (!"nsErRuzab".includes(letter)) return text;
    }
  }
  if (!given && operands[0]) scripts.push(operands[0]);
  if (covered || scripts.length === 0) return null;
  const bad = scripts.some((word) => word.pattern !== undefined) ||
    !harmlessSed(scripts.map((word) => word.text).join("\n"));
  return bad ? scripts.map((word) => word.text).join(" ") : null;
}

/** Whether a sed script has only commands that neither start programs nor write files (`e`, `w`, `W`, `s///e`, `s///w`). */
export function harmlessSed(script: string): boolean {
  let i = 0;
  const blanks = () => {
    while (i < script.length && " \t".includes(script[i]!)) i++;
  };
  /** Skips to behind the next `delimiter` as sed's match_slash does. */
  const delimited = (delimiter: string): boolean => {
    for (; i < script.length; i++) {
      if (script[i] === "\\") i++;
      else if (script[i] === delimiter) return i++, true;
      else if (script[i] === "\n") return false;
    }
    return false;
  };
  const address = (): boolean => {
    const number = /^(\d+(~\d+)?|\$|[+~]\d+)/.exec(script.slice(i));
    if (number) i += number[0].length;
    else if (script[i] === "/" || script[i] === "\\") {
      const delimiter = script[i] === "\\" ? script[++i] : "/";
      i++;
      if (delimiter === undefined || delimiter === "\\" || delimiter === "\n" || !delimited(delimiter)) {
        return false;
      }
      while (i < script.length && "IM".includes(script[i]!)) i++;
    }
    return true;
  };
  while (i < script.length) {
    while (i < script.length && " \t\n;".includes(script[i]!)) i++;
    if (i >= script.length) return true;
    if (!address()) return false;
    blanks();
    if (script[i] === ",") {
      i++;
      blanks();
      if (!address()) return false;
      blanks();
    }
    while (script[i] === "!" || script[i] === " " || script[i] === "\t") i++;
    const command = script[i++];
    if (command === undefined) return true;
    if (command === "{") continue;
    if (command === "#") {
      while (i < script.length && script[i] !== "\n") i++;
      continue;
    }
    if ("aic".includes(command)) {
      for (; i < script.length && script[i] !== "\n"; i++) if (script[i] === "\\") i++;
      continue;
    }
    if ("rR".includes(command)) {
      while (i < script.length && script[i] !== "\n") i++;
      continue;
    }
    if (":btT".includes(command)) {
      const label = /^[ \t]*[A-Za-z0-9_.-]*/.exec(script.slice(i))!;
      i += label[0].length;
    } else if (command === "s" || command === "y") {
      const delimiter = script[i++];
      if (delimiter === undefined || "\\\n".includes(delimiter)) return false;
      if (!delimited(delimiter) || !delimited(delimiter)) return false;
      if (command === "s") { while (i < script.length && /[gpiIM0-9]/.test(script[i]!)) i++; }
    } else if ("qQlL".includes(command)) {
      blanks();
      while (i < script.length && /\d/.test(script[i]!)) i++;
    } else if (!"=dDgGhHnNpPxzF}".includes(command)) return false;
    blanks();
    if (i < script.length && !";\n}#".includes(script[i]!)) return false;
  }
  return true;
}

function awkHit(words: readonly ShellWord[], spelled: number): string | null {
  for (let i = 1; i < words.length; i++) {
    const { text, pattern } = words[i]!;
    const option = text.startsWith("-") && text !== "-" && text !== "--";
    if (!option) {
      const at = text === "--" ? i + 1 : i, program = words[at];
      if (!program || at < spelled) return null;
      return program.pattern !== undefined || pattern !== undefined || !harmlessAwk(program.text)
        ? program.text
        : null;
    }
    if (text === "-F" || text === "-v" || text === "--assign" || text === "--field-separator") {
      if (words[++i]?.pattern !== undefined) return words[i]!.text;
    } else if (
      !/^(-[Fv].|--(assign|field-separator)=|--(version|help|posix|re-interval|csv|traditional|lint)$|-[VP]$)/s
        .test(text)
    ) {
      // Unknown: it may take the next word, so that the program cannot be told.
      if (i >= spelled) return text;
    }
  }
  return null;
}

/** Words after which a slash begins a regular expression although they are words. */
const AWK_KEYWORDS = new Set(
  "BEGIN END BEGINFILE ENDFILE if else while for do in return exit delete print printf case switch default"
    .split(" "),
);

/** Whether an awk program neither starts programs nor opens files: no `|`, `getline`, `system`, `@`, `>` after print. */
export function harmlessAwk(program: string): boolean {
  let i = 0, printing = false;
  /** What stood before: decides whether a slash divides. */
  let last: "operand" | "close" | "operator" = "operator";
  const quotedEnd = (end: string): boolean => {
    for (i++; i < program.length; i++) {
      if (program[i] === "\\") i++;
      else if (program[i] === "\n") return false;
      else if (program[i] === end) return i++, true;
    }
    return false;
  };
  while (i < program.length) {
    const char = program[i]!, rest = program.slice(i);
    const word = /^[A-Za-z_][A-Za-z0-9_:]*/.exec(rest)?.[0];
    if (word) {
      if (word === "system" || word === "getline" || word.includes("::")) return false;
      printing ||= word === "print" || word === "printf";
      last = AWK_KEYWORDS.has(word) ? "operator" : word === "length" ? "close" : "operand";
      i += word.length;
    } else if (/^[0-9.]/.test(rest)) {
      i += /^[0-9.]+([eE][+-]?[0-9]+)?[A-Fa-fxX0-9]*/.exec(rest)![0].length;
      last = "operand";
    } else if (char === '"') {
      if (!quotedEnd('"')) return false;
      last = "operand";
    } else if (char === "/") {
      if (last === "operator") {
        if (!regexEnd()) return false;
        last = "operand";
      } else {
        // After a value it divides. After `)` it may begin an expression as well, if there is a second slash.
        if (last === "close" && rest.slice(1).includes("/")) return false;
        i++;
        last = "operator";
      }
    } else if (char === "#") {
      while (i < program.length && program[i] !== "\n") i++;
    } else if (char === "|") {
      if (program[i + 1] !== "|") return false;
      i += 2;
      last = "operator";
    } else if (char === ">") {
      if (printing) return false;
      i++;
      last = "operator";
    } else if (char === "@" || char === "\\" || char === "`") return false;
    else {
      if (";{}\n".includes(char)) printing = false;
      if (char === ")") last = "close";
      else if (char === "]") last = "operand";
      else if (!" \t".includes(char)) last = /^(\+\+|--)/.test(rest) ? "close" : "operator";
      i += /^(\+\+|--)/.test(rest) ? 2 : 1;
    }
  }
  return true;

  /** A regular expression ends at the first slash that is neither escaped nor, for some awks, in brackets: no brackets with slashes. */
  function regexEnd(): boolean {
    const start = i;
    if (!quotedEnd("/")) return false;
    const body = program.slice(start + 1, i - 1);
    const bracket = body.replace(/\\./gs, "").lastIndexOf("[");
    return bracket < 0 || body.replace(/\\./gs, "").indexOf("]", bracket) > bracket;
  }
}
