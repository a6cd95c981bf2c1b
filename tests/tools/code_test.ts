import assert from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";
import { codeFormat } from "../../tools/code_format.ts";
import { codeLint } from "../../tools/code_lint.ts";
import { codeTest } from "../../tools/code_test.ts";
import { devPaths, splitWords } from "../../tools/_dev.ts";
import { call } from "./_commands.ts";
import type { TestTree } from "../helpers/worktree.ts";

const ignore = Deno.build.os === "windows";

/** A folder of programs that print how they were called, first on PATH. */
function fakes(tree: TestTree, ...names: string[]): Record<string, string> {
  for (const name of names) {
    tree.write(`bin/${name}`, `#!/bin/sh\necho "${name} $*"\n`);
    Deno.chmodSync(`${tree.root}/bin/${name}`, 0o755);
  }
  return { PATH: `${tree.root}/bin:/usr/bin:/bin` };
}

function test(name: string, body: () => Promise<void>): void {
  Deno.test({ name, ignore, fn: body });
}

test("a configured command runs, with the target as one argument", async () => {
  using tree = makeWorktree({
    files: { "t.sh": 'echo "args:$#:$*"\n', "l.sh": "echo E501 too long\nexit 1\n" },
  });
  const config = {
    "dev.test_cmd": "sh t.sh --fast",
    "dev.lint_cmd": "sh l.sh",
    "dev.format_cmd": "no-such-formatter-xyz",
  };
  assert.equal(
    (await call(codeTest, tree, {}, { config })).content,
    "$ sh t.sh --fast\n[configured: dev.test_cmd]\nexit 0\nargs:1:--fast",
  );
  assert.equal(
    (await call(codeTest, tree, { test: "unit/a b" }, { config })).content,
    "$ sh t.sh --fast unit/a b\n[configured: dev.test_cmd]\nexit 0\nargs:2:--fast unit/a b",
  );
  const lint = await call(codeLint, tree, {}, { config });
  assert.equal(lint.content, "$ sh l.sh\n[configured: dev.lint_cmd]\nexit 1\nE501 too long");
  assert.equal(lint.details?.failed, true);
  assert.match(
    (await call(codeFormat, tree, {}, { config })).content,
    /^Error: command not found: no-such-formatter-xyz \(install it .* or set dev\.format_cmd/,
  );
});

test("a target is never an option", async () => {
  using tree = makeWorktree();
  for (const target of ["--config=evil", "-c", " -x"]) {
    assert.match(
      (await call(codeTest, tree, { target })).content,
      /^Error: target must not be an option, got "-/,
    );
  }
});

test("the seed's defaults come last, and a target takes the place of their last word", async () => {
  using tree = makeWorktree();
  const env = fakes(tree, "python", "ruff");
  const of = async (tool: typeof codeTest, args = {}) =>
    (await call(tool, tree, args, { env })).content.split("\n");
  const why = (key: string) => `[default: no project file says how; set ${key} to change it]`;
  assert.deepEqual(await of(codeTest), [
    "$ python -m unittest discover",
    why("dev.test_cmd"),
    "exit 0",
    "python -m unittest discover",
  ]);
  assert.deepEqual(
    (await of(codeTest, { target: "tests.test_x" })).at(-1),
    "python -m unittest tests.test_x",
  );
  assert.deepEqual(await of(codeLint), ["$ ruff check .", why("dev.lint_cmd"), "exit 0", "ruff check ."]);
  assert.deepEqual((await of(codeLint, { path: "src" })).at(-1), "ruff check src");
  assert.deepEqual((await of(codeFormat, { target: "a.py" })).at(-1), "ruff format a.py");
  const config = { "dev.test_cmd": "python -m unittest discover", "dev.lint_cmd": "ruff check ." };
  assert.equal(
    (await call(codeTest, tree, { target: "t" }, { env, config })).content.split("\n").at(-1),
    "python -m unittest t",
  );
  assert.equal(
    (await call(codeLint, tree, { target: "t" }, { env, config })).content.split("\n").at(-1),
    "ruff check t",
  );
});

test("python and python3 stand for each other", async () => {
  using tree = makeWorktree();
  tree.write("bin/python3", '#!/bin/sh\necho "three $*"\n');
  Deno.chmodSync(`${tree.root}/bin/python3`, 0o755);
  const { content } = await call(codeTest, tree, {}, { env: { PATH: `${tree.root}/bin` } });
  assert.match(content, /three -m unittest discover$/);
  assert.match(
    (await call(codeTest, tree, {}, { env: { PATH: tree.outside } })).content,
    /^Error: command not found: python \(/,
  );
});

test("the project's own files decide, in order, and the head says which", async () => {
  const cases: [Record<string, string>, string, string, string][] = [
    [
      { "deno.json": '{ // c\n "tasks": { "test": "x", "fmt": { "command": "y" }, }, }' },
      "deno task test [deno.json: task test]",
      "deno lint [deno.json: no task lint, so deno lint]",
      "deno task fmt [deno.json: task fmt]",
    ],
    [
      { "package.json": '{"scripts":{"test":"jest","lint":"eslint","format":"prettier"}}' },
      "npm run test [package.json: script test]",
      "npm run lint [package.json: script lint]",
      "npm run format [package.json: script format]",
    ],
    [
      { "package.json": '{"scripts":{"test":"jest","lint":"x","fmt":"y"}}', "pnpm-lock.yaml": "" },
      "pnpm run test [package.json: script test]",
      "pnpm run lint [package.json: script lint]",
      "pnpm run fmt [package.json: script fmt]",
    ],
    [
      { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n" },
      "python -m pytest [pyproject.toml: tool.pytest, so pytest]",
      "ruff check . [pyproject.toml: ruff]",
      "ruff format . [pyproject.toml: ruff]",
    ],
    [
      { "conftest.py": "", "pyproject.toml": "[tool.black]\n" },
      "python -m pytest [conftest.py, so pytest]",
      "ruff check . [default: no project file says how; set dev.lint_cmd to change it]",
      "black . [pyproject.toml: tool.black]",
    ],
    [
      { "Cargo.toml": "[package]\n" },
      "cargo test [Cargo.toml, so cargo test]",
      "cargo clippy [Cargo.toml, so cargo clippy]",
      "cargo fmt [Cargo.toml, so cargo fmt]",
    ],
    [
      { "go.mod": "module x\n" },
      "go test ./... [go.mod, so go test]",
      "go vet ./... [go.mod, so go vet]",
      "gofmt -w . [go.mod, so gofmt -w]",
    ],
    [
      { Makefile: "test: all\n\techo\nlint:\nfmt :\nformat := x\n" },
      "make test [Makefile: target test]",
      "make lint [Makefile: target lint]",
      "make fmt [Makefile: target fmt]",
    ],
    [
      {
        "package.json": '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}',
        Makefile: "check:\n",
      },
      "make check [Makefile: target check]",
      "ruff check . [default: no project file says how; set dev.lint_cmd to change it]",
      "ruff format . [default: no project file says how; set dev.format_cmd to change it]",
    ],
    [
      { "package.json": "{broken", "deno.json": "also broken" },
      "deno test [deno.json: no task test, so deno test]",
      "deno lint [deno.json: no task lint, so deno lint]",
      "deno fmt [deno.json: no task format, so deno fmt]",
    ],
  ];
  for (const [files, ...wanted] of cases) {
    using tree = makeWorktree({ files });
    const env = fakes(tree, "deno", "npm", "pnpm", "python", "ruff", "black", "cargo", "go", "gofmt", "make");
    for (const [i, tool] of [codeTest, codeLint, codeFormat].entries()) {
      const lines = (await call(tool, tree, {}, { env })).content.split("\n");
      assert.equal(`${lines[0]!.slice(2)} ${lines[1]}`, wanted[i]);
      assert.equal(lines[3], lines[0]!.slice(2), "what ran is what is shown");
    }
  }
});

test("a target goes where the command takes it", async () => {
  const cases: [Record<string, string>, string][] = [
    [{ "package.json": '{"scripts":{"test":"jest"}}' }, "npm run test -- a.ts"],
    [{ "package.json": '{"scripts":{"test":"jest"}}', "yarn.lock": "" }, "yarn run test a.ts"],
    [{ "go.mod": "" }, "go test a.ts"],
    [{ "deno.json": "{}" }, "deno test a.ts"],
  ];
  for (const [files, wanted] of cases) {
    using tree = makeWorktree({ files });
    const env = fakes(tree, "npm", "yarn", "go", "deno");
    assert.equal(
      (await call(codeTest, tree, { target: "a.ts" }, { env })).content.split("\n").at(-1),
      wanted,
    );
  }
  using tree = makeWorktree({ files: { Makefile: "test:\n" } });
  assert.match(
    (await call(codeTest, tree, { target: "x" })).content,
    /^Error: make test takes no target \(Makefile: target test\)/,
  );
});

test("no test matched is an error line after exit", async () => {
  using tree = makeWorktree({ files: { "t.sh": "echo 'Ran 0 tests in 0.000s'\n", "five.sh": "exit 5\n" } });
  const of = (cmd: string, args = {}) => call(codeTest, tree, args, { config: { "dev.test_cmd": cmd } });
  const none = await of("sh t.sh", { target: "nope" });
  assert.equal(
    none.content,
    '$ sh t.sh nope\n[configured: dev.test_cmd]\nexit 0\nError: no tests matched "nope" (exit 0)\nRan 0 tests in 0.000s',
  );
  assert.equal(none.details?.failed, true);
  assert.match(
    (await of("sh five.sh", { target: "nope" })).content,
    /exit 5\nError: no tests matched "nope" \(exit 5\)$/,
  );
  assert.doesNotMatch((await of("sh t.sh")).content, /no tests matched/);
});

test("cwd, timeout and errors are those of run_command", async () => {
  using tree = makeWorktree({ files: { "sub/package.json": '{"scripts":{"test":"x"}}' } });
  const env = fakes(tree, "npm");
  assert.equal(
    (await call(codeTest, tree, { cwd: "sub" }, { env })).content,
    "$ npm run test\n[cwd: sub]\n[package.json: script test]\nexit 0\nnpm run test",
  );
  assert.equal((await call(codeTest, tree, { cwd: "none" })).content, "Error: cwd not found: none");
  assert.match((await call(codeTest, tree, { timeout: 0 })).content, /^Error: timeout must be 1 to 600/);
  const slow = await call(codeTest, tree, { timeout: 1 }, {
    config: { "dev.test_cmd": "sh -c 'echo on; sleep 9'" },
  });
  assert.equal(slow.content, "Error: command timed out after 1s\non");
});

test("no shell sees the command, and an operator says so", async () => {
  using tree = makeWorktree({ files: { "show.sh": 'for a; do echo "[$a]"; done\n' } });
  const of = async (cmd: string) =>
    (await call(codeTest, tree, {}, { config: { "dev.test_cmd": cmd } })).content;
  assert.match(
    await of(`sh show.sh 'a b' "c \\"d" e\\ f '$HOME' *.sh`),
    /\n\[a b\]\n\[c "d\]\n\[e f\]\n\[\$HOME\]\n\[\*\.sh\]$/,
  );
  for (const cmd of ["a && b", "a | b", "a > b", "a; b", "a `b`", "a $(b)"]) {
    assert.match(await of(cmd), /^Error: dev\.test_cmd holds .* without a shell; write sh -c/, cmd);
  }
  assert.match(await of("a 'b"), /^Error: dev\.test_cmd has a ' that is not closed$/);
  assert.deepEqual(splitWords(`a '' "b"c`), ["a", "", "bc"]);
  assert.deepEqual(splitWords("'' x"), { problem: "names no program" });
});

test("an allowlist for commands holds here too", async () => {
  using tree = makeWorktree({ files: { "package.json": '{"scripts":{"test":"x"}}' } });
  const env = fakes(tree, "npm");
  const of = (list: string[], more = {}) =>
    call(codeTest, tree, {}, { env, config: { "tool_permission.bash_allow": list, ...more } });
  assert.match((await of(["npm run"])).content, /exit 0\nnpm run test$/);
  assert.match((await of(["npm test"])).content, /exit 0\nnpm run test$/);
  assert.match((await of(["npm test --if-present"])).content, /^Error: code_test would run "npm run test"/);
  assert.match(
    (await of(["npm ru", "git"])).content,
    /^Error: code_test would run "npm run test", which tool_permission\.bash_allow does not list: npm ru, git$/,
  );
  const mode = { mode: "m", modes: { m: { tool_permission: { bash_allow: ["ls"] } } } };
  assert.match((await of([], mode)).content, /does not list: ls$/);
  const deno = { tool_permission: { bash_allow: ["env", "deno test"] }, dev: { test_cmd: "deno test -A" } };
  const answer = codeTest.permissionFn!({}, { settings: deno, base: "allow" }) as {
    action: string;
    reason: string;
  };
  assert.equal(answer.action, "deny");
  assert.match(answer.reason, /nothing starts Deno/);
  assert.equal(codeTest.permissionFn!({}, { settings: { dev: deno.dev }, base: "allow" }), null);
  const settings = { tool_permission: { bash_allow: ["ls"] }, dev: { test_cmd: "npm test" } };
  assert.deepEqual(codeTest.permissionFn?.({ target: "", timeout: 1 }, { settings, base: "allow" }), {
    action: "deny",
    reason: "dev.test_cmd is not on tool_permission.bash_allow",
  });
  assert.equal(codeLint.permissionFn?.({ target: "", timeout: 1 }, { settings, base: "allow" }), null);
});

Deno.test("the policy sees the target's path and the programs", () => {
  assert.deepEqual(devPaths("format", { target: "../x.py" }), [{ path: "../x.py", access: "write" }]);
  assert.deepEqual(devPaths("test", { target: "a.py::T::m", cwd: "sub" }), [{ path: "sub", access: "list" }, {
    path: "sub/a.py",
    access: "read",
  }]);
  assert.deepEqual(devPaths("lint", { target: "" }), []);
  assert.deepEqual(codeTest.programs?.(null, { dev: { test_cmd: "sh t.sh" } }), [
    "sh",
    "mkfifo",
    "kill",
    "taskkill",
  ]);
  assert.ok(codeTest.programs?.(null, { dev: { test_cmd: "" } }).includes("npm"));
  assert.ok(!codeTest.programs?.(null, {}).includes("deno"), "Deno is found by env");
  assert.deepEqual(codeTest.programs?.(null, { dev: { test_cmd: "deno test" } }).slice(0, 1), ["env"]);
});
