import assert from "node:assert/strict";
import { evaluateTest } from "../../src/sandbox/_shell_test.ts";
import { echo, printf } from "../../src/sandbox/_shell_text.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** What bash's builtins write and how they end, for all of these commands, by one bash. */
function bash(
  commands: readonly (readonly string[])[],
  cwd: string,
): { out: string; status: number; errors: string }[] {
  const text = commands.map((words) =>
    `{ ${words.map(quote).join(" ")}; } 2>err; s=$?; echo; printf '\\036%s\\036%s\\035' $s "$(cat err)"`
  ).join("\n");
  const child = new Deno.Command("/bin/bash", {
    args: ["-c", text],
    cwd,
    clearEnv: true,
    env: { LC_ALL: "C.UTF-8", PATH: "/usr/bin:/bin", HAS: "" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).outputSync();
  const parts = new TextDecoder("latin1").decode(child.stdout).split("\x1d");
  return commands.map((_, i) => {
    const [out = "", status = "", errors = ""] = parts[i]!.split("\x1e");
    return {
      out: out.slice(0, -1),
      status: Number(status),
      errors: errors.replace(/^.*?line \d+: /gm, ""),
    };
  });
}

const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
const unix = Deno.build.os !== "windows";

const ECHO: readonly (readonly string[])[] = [
  [],
  ["a", "b"],
  ["-n", "a"],
  ["-nn", "a"],
  ["-e", "a\\tb"],
  ["-E", "a\\tb"],
  ["-ne", "a\\n"],
  ["-eE", "\\t"],
  ["-x", "a"],
  ["-n", "-e", "\\x41\\x4"],
  ["--", "a"],
  ["-"],
  ["-e", "a\\cb", "c"],
  ["-e", "\\0101\\01\\0", "\\101"],
  ["-e", "\\u00e9\\U1f600\\u41"],
  ["-e", "\\a\\b\\e\\E\\f\\r\\v\\\\"],
  ["-e", "\\q\\"],
  ["-e", "\\xff\\0377"],
  ["a\\tb"],
  [""],
  ["", ""],
  ["-n"],
  ["-e", "-n"],
  ["é", "日本"],
  ["-e", "\\\"\\'"],
  ["-e", "\\x", "\\u", "\\"],
];

Deno.test({
  name: "echo writes what bash's echo writes",
  ignore: !unix,
  fn() {
    using tree = makeWorktree();
    const expected = bash(ECHO.map((args) => ["echo", ...args]), tree.work);
    ECHO.forEach((args, i) => {
      const { out, status, errors } = echo(args);
      assert.deepEqual(
        { out: latin1(out), status, errors: errors.join("\n") },
        expected[i],
        JSON.stringify(args),
      );
    });
  },
});

const PRINTF: readonly (readonly string[])[] = [
  ["a"],
  ["a\\n"],
  ["%s\\n", "a", "b"],
  ["%s-%s\\n", "a", "b", "c"],
  ["%d", "42"],
  ["%d %d\\n", "1"],
  ["%05d|%-5d|%+d|% d", "42", "42", "42", "42"],
  ["%x %X %#x %o %#o", "255", "255", "255", "8", "8"],
  ["%i %u", "-1", "-1"],
  ["%x", "-1"],
  ["%d", "0x1f"],
  ["%d", "017"],
  ["%d", "'A"],
  ["%d", '"é'],
  ["%d", ""],
  ["%d", "abc"],
  ["%d", "12abc"],
  ["%d", "09"],
  ["%d", "99999999999999999999"],
  ["%d", "-99999999999999999999"],
  ["%d", " 7"],
  ["%s"],
  ["%s|"],
  ["%5s|%-5s|%.2s|%5.1s|", "abc", "abc", "abc", "abc"],
  ["%*d|%-*d|%.*s|", "5", "42", "5", "42", "2", "abc"],
  ["%*s|", "-5", "a"],
  ["%c%c", "abc", ""],
  ["%b", "a\\tb\\n"],
  ["%b|", "a\\cb", "c"],
  ["%b", "\\0101\\101"],
  ["%q", "a b"],
  ["%q", "it's"],
  ["%q", ""],
  ["%q", "a\tb\n"],
  ["%q", "~a b~"],
  ["%q", "#a", "é$x"],
  ["%%"],
  ["%5%|"],
  ["%f %.2f %e %g", "3.14159", "2.5", "12345.678", "0.0001"],
  ["%g %g %g", "100000", "1000000", "1e-5"],
  ["%G %E", "1e10", "1.5"],
  ["%08.3f|%-8.1f|%+f", "3.14159", "2.25", "1"],
  ["%.0f %.0f", "0.5", "1.5"],
  ["%f", "abc"],
  ["%f", "inf"],
  ["%f", ""],
  ["\\x41\\101\\u00e9\\e[0m"],
  ["\\cA"],
  ["a\\\\b\\q"],
  ["--", "a"],
  ["-x"],
  ["%z"],
  ["%"],
  ["a%"],
  ["%s %", "a"],
  ["%.3d|%.0d|", "5", "0"],
  ["%ld %lld %hd", "1", "2", "3"],
  ["no args\\n", "x", "y"],
  ["%s\\n", "-n"],
  ["%s", "\\n"],
  ["%-10s|", "é"],
  ["%3c|", "é"],
  ["\\", "x"],
  ["%s%b", "a", "\\x41", "b"],
  ["%04x", "10"],
  ["%.2f %.2f %.1f %.0e %.3g %.20f %.30e", "1.005", "2.675", "0.25", "2.5", "1234.5", "0.1", "1e-30"],
  ["%f %e %g %g %g", "0", "0", "0", "-0.0001234", "123456789"],
  ["%.3f %.15g %e", "1e30", "0.3", "9.9999999"],
  ["%+5d|%+-5d|", "3", "3"],
  ["%#X", "255"],
  ["%s\\0end", "x"],
];

Deno.test({
  name: "printf writes what bash's printf writes",
  ignore: !unix,
  fn() {
    using tree = makeWorktree();
    const expected = bash(PRINTF.map((args) => ["printf", ...args]), tree.work);
    PRINTF.forEach((args, i) => {
      const { out, status, errors } = printf(args);
      const ours = { out: latin1(out), status, errors: errors.join("\n") };
      assert.deepEqual(
        { out: ours.out, status },
        { out: expected[i]!.out, status: expected[i]!.status },
        JSON.stringify(args),
      );
      assert.equal(
        ours.errors === "",
        expected[i]!.errors === "",
        `${JSON.stringify(args)}: ${expected[i]!.errors}`,
      );
    });
  },
});

const TESTS: readonly (readonly string[])[] = [
  [],
  ["a"],
  [""],
  ["!"],
  ["!", ""],
  ["!", "a"],
  ["-n"],
  ["-n", ""],
  ["-n", "a"],
  ["-z", ""],
  ["-z", "a"],
  ["a", "=", "a"],
  ["a", "==", "b"],
  ["a", "!=", "b"],
  ["a", "<", "b"],
  ["b", ">", "a"],
  ["1", "-eq", "1"],
  ["1", "-eq", "01"],
  ["1", "-ne", "2"],
  ["1", "-lt", "2"],
  ["2", "-le", "2"],
  ["3", "-gt", "2"],
  ["3", "-ge", "4"],
  ["-1", "-lt", "0"],
  ["a", "-eq", "1"],
  [" 1 ", "-eq", "1"],
  ["", "-eq", "0"],
  ["99999999999", "-gt", "1"],
  ["-e", "file"],
  ["-f", "file"],
  ["-d", "file"],
  ["-d", "dir"],
  ["-e", "none"],
  ["-s", "file"],
  ["-s", "empty"],
  ["-L", "link"],
  ["-h", "file"],
  ["-f", "link"],
  ["-e", "dangling"],
  ["-L", "dangling"],
  ["-f", ""],
  ["-x", "script"],
  ["-v", "HAS"],
  ["-v", "HASNT"],
  ["-t", "1"],
  ["-t", "x"],
  ["a", "-a", "b"],
  ["a", "-a", ""],
  ["", "-o", "b"],
  ["", "-o", ""],
  ["!", "a", "=", "b"],
  ["(", "a", ")"],
  ["(", "", ")"],
  ["(", "a", "=", "a", ")"],
  ["a", "=", "a", "-a", "b", "=", "b"],
  ["a", "=", "b", "-o", "b", "=", "b"],
  ["!", "a", "=", "a", "-o", "x"],
  ["(", "a", "=", "b", "-o", "c", ")", "-a", "d"],
  ["a", "b"],
  ["a", "b", "c"],
  ["a", "=", "b", "c"],
  ["-f", "file", "-a", "-d", "dir"],
  ["file", "-ef", "link"],
  ["file", "-ef", "empty"],
  ["none", "-ef", "none"],
  ["-f", "a", "b"],
  ["a", "=", "b", "c", "d", "e"],
  ["(", "a"],
  ["-e"],
  ["="],
  ["a", "="],
  ["=", "=", "="],
  ["-n", "=", "-n"],
  ["!", "!", "a"],
  ["!", "!", "!", "a"],
  ["-f", "=", "-f"],
  ["file", "-nt", "none"],
  ["none", "-ot", "file"],
  ["none", "-nt", "none"],
  ["a", "-x", "b"],
];

Deno.test({
  name: "test decides what bash's test decides",
  ignore: !unix,
  fn() {
    using tree = makeWorktree({
      files: { file: "x", empty: "", "dir/a": "", script: "" },
      links: { link: "file", dangling: "nowhere" },
    });
    Deno.chmodSync(`${tree.work}/script`, 0o755);
    const expected = bash(TESTS.map((args) => ["test", ...args]), tree.work);
    const at = (path: string) => `${tree.work}/${path}`;
    const status = (path: string) => {
      try {
        const info = Deno.statSync(at(path));
        return {
          kind: info.isDirectory ? "directory" : "file",
          size: info.size,
          mode: info.mode! & 0o7777,
          modified: info.mtime!.getTime(),
        };
      } catch {
        return null;
      }
    };
    TESTS.forEach((args, i) => {
      const ours = evaluateTest("test", args, {
        status,
        isLink: (path) => {
          try {
            return Deno.lstatSync(at(path)).isSymlink;
          } catch {
            return false;
          }
        },
        same: (a, b) => status(a) !== null && Deno.realPathSync(at(a)) === Deno.realPathSync(at(b)),
        has: (name) => name === "HAS",
      });
      assert.equal(ours.status, expected[i]!.status, `${JSON.stringify(args)}: ${expected[i]!.errors}`);
      assert.equal(
        ours.error === null,
        expected[i]!.errors === "",
        `${JSON.stringify(args)}: ${expected[i]!.errors}`,
      );
    });
  },
});

Deno.test("[ wants its closing bracket, and what cannot be known is said", () => {
  const files = { status: () => null, isLink: () => false, same: () => false, has: () => false };
  assert.deepEqual(evaluateTest("[", ["a", "]"], files), { status: 0, error: null });
  assert.deepEqual(evaluateTest("[", ["a"], files), { status: 2, error: "[: missing `]'" });
  assert.deepEqual(evaluateTest("test", ["-p", "a"], files), {
    status: 2,
    error: "test: -p: not supported here",
  });
});
