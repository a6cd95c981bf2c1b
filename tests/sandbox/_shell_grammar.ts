/**
 * Random command lines, seeded: a grammar that favours what readers of shell text get wrong.
 *
 * @module
 */

/** A seeded source of numbers in [0, 1) (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What a grammar draws from. */
export interface Grammar {
  /** Command names (some may have arguments). */
  readonly programs: readonly string[];
  /** Pieces of words. */
  readonly atoms: readonly string[];
  readonly operators: readonly string[];
  readonly redirects: readonly string[];
  /** Put anywhere, now and then. */
  readonly noise: readonly string[];
}

const ATOMS = [
  "a", "b", "c1", "b.txt", "a.txt", "*.txt", "*", "?", "[ab]*", "[!a]*", "[a-c].txt", "d/*", "d/?.md", "*/", "./*", "'q q'", "'a\"b'",
  '"d $V"', '"x\\$V"', '"a\\\\b"', '"a\\b"', "$V", "${V}", "$W", '"$W"', "$E", '"$E"', "$U", '"${U}"', "$S", "\\ ", "\\*", "\\$V", "\\\\",
  "\\'", "{a,b}", "{a,b", "a}", "{}", "{a}", "{a,{b,c}}", "x{,y}", "{*.txt,b}", "{a,'b c'}", "{$V,z}", "~", "~/x", "x~", "#x", "x#y", "$'t\\tz'", "$'\\x41'",
  "é", "日本", "😀", "a=b", "=", "-n", "-e", "--", "-", "!", "''", '""', "%", "@", "+", ",", ":", "^", "1", "2", "10", "[", "]", "[a", "a]", ".", "..", ".*", "/", "'|'", '";"',
  "'$(x)'", '"&&"', "\\|", "\\;", "\\&", "\\>", "'*'", '"?"', "[[:digit:]]*", "[]a]*", "[^b]*", "*a*", "**", "c?", "$", "$$x",
] as const;

/** What a shell accepts and bash and polyglav must read alike. */
export const PLAIN: Grammar = {
  programs: ["rec", "rec", "ok", "no", "two", "echo", "printf '%s,'", "true", "false", ":", "test", "[", "pwd", "cd d", "cd nowhere", "exit", "nope", "'r'ec", "r\\ec", '"rec"'],
  atoms: ATOMS,
  operators: [" | ", "|", " && ", "&&", " || ", "||", "; ", ";", " |& ", "|&", " & ", "&"],
  redirects: [">out", "> out", ">>out", "2>err", "2>&1", ">/dev/null", "<a.txt", "< nofile", "&>out", "&>>out", ">&2", "1>&2", ">|out", ">nodir/x", "2>/dev/null", ">& out", ">'o p'", ">$E", ">$V"],
  noise: ["! ", " ", "  ", "\t"],
};

/** With everything that must be refused. */
export const HOSTILE: Grammar = {
  programs: [
    ...PLAIN.programs, "evil", "evil", "/bin/evil", "./evil", "../evil", "eval", "exec", "command", "builtin", "source", ".", "env", "xargs", "sh -c", "bash -c", "sudo", "time", "coproc",
    "find . -exec", "find .", "find . -name x", "git log", "git -c a=b log", "git log --output=x", "sort", "sort -o", "rec2", "recc", "re", "x=1", "x=1 rec", "$V", "${V}", "$(evil)", "`evil`", "{rec,evil}", "r?c", "~", "''", "if", "then", "{", "(", "[[", "((",
    "function f", "f()", "for x in a; do", "while", "case a in", "!", "r\u200bec", "rec\u00a0evil", "\u00a0rec", "\u3000", "rec\nevil", "rec\revil", "rec;evil", "rec&evil", "rec|evil", "trap", "alias", "set", "export", "read", "deno", "polyglav",
  ],
  atoms: [
    ...ATOMS, "$(evil)", "`evil`", '"$(evil)"', '"`evil`"', "<(evil)", ">(evil)", "${V:-$(evil)}", "${!V}", "${#V}", "$((1))", "$[1]", "$1", "$@", "$*", "$?", "$!", "$-", "$0", "$_", "${V/a/b}",
    "!(a)", "@(a|b)", "{1..3}", "~root", "~+", "a=~/x", "-exec", "evil", ";", "evil", "-delete", "-o", "--output=x", "--out=x", "-c", "$'\\0'", "$'\\c'", '$"x"', "\\\n", "\n", "\r", "\0", "\x1b", "\x07", "# evil", "#", "<<E", "<<<x", "'", '"', "`", "(", ")", "$(", "${", "\\",
    "\u2028", "\u202eevil", "\ud800", "\u200b", "\u00a0", "\ufeff",
  ],
  operators: [...PLAIN.operators, " ;; ", "\n", " \n ", "&&&", "|||", ";;", "; ;", " & & ", "\r\n", " # ", " ) ", " ( ", "&>", " and ", "\\\n", "\\;", "';'"],
  redirects: [...PLAIN.redirects, "<<E", "<<<x", "<>out", "3>out", "2>&3", "2>&-", ">&-", "{fd}>out", ">$(evil)", "> >(evil)", "< <(evil)", "<&0", ">/dev/tcp/a/1", ">/dev/stderr", ">*.txt", ">{a,b}", ">", "2>", "&>", ">\n"],
  noise: [...PLAIN.noise, "\n", "\\\n", "'", '"', "$(", ")", "`", "(", "{", "}", "#", ";", "&", "|", "\u00a0", "\u200b", "x=1 ", "time ", "!"],
};

/** One command line. */
export function commandLine(grammar: Grammar, next: () => number): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)]!;
  const word = (): string => {
    let text = pick(grammar.atoms);
    while (next() < 0.3) text += pick(grammar.atoms);
    return text;
  };
  const simple = (): string => {
    const parts = [pick(grammar.programs)];
    for (let count = Math.floor(next() * 4); count > 0; count--) parts.push(word());
    if (next() < 0.25) parts.splice(1 + Math.floor(next() * parts.length), 0, pick(grammar.redirects));
    if (next() < 0.03) parts.unshift(pick(grammar.redirects));
    return parts.join(next() < 0.1 ? "  " : " ");
  };
  let line = next() < 0.05 ? "! " : "";
  line += simple();
  while (next() < 0.4) line += pick(grammar.operators) + simple();
  if (next() < 0.05) line += pick([";", " ;", "&", " &", " "]);
  if (next() < 0.1) {
    const at = Math.floor(next() * (line.length + 1));
    line = line.slice(0, at) + pick(grammar.noise) + line.slice(at);
  }
  return line;
}
