/**
 * `test` and `[` as bash has them, files seen through the guard.
 *
 * @module
 */

/** What `test` asks about files; paths are as written. */
export interface TestFiles {
  /** Links followed; null where there is nothing. */
  status(path: string): { kind: string; size: number; mode: number; modified: number } | null;
  isLink(path: string): boolean;
  /** Whether two paths are one file. */
  same(a: string, b: string): boolean;
  /** Whether the environment has a variable. */
  has(name: string): boolean;
}

/** An expression that cannot be read: status 2. */
class Malformed extends Error {}

const BINARY = new Set(
  ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"],
);
const UNARY = /^-[abcdefghknoprstuvwxzGLNORS]$/;

/** Evaluates the words after `test` (or between `[` and `]`): 0 true, 1 false, 2 malformed with the reason. */
export function evaluateTest(name: string, words: readonly string[], files: TestFiles): {
  status: number;
  error: string | null;
} {
  try {
    let args = words;
    if (name === "[") {
      if (words.at(-1) !== "]") throw new Malformed("missing `]'");
      args = words.slice(0, -1);
    }
    return { status: new Expression(args, files).evaluate() ? 0 : 1, error: null };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { status: 2, error: `${name}: ${error.message}` };
  }
}

class Expression {
  #at = 0;
  constructor(readonly args: readonly string[], readonly files: TestFiles) {}

  evaluate(): boolean {
    return this.args.length <= 4 ? this.#few(this.args) : this.#all();
  }

  #all(): boolean {
    const value = this.#or(), left = this.args[this.#at];
    if (left !== undefined) {
      throw new Malformed(
        left.startsWith("-") ? `syntax error: \`${left}' unexpected` : "too many arguments",
      );
    }
    return value;
  }

  /** POSIX fixes what up to four words mean. */
  #few(args: readonly string[]): boolean {
    const [a, b, c] = args as [string, string, string];
    switch (args.length) {
      case 0:
        return false;
      case 1:
        return a !== "";
      case 2:
        if (a === "!") return b === "";
        if (UNARY.test(a)) return this.#unary(a, b);
        throw new Malformed(`${a}: unary operator expected`);
      case 3:
        if (BINARY.has(b)) return this.#binary(a, b, c);
        if (b === "-a") return a !== "" && c !== "";
        if (b === "-o") return a !== "" || c !== "";
        if (a === "!") return !this.#few([b, c]);
        if (a === "(" && c === ")") return b !== "";
        throw new Malformed(`${b}: binary operator expected`);
      default:
        if (a === "!") return !this.#few(args.slice(1));
        if (a === "(" && args[3] === ")") return this.#few([b, c]);
    }
    return this.#all();
  }

  #or(): boolean {
    let value = this.#and();
    while (this.args[this.#at] === "-o") {
      this.#at++;
      value = this.#and() || value;
    }
    return value;
  }

  #and(): boolean {
    let value = this.#term();
    while (this.args[this.#at] === "-a") {
      this.#at++;
      value = this.#term() && value;
    }
    return value;
  }

  #term(): boolean {
    const [a, b, c] = this.args.slice(this.#at);
    if (a === undefined) throw new Malformed("argument expected");
    if (a === "!") {
      this.#at++;
      return !this.#term();
    }
    if (a === "(") {
      this.#at++;
      const value = this.#or();
      if (this.args[this.#at++] !== ")") throw new Malformed("`)' expected");
      return value;
    }
    if (b !== undefined && c !== undefined && BINARY.has(b)) {
      this.#at += 3;
      return this.#binary(a, b, c);
    }
    if (UNARY.test(a) && b !== undefined) {
      this.#at += 2;
      return this.#unary(a, b);
    }
    this.#at++;
    return a !== "";
  }

  #unary(operator: string, operand: string): boolean {
    const letter = operator[1]!;
    if (letter === "z") return operand === "";
    if (letter === "n") return operand !== "";
    if (letter === "v") return this.files.has(operand);
    if (letter === "t") return false;
    if (letter === "L" || letter === "h") return operand !== "" && this.files.isLink(operand);
    if ("pbcSoRNOG".includes(letter)) throw new Malformed(`${operator}: not supported here`);
    const status = operand === "" ? null : this.files.status(operand);
    if (status === null) return false;
    const bits: Record<string, number> = { r: 0o444, w: 0o222, x: 0o111, u: 0o4000, g: 0o2000, k: 0o1000 };
    if (letter in bits) return (status.mode & bits[letter]!) !== 0;
    if (letter === "f") return status.kind === "file";
    if (letter === "d") return status.kind === "directory";
    return letter === "s" ? status.size > 0 : true;
  }

  #binary(a: string, operator: string, b: string): boolean {
    if (operator === "=" || operator === "==") return a === b;
    if (operator === "!=") return a !== b;
    if (operator === "<") return a < b;
    if (operator === ">") return a > b;
    if (operator === "-ef") return this.files.same(a, b);
    if (operator === "-nt" || operator === "-ot") {
      const [left, right] = [this.files.status(a), this.files.status(b)];
      const [newer, older] = operator === "-nt" ? [left, right] : [right, left];
      return newer !== null && (older === null || newer.modified > older.modified);
    }
    const [left, right] = [integer(a), integer(b)];
    switch (operator) {
      case "-eq":
        return left === right;
      case "-ne":
        return left !== right;
      case "-lt":
        return left < right;
      case "-le":
        return left <= right;
      case "-gt":
        return left > right;
      default:
        return left >= right;
    }
  }
}

function integer(text: string): bigint {
  const match = /^\s*([+-]?)(\d+)\s*$/.exec(text);
  if (!match) throw new Malformed(`${text}: integer expression expected`);
  return BigInt(match[2]!) * (match[1] === "-" ? -1n : 1n);
}
