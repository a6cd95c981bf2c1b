import assert from "node:assert/strict";
import {
  checkCommand,
  type CommandInput,
  describeRefusal,
  planAllowed,
  prefixWords,
} from "../../src/policy/shell_command.ts";
import type { CommandPlan } from "../../src/policy/types.ts";

const ENV = {
  HOME: "/home/u",
  PATH: "/bin",
  TWO: "a b",
  STAR: "*.ts",
  EMPTY: "",
  LEAD: " x ",
  BACK: "a\\*b",
  TERM: "dumb",
};

function check(
  command: string,
  prefixes: readonly string[] = ["echo", "git log", "ls", "cat"],
  more: Partial<CommandInput> = {},
): CommandPlan {
  return checkCommand(command, {
    prefixes,
    worktree: "/w",
    cwd: "/w",
    env: ENV,
    shell: "/bin/bash",
    home: "/nobody",
    ...more,
  });
}

/** The words of the first command, patterns marked. */
function words(command: string, prefixes = ["echo", "ls"]): string[] {
  const plan = check(command, prefixes);
  assert.ok(planAllowed(plan), describeRefusal(plan, prefixes));
  return plan.tree!.chains[0]!.first.commands[0]!.words.map(({ text, pattern }) =>
    pattern === undefined ? text : `glob:${pattern}`
  );
}

Deno.test("without prefixes the user's shell runs the text as it is", () => {
  assert.deepEqual(check("anything $(at all)\n", []), {
    mode: "shell",
    segments: [{
      text: "anything $(at all)\n",
      allowed: true,
      reason: "no allowlist is set: the user's shell runs it",
    }],
    programs: ["/bin/bash"],
    paths: [],
    refused: null,
  });
});

const REFUSED: readonly [what: string, command: string, names: RegExp][] = [
  ["a newline", "echo a\necho b", /more than one line/],
  ["a carriage return", "echo a\recho b", /more than one line/],
  ["a line continuation", "echo a\\\necho b", /more than one line/],
  ["command substitution", "echo $(ls)", /command substitution/],
  ["command substitution in quotes", 'echo "a $(ls)"', /command substitution/],
  ["backticks", "echo `ls`", /command substitution/],
  ["backticks in quotes", 'echo "`ls`"', /command substitution/],
  ["a function substitution", "echo ${ ls; }", /is not allowed/],
  ["process substitution in", "cat <(ls)", /process substitution/],
  ["process substitution out", "ls > >(cat)", /is not allowed/],
  ["a here-document", "cat <<E", /here-document|parsed/],
  ["a here-string", "cat <<< x", /here-string/],
  ["a subshell", "(ls)", /subshell/],
  ["a group", "{ ls; }", /group/],
  ["a function", "f() { ls; }", /function/],
  ["a function by keyword", "function f { ls; }", /function/],
  ["if", "if ls; then ls; fi", /`if`/],
  ["for", "for x in a; do ls; done", /`for`/],
  ["an arithmetic for", "for ((;;)); do ls; done", /`for`/],
  ["while", "while ls; do ls; done", /`while`/],
  ["until", "until ls; do ls; done", /`while`/],
  ["select", "select x in a; do ls; done", /`select`/],
  ["case", "case a in a) ls;; esac", /`case`/],
  ["a coprocess", "coproc ls", /coprocess/],
  ["[[", "[[ a ]]", /\[\[/],
  ["((", "((1))", /arithmetic/],
  ["time", "time ls", /time/],
  ["an assignment", "X=1", /assignment/],
  ["an assignment before a command", "X=1 ls", /assignment/],
  ["an array assignment", "X=(1) ls", /is not allowed/],
  ["arithmetic expansion", "echo $((1))", /arithmetic/],
  ["old arithmetic expansion", "echo $[1]", /is not allowed/],
  ["a positional parameter", "echo $1", /parameter `\$1`/],
  ["all parameters", 'echo "$@"', /parameter `\$@`/],
  ["the exit status", "echo $?", /parameter `\$\?`.*exit status/],
  ["the process id", "echo $$", /parameter/],
  ["the last argument", "echo $_", /own variable/],
  ["a random number", "echo $RANDOM", /own variable/],
  ["a default", "echo ${X:-a}", /parameter/],
  ["a default that runs something", "echo ${X:-$(ls)}", /parameter/],
  ["an indirection", "echo ${!X}", /parameter/],
  ["a length", "echo ${#X}", /parameter/],
  ["a replacement", "echo ${X/a/b}", /parameter/],
  ["an array element", "echo ${X[0]}", /parameter/],
  ["a translated string", 'echo $"a"', /translated/],
  ["an unknown escape", "echo $'\\cA'", /escape/],
  ["a NUL escape", "echo $'\\x00'", /escape/],
  ["an extended pattern", "ls !(a)", /extended pattern/],
  ["an extended pattern of alternatives", "ls @(a|b)", /extended pattern/],
  ["a sequence in braces", "echo {1..3}", /sequence/],
  ["a variable beside braces", "echo $TWO{a,b}c", /variable beside a brace/],
  ["a dollar out of braces", "echo {$,a}TWO", /variable beside a brace/],
  ["another user's home", "ls ~root", /`~` with a name/],
  ["the working directory by ~", "ls ~+", /`~` with a name/],
  ["~ after an equal sign", "echo a=~/x", /`~` after/],
  ["~ after a colon", "echo a:~/x", /`~` after/],
  ["a comment", "echo a # b", /comment/],
  ["a comment alone", "# echo", /empty command|comment/],
  ["nothing", "", /empty command/],
  ["blanks", "  \t ", /empty command/],
  ["a lone operator", "|| ls", /parsed/],
  ["! alone", "!", /`!` without|empty command/],
  ["! at the end", "ls; !", /`!` without|parsed/],
  ["two operators", "ls && && ls", /parsed/],
  ["two semicolons", "ls ;; ls", /parsed/],
  ["an open quote", "echo 'a", /parsed/],
  ["an open double quote", 'echo "a', /parsed/],
  ["an open substitution", "echo $(a", /parsed|substitution/],
  ["a backslash at the end", "echo a\\", /backslash/],
  ["a NUL", "echo a\0b", /control character/],
  ["an escape character", "echo '\x1b[2J'", /control character/],
  ["a C1 control", "echo '\x9b'", /control character/],
  ["a right-to-left override", "echo '\u202egnp'", /how the text is shown/],
  ["a line separator", "echo '\u2028'", /how the text is shown/],
  ["a broken surrogate", "echo '\ud800'", /Unicode/],
  ["a no-break space", "echo\u00a0a", /unusual blank/],
  ["an ideographic space", "echo\u3000a", /unusual blank/],
  ["a zero-width space", "l\u200bs", /unusual blank/],
  ["a byte order mark", "\ufeffecho a", /unusual blank/],
  ["a variable as command", "$TWO", /variable in the name/],
  ["a variable in a command", "l${TWO}s", /variable in the name/],
  ["a quoted variable as command", '"$TWO"', /variable in the name/],
  ["a wildcard as command", "l?", /wildcard in the name/],
  ["a brace as command", "{ls,cat}", /brace in the name/],
  ["~ as command", "~/x", /`~` in the name/],
  ["an empty command", "'' ls", /empty command name/],
  ["a redirection alone", "> f", /redirection without a command/],
  ["reading and writing", "cat <> f", /redirection `<>`/],
  ["a third descriptor", "ls 3> f", /descriptor 3/],
  ["copying a third descriptor", "ls >&3", />&3/],
  ["closing a descriptor", "ls 2>&-", />&-/],
  ["moving a descriptor", "ls 2>&1-", />&1-/],
  ["a descriptor in a variable", "ls {fd}> f", /to a variable/],
  ["copying standard input", "cat <&0", /redirection `<&`/],
  ["writing standard input", "cat 0> f", /descriptor 0/],
  ["reading standard output", "cat 1< f", /descriptor 1/],
  ["a wildcard target", "echo a > *.ts", /wildcard in a redirection/],
  ["two targets", "echo a > $TWO", /ambiguous/],
  ["no target by an empty variable", "echo a > $EMPTY", /ambiguous/],
  ["an empty target", "echo a > ''", /ambiguous/],
  ["a network device", "echo a > /dev/tcp/127.0.0.1/80", /\/dev\/tcp/],
  ["a device in disguise", "echo a > /dev/./tcp/127.0.0.1/80", /\/dev\/.\/tcp/],
  ["another device", "echo a > /dev/stderr", /\/dev\/stderr/],
  ["a backslash in a variable's pattern", "ls $BACK", /backslash from a variable/],
  ["a collating symbol", "ls [[.a.]]*", /collating/],
  ["$PWD after cd", "cd a; echo $PWD", /\$PWD/],
  ["cd -", "cd -", /cd -/],
  ["cd with a wildcard", "cd *", /wildcard after/],
  ["cd with two directories", "cd a b", /several/],
  ...[
    "eval",
    "exec",
    "source",
    ".",
    "command",
    "builtin",
    "export",
    "set",
    "unset",
    "alias",
    "trap",
    "read",
    "declare",
    "type",
    "wait",
    "umask",
    "let",
    "shopt",
  ]
    .map((
      name,
    ): [string, string, RegExp] => [
      `the builtin ${name}`,
      `${name} ls`,
      new RegExp(`shell builtin .${name === "." ? "[.]" : name}.`),
    ]),
];

for (const [what, command, names] of REFUSED) {
  Deno.test(`refused whatever the list says: ${what}`, () => {
    const first = command.trim().split(/\s/)[0] ?? "";
    const plan = check(command, ["echo", "ls", "cat", first === "" ? "x" : first]);
    assert.ok(!planAllowed(plan), "let through");
    assert.equal(plan.tree, undefined);
    assert.match(describeRefusal(plan, ["echo"]), names);
    assert.ok(plan.refused, "the construct is named");
  });
}

Deno.test("what is let through has the words that bash would make", () => {
  const cases: readonly [string, string[]][] = [
    ["echo a  b", ["echo", "a", "b"]],
    ["e'c'h\"o\" x", ["echo", "x"]],
    ["ec\\ho x", ["echo", "x"]],
    ["echo 'a b' \"c d\" e\\ f", ["echo", "a b", "c d", "e f"]],
    ["echo 'a'\"b\"c", ["echo", "abc"]],
    ["echo '$TWO' \"$TWO\" $TWO", ["echo", "$TWO", "a b", "a", "b"]],
    ["echo x${TWO}y", ["echo", "xa", "by"]],
    ["echo x$LEAD.", ["echo", "x", "x", "."]],
    ["echo $EMPTY \"$EMPTY\" $UNSET ''", ["echo", "", ""]],
    ['echo "\\$TWO \\\\ \\a \\""', ["echo", '$TWO \\ \\a "']],
    ["echo \\$TWO \\* \\'", ["echo", "$TWO", "*", "'"]],
    ["echo 'one && two' \"three & four\" 'a > b' ';'", ["echo", "one && two", "three & four", "a > b", ";"]],
    ["echo a#b", ["echo", "a#b"]],
    ["echo $'a\\tb\\x41\\u00e9'", ["echo", "a\tbA\u00e9"]],
    ["echo {a,b}c x{,y} {a,{b,c}}", ["echo", "ac", "bc", "x", "xy", "a", "b", "c"]],
    ["echo {a} {} a{b {a,b", ["echo", "{a}", "{}", "a{b", "{a,b"]],
    ["echo '{a,b}' \"{a,b}\" \\{a,b}", ["echo", "{a,b}", "{a,b}", "{a,b}"]],
    ["echo ~ ~/x x~ '~' \\~", ["echo", "/home/u", "/home/u/x", "x~", "~", "~"]],
    ["echo $HOME ${HOME}/x", ["echo", "/home/u", "/home/u/x"]],
    ["echo $PWD", ["echo", "/w"]],
    ['echo $ a$ "$" $%', ["echo", "$", "a$", "$", "$%"]],
    ["echo a=b --x=y", ["echo", "a=b", "--x=y"]],
    ["ls *.ts a?c [ab]* d/*", ["ls", "glob:*.ts", "glob:a?c", "glob:[ab]*", "glob:d/*"]],
    ["ls '*'.ts \\*a* \"a\"*", ["ls", "*.ts", "glob:\\*a*", "glob:\\a*"]],
    ['ls $STAR "$STAR"', ["ls", "glob:*.ts", "*.ts"]],
    ["ls {*.ts,b} {a,'b c'} {$TWO,z}", ["ls", "glob:*.ts", "b", "a", "b c", "a", "b", "z"]],
    ["echo 😀 日本", ["echo", "😀", "日本"]],
    ["echo '\u00a0' \"👩\u200d💻\"", ["echo", "\u00a0", "👩\u200d💻"]],
    ["echo if then { }", ["echo", "if", "then", "{", "}"]],
  ];
  for (const [command, expected] of cases) assert.deepEqual(words(command), expected, command);
});

Deno.test("a prefix matches word by word, after quote removal", () => {
  const allowed = (command: string, prefixes: string[]) => planAllowed(check(command, prefixes));
  assert.ok(allowed("git log", ["git"]));
  assert.ok(allowed("'g'it \"log\" --oneline", ["git log"]));
  assert.ok(allowed("./tool.sh a", ["./tool.sh"]));
  assert.ok(allowed("/usr/bin/ls", ["/usr/bin/ls"]));
  assert.ok(allowed("python -m unittest -v", ["python -m unittest"]));
  assert.ok(allowed("awk '{print $1}' f", ["awk '{print $1}'"]));
  for (
    const [command, prefix] of [
      ["gitleaks", "git"],
      ["git-evil", "git"],
      ["git logx", "git log"],
      ["git", "git log"],
      ["git 'log x'", "git log"],
      ["'git log'", "git log"],
      ["python -c x", "python -m unittest"],
      ["/tmp/git log", "git"],
      ["./git log", "git"],
      ["git log", "/usr/bin/git"],
      ["tool.sh", "./tool.sh"],
      ["GIT log", "git"],
      ["git l*", "git log"],
      ["ls", ""],
      ["ls", "   "],
      ["ls", "'ls"],
      ["echo a", "e"],
    ] as const
  ) assert.ok(!allowed(command, [prefix, "nothing"]), `${command} under ${prefix}`);
});

Deno.test("entries split as a shell would split them", () => {
  assert.deepEqual(prefixWords("  git   log "), ["git", "log"]);
  assert.deepEqual(prefixWords('find . -exec grep \'a b\' "c\\"d" \\;'), [
    "find",
    ".",
    "-exec",
    "grep",
    "a b",
    'c"d',
    ";",
  ]);
  assert.deepEqual(prefixWords("a''b ''"), ["ab", ""]);
  for (const bad of ["", " ", "a 'b", 'a "b', "a\\"]) assert.equal(prefixWords(bad), null);
});

Deno.test("the executor's own commands need no entry, but echo and printf do", () => {
  for (const command of ["cd a", "pwd", "true", "false", ":", "test -f a", "[ -f a ]", "exit 1"]) {
    const plan = check(command, ["nothing"]);
    assert.ok(planAllowed(plan), command);
    assert.deepEqual(plan.programs, []);
  }
  for (const command of ["echo a", "printf a"]) assert.ok(!planAllowed(check(command, ["nothing"])));
});

Deno.test("every command of the line gets its verdict, and all refusals are told", () => {
  const plan = check("echo a | tee x && git log; rm -rf y || (ls) & touch z", ["echo", "git log"]);
  assert.deepEqual(plan.segments.map(({ text, allowed }) => [text, allowed]), [
    ["echo a", true],
    ["tee x", false],
    ["git log", true],
    ["rm -rf y", false],
    ["(ls)", false],
    ["touch z", false],
  ]);
  const text = describeRefusal(plan, ["echo", "git log"]);
  for (
    const part of [
      "`tee` matches no entry (in: tee x)",
      "`rm`",
      "subshell",
      "`touch`",
      "allowed: echo, git log",
    ]
  ) {
    assert.ok(text.includes(part), `${part} in ${text}`);
  }
  assert.deepEqual(plan.refused, { construct: "a subshell `( … )`", segment: "(ls)" });
  assert.doesNotMatch(text, /\n/);
});

Deno.test("a verdict shows the words as they run, its prefix and its program", () => {
  const [verdict] = check("echo 'a b' $TWO >> out.txt 2>&1", ["echo"]).segments;
  assert.deepEqual(verdict, {
    text: "echo 'a b' a b >> out.txt 2>&1",
    allowed: true,
    reason: "matches `echo`",
    program: "echo",
    argv: ["echo", "a b", "a", "b"],
  });
});

Deno.test("lists and pipelines keep their structure", () => {
  const plan = check("! ls | cat |& cat && ls || echo b; ls & ls");
  assert.deepEqual(
    plan.tree!.chains.map(({ first, rest, background }) => [
      first.negated,
      first.commands.map(({ words, redirects }) => [words[0]!.text, redirects]),
      rest.map(({ operator, pipeline }) => [operator, pipeline.commands.length]),
      background,
    ]),
    [
      [
        true,
        [["ls", []], ["cat", [{ fd: 2, kind: "copy", from: 1 }]], ["cat", []]],
        [["&&", 1], ["||", 1]],
        false,
      ],
      [false, [["ls", []]], [], true],
      [false, [["ls", []]], [], false],
    ],
  );
});

Deno.test("redirections become descriptors in their order", () => {
  const of = (command: string) => check(command).tree!.chains[0]!.first.commands[0]!.redirects;
  const copy = { fd: 2, kind: "copy", from: 1 };
  assert.deepEqual(of("ls > f 2>&1"), [{ fd: 1, kind: "write", path: "f" }, copy]);
  assert.deepEqual(of("ls 2>&1 > f"), [copy, { fd: 1, kind: "write", path: "f" }]);
  assert.deepEqual(of("> f ls >| g"), [{ fd: 1, kind: "write", path: "f" }, {
    fd: 1,
    kind: "write",
    path: "g",
  }]);
  assert.deepEqual(of("ls &> f"), [{ fd: 1, kind: "write", path: "f" }, copy]);
  assert.deepEqual(of("ls &>> f"), [{ fd: 1, kind: "append", path: "f" }, copy]);
  assert.deepEqual(of("ls >& f"), [{ fd: 1, kind: "write", path: "f" }, copy]);
  assert.deepEqual(of("ls >&2"), [{ fd: 1, kind: "copy", from: 2 }]);
  assert.deepEqual(of("ls 2>> ~/e < 'i n'"), [
    { fd: 2, kind: "append", path: "/home/u/e" },
    { fd: 0, kind: "read", path: "i n" },
  ]);
  assert.deepEqual(of("ls >/dev/null 2> /dev/null </dev/null"), [
    { fd: 1, kind: "null" },
    { fd: 2, kind: "null" },
    { fd: 0, kind: "null" },
  ]);
});

Deno.test("paths are those of redirections, cd, test, patterns and writers", () => {
  const paths = (command: string, prefixes: string[]) =>
    check(command, prefixes).paths.map(({ path, access }) => `${access} ${path}`);
  assert.deepEqual(paths("echo a > f < /etc/x 2>> ../g", ["echo"]), [
    "write /w/f",
    "read /etc/x",
    "write /w/../g",
  ]);
  assert.deepEqual(paths("echo > /dev/null", ["echo"]), []);
  assert.deepEqual(paths("ls /etc/* a/b/*.ts ../*", ["ls"]), ["list /etc/", "list /w/a/b/", "list /w/../"]);
  assert.deepEqual(paths("test -f /x -a a -nt b", ["x"]), ["list /x", "list /w/a", "list /w/b"]);
  assert.deepEqual(paths("tee -a a ../b", ["tee"]), ["write /w/a", "write /w/../b"]);
  assert.deepEqual(paths("cp a /out", ["cp"]), ["write /out"]);
  assert.deepEqual(paths("cp -t /out a", ["cp"]), ["write /out", "write /w/a"]);
  assert.deepEqual(paths("cp --target=/out a b", ["cp"]), ["write /out", "write /w/b"]);
  assert.deepEqual(paths("cp -at/out a", ["cp"]), ["write /out", "write /w/a"]);
  assert.deepEqual(paths("mv a b", ["mv"]), ["write /w/a", "write /w/b"]);
  assert.deepEqual(paths("dd if=a of=/out", ["dd"]), ["write /out"]);
  assert.deepEqual(paths("tee x=/../../etc/y", ["tee"]), ["write /w/x=/../../etc/y"]);
  assert.deepEqual(paths("rm -rf -- -a /x", ["rm"]), ["write /w/-a", "write /x"]);
});

Deno.test("paths after cd are resolved wherever the line may stand then", () => {
  const paths = (command: string) =>
    check(command, ["echo", "ls"]).paths.filter(({ access }) => access === "write").map(({ path }) => path);
  assert.deepEqual(paths("cd a && echo > f"), ["/w/a/f"]);
  assert.deepEqual(paths("cd a; echo > f"), ["/w/a/f", "/w/f"]);
  assert.deepEqual(paths("cd a || echo > f"), ["/w/f"]);
  assert.deepEqual(paths("! cd a || echo > f"), ["/w/a/f"]);
  assert.deepEqual(paths("cd a | ls && echo > f"), ["/w/f"]);
  assert.deepEqual(paths("cd a & echo > f"), ["/w/f"]);
  assert.deepEqual(paths("cd a && cd .. && echo > f"), ["/w/f"]);
  assert.deepEqual(paths("cd /x && echo > f"), ["/x/f"]);
  assert.deepEqual(paths("cd && echo > f"), ["/home/u/f"]);
  assert.deepEqual(paths("ls && cd a || cd b; echo > f"), ["/w/a/f", "/w/b/f", "/w/f"]);
  assert.deepEqual(paths("exit; echo > f"), []);
  assert.match(describeRefusal(check("cd a; cd b; cd c; cd d; cd e; ls"), []), /so many `cd`s/);
});

Deno.test("a program by a relative path is only the entry's at the worktree's top", () => {
  assert.ok(planAllowed(check("./x", ["./x"])));
  assert.ok(!planAllowed(check("cd a && ./x", ["./x"])));
  assert.ok(!planAllowed(check("./x", ["./x"], { cwd: "/w/sub" })));
  assert.ok(planAllowed(check("cd a && /w/x", ["/w/x"])));
});

Deno.test("very long, very deep and very many are refused without harm", () => {
  for (
    const command of [
      `echo ${"a".repeat(200_000)}`,
      `echo ${"$(".repeat(5000)}`,
      `${"(".repeat(5000)}ls`,
      `echo ${"{a,".repeat(3000)}`,
      `echo ${"{a,b}".repeat(30)}`,
      Array(500).fill("ls").join(";"),
      `echo ${"'".repeat(9999)}`,
    ]
  ) assert.ok(!planAllowed(check(command)), command.slice(0, 40));
});

Deno.test("the working directory and names that objects have are no trap", () => {
  assert.ok(!planAllowed(check("constructor", ["echo"])));
  assert.deepEqual(words("echo $constructor $__proto__ $toString"), ["echo"]);
  assert.ok(planAllowed(check("toString a", ["toString"])));
});
