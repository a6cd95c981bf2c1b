import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import {
  confineCleanup,
  confineCommand,
  type Confinement,
  confinementFailure,
  Confiner,
  type ConfineSpec,
  planConfinement,
} from "../../src/sandbox/confine.ts";
import { SECRETS } from "../../src/sandbox/confine.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const NONE: Confinement = {
  available: false,
  why: "bubblewrap is not installed; get it with your package manager",
  kind: null,
  program: null,
  overlays: false,
  userNamespace: false,
  root: false,
  found: {},
  gitDirectories: [],
};

/** A probe that found these paths (directories end in `/`). */
function probe(found: string[], more: Partial<Confinement> = {}): Confinement {
  return {
    ...NONE,
    available: true,
    why: "bubblewrap 0.8.0",
    kind: "bwrap",
    program: "/usr/bin/bwrap",
    found: Object.fromEntries(found.map((each) => {
      const path = each.replace(/\/$/, "");
      return [path, { path, directory: each.endsWith("/") }];
    })),
    ...more,
  };
}

function plan(
  tree: TestTree,
  found: string[],
  more: Partial<Parameters<typeof planConfinement>[0]> = {},
): ConfineSpec {
  const spec = planConfinement({
    mode: "auto",
    probe: probe(found),
    worktree: tree.work,
    home: tree.home,
    writable: [],
    network: false,
    ...more,
  });
  assert.ok(spec);
  return spec;
}

/** The words of the mount whose destination this is. */
function mountOf(words: readonly string[], path: string): string[] {
  const at = words.lastIndexOf(path);
  assert.notEqual(at, -1, `${path} is not mounted`);
  let from = at;
  while (!words[from]!.startsWith("--")) from--;
  return words.slice(from, at + 1);
}

Deno.test("off never confines, auto where it can, require or not at all", async () => {
  using tree = makeWorktree();
  const base = { worktree: tree.work, home: tree.home, writable: [], network: false };
  assert.equal(planConfinement({ ...base, mode: "off", probe: probe([]) }), null);
  assert.equal(planConfinement({ ...base, mode: "auto", probe: NONE }), null);
  assert.equal(planConfinement({ ...base, mode: "auto", probe: probe([]) })?.kind, "bwrap");
  assert.throws(() => planConfinement({ ...base, mode: "require", probe: NONE }), (error: unknown) => {
    assert.ok(error instanceof ToolError);
    assert.equal(error.kind, "permission");
    assert.match(error.message, /exec.confine is "require".*bubblewrap is not installed/);
    return true;
  });
  let probes = 0;
  const confiner = new Confiner({
    ...base,
    mode: "auto",
    probe: () => Promise.resolve((probes++, probe([]))),
  });
  assert.equal((await confiner.plan(false))?.network, false);
  assert.equal((await confiner.plan(true))?.network, true);
  assert.equal(probes, 1, "the machine is looked at once");
  const off = new Confiner({
    ...base,
    mode: "off",
    probe: () => Promise.reject(new Error("not to be called")),
  });
  assert.equal(await off.plan(false), null);
});

Deno.test("the wrapped command is pure and ends in the words of the command", () => {
  using tree = makeWorktree();
  const spec = structuredClone(plan(tree, ["/tmp/", "/run/"]));
  const words = confineCommand(["prog", "--die-with-parent", "a b", "$x"], spec, tree.work);
  assert.deepEqual(confineCommand(["prog", "--die-with-parent", "a b", "$x"], spec, tree.work), words);
  assert.equal(words[0], "/usr/bin/bwrap");
  assert.deepEqual(words.slice(words.indexOf("--")), ["--", "prog", "--die-with-parent", "a b", "$x"]);
  for (
    const flag of ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--new-session", "--die-with-parent"]
  ) {
    assert.ok(words.includes(flag), flag);
  }
  assert.deepEqual(words.slice(words.indexOf("--cap-drop"), words.indexOf("--cap-drop") + 2), [
    "--cap-drop",
    "ALL",
  ]);
  assert.deepEqual(words.slice(words.indexOf("--chdir"), words.indexOf("--chdir") + 2), [
    "--chdir",
    tree.work,
  ]);
  assert.ok(!confineCommand(["x"], { ...spec, network: true }, tree.work).includes("--unshare-net"));
});

Deno.test("mounts go from the root down, so that none hides a later one", () => {
  using tree = makeWorktree({
    files: { ".git/config": "", ".git/HEAD": "ref: refs/heads/main\n", ".polyglav/config.json": "{}" },
  });
  const secret = `${tree.home}/.ssh`;
  const words = confineCommand(["x"], plan(tree, ["/tmp/", "/run/", `${secret}/`]), tree.work);
  const paths = ["/tmp", tree.home, tree.work, `${tree.work}/.git`, `${tree.work}/.git/config`];
  // The destination is the last word of its mount.
  const order = paths.map((path) =>
    words.findIndex((word, i) => word === path && words[i + 1]?.startsWith("--"))
  );
  assert.deepEqual(order, [...order].sort((a, b) => a - b));
  assert.ok(words.lastIndexOf(secret) > words.indexOf(tree.home));
  assert.deepEqual(mountOf(words, `${tree.work}/.git/config`), [
    "--ro-bind",
    `${tree.work}/.git/config`,
    `${tree.work}/.git/config`,
  ]);
});

Deno.test("secrets that exist are hidden, unless the worktree lies in them", () => {
  using tree = makeWorktree();
  const found = SECRETS.map((name) => `${tree.home}/${name}${name.endsWith("rc") ? "" : "/"}`);
  const spec = plan(tree, found);
  assert.deepEqual(spec.hide.map(({ path }) => path), SECRETS.map((name) => `${tree.home}/${name}`));
  const inside = planConfinement({
    mode: "auto",
    probe: probe([`${tree.home}/.config/gh/`, `${tree.home}/.ssh/`]),
    worktree: `${tree.home}/.config/gh/work`,
    home: tree.home,
    writable: [],
    network: false,
  });
  assert.deepEqual(inside?.hide.map(({ path }) => path), [`${tree.home}/.ssh`]);
  assert.ok(
    plan(tree, ["/x/state/"], { hide: ["/x/state", "/x/gone"] }).hide.some(({ path }) => path === "/x/state"),
  );
});

Deno.test("caches get a private layer where there are overlays, other folders are writable", () => {
  using tree = makeWorktree();
  const cargo = `${tree.home}/.cargo/registry`, build = `${tree.home}/.cache/go-build`;
  const found = [`${cargo}/`, `${build}/`, "/data/out/"];
  const writable = ["~/.cargo/registry", "~/.cache/go-build", "/data/out", "/data/gone", `${tree.work}/x`];
  const old = plan(tree, found, { writable });
  assert.deepEqual([old.writable, old.overlays, old.empty], [["/data/out"], [], [build]]);
  const current = plan(tree, found, { writable, probe: probe(found, { overlays: true }) });
  assert.deepEqual([current.writable, current.overlays, current.empty], [["/data/out"], [cargo, build], []]);
  const words = confineCommand(["x"], current, tree.work);
  assert.deepEqual(words.slice(words.indexOf("--overlay-src"), words.indexOf("--overlay-src") + 4), [
    "--overlay-src",
    cargo,
    "--tmp-overlay",
    cargo,
  ]);
});

Deno.test("git directories of submodules and linked worktrees below are protected too", () => {
  using tree = makeWorktree({
    files: {
      ".git/HEAD": "ref: refs/heads/main\n",
      ".git/config": "",
      ".git/modules/a/HEAD": "x",
      ".git/modules/a/config": "",
      ".git/modules/a/modules/b/HEAD": "x",
      ".git/modules/a/modules/b/config": "",
      ".git/modules/group/c/HEAD": "x",
      ".git/modules/group/c/config": "",
      ".git/worktrees/w/HEAD": "x",
    },
  });
  const spec = plan(tree, []);
  const git = `${tree.work}/.git`, protectedPaths = new Set(spec.protect.map(({ path }) => path));
  for (const below of ["", "/modules/a", "/modules/a/modules/b", "/modules/group/c"]) {
    assert.ok(protectedPaths.has(`${git}${below}/config`), below);
    assert.ok(spec.absent.some(({ path }) => path === `${git}${below}/hooks`), below);
  }
  assert.ok(spec.absent.some(({ path }) => path === `${git}/worktrees/w/config.worktree`));
  assert.deepEqual(spec.git, [git]);
});

Deno.test("a .git file, literal rules and .polyglav are read-only", () => {
  using tree = makeWorktree({
    files: { ".git": "gitdir: ../x\n", "locked.txt": "", "dir/x": "", ".polyglav/config.json": "{}" },
  });
  const spec = plan(tree, [], {
    protect: [`${tree.work}/locked.txt`, `${tree.work}/dir`, `${tree.work}/none`],
  });
  assert.deepEqual(spec.protect, [
    { path: `${tree.work}/.git`, directory: false },
    { path: `${tree.work}/.polyglav`, directory: true },
    { path: `${tree.work}/locked.txt`, directory: false },
    { path: `${tree.work}/dir`, directory: true },
  ]);
  assert.deepEqual(spec.git, []);
  // A protected place that is not there is covered, and what covers it is taken away afterwards.
  assert.equal(confineCleanup(spec)?.at(-1), `${spec.worktree}/none`);
});

Deno.test("a confinement that fails is told from a command that fails", () => {
  using tree = makeWorktree();
  const spec = plan(tree, []),
    of = (code: number | null, output: string) => confinementFailure(spec, ["prog"], code, output);
  assert.equal(of(1, "bwrap: execvp prog: No such file or directory\n")?.message, "command not found: prog");
  assert.match(
    of(1, "bwrap: execvp prog: Permission denied\n")?.message ?? "",
    /^cannot run prog: permission denied$/,
  );
  assert.match(
    of(1, "bwrap: Can't mkdir /x: Read-only file system\n")?.message ?? "",
    /could not be confined.*did not run/,
  );
  assert.equal(of(1, "error: bwrap: no\n"), null);
  assert.equal(of(0, "bwrap: hello\n"), null);
  assert.equal(of(null, ""), null);
});

Deno.test("the profile for macOS denies after it allows, and quotes its paths", () => {
  using tree = makeWorktree({ files: { ".git/HEAD": "x", ".git/config": "", ".git/hooks/x": "" } });
  const spec = plan(tree, [`${tree.home}/.ssh/`], {
    probe: probe([`${tree.home}/.ssh/`], { kind: "sandbox-exec", program: "/usr/bin/sandbox-exec" }),
  });
  const words = confineCommand(["prog", "x"], { ...spec, worktree: '/w "q" \\e' }, "/w");
  assert.deepEqual([words[0], words[1], ...words.slice(3)], [
    "/usr/bin/sandbox-exec",
    "-p",
    "--",
    "prog",
    "x",
  ]);
  const lines = words[2]!.split("\n"), at = (text: string) => lines.findIndex((line) => line.includes(text));
  assert.equal(lines[0], "(version 1)");
  assert.notEqual(at('(allow file-write* (subpath "/w \\"q\\" \\\\e"))'), -1);
  assert.ok(at("(deny file-write*)") < at("(allow file-write*"));
  assert.ok(
    at(`(deny file-write* (literal "${tree.work}/.git/config"))`) >
      at(`(allow file-write* (subpath "${tree.work}/.git"))`),
  );
  assert.notEqual(at(`(deny file-write* (subpath "${tree.work}/.git/hooks"))`), -1);
  assert.notEqual(at(`(deny file-read* file-write* (subpath "${tree.home}/.ssh"))`), -1);
  assert.notEqual(at("(deny network*)"), -1);
  assert.equal(confineCommand(["p"], { ...spec, network: true }, "/w")[2]!.includes("network"), false);
});

Deno.test("where a link stands for a protected part, the whole git directory is read-only", () => {
  for (const link of ["hooks", "config", "info", "info/attributes", "config.worktree"]) {
    const files: Record<string, string> = {
      ".git/HEAD": "x",
      ".git/config": "",
      ".git/hooks/x": "",
      ".git/info/exclude": "",
    };
    for (const name of Object.keys(files)) {
      if (name === `.git/${link}` || name.startsWith(`.git/${link}/`)) delete files[name];
    }
    using tree = makeWorktree({ files, links: { [`.git/${link}`]: "../elsewhere" } });
    const spec = plan(tree, []), git = `${tree.work}/.git`;
    assert.ok(spec.protect.some(({ path, directory }) => path === git && directory), link);
    const words = confineCommand(["x"], spec, tree.work);
    assert.ok(
      words.join(" ").indexOf(`--ro-bind ${git} ${git} `) > words.join(" ").indexOf(`--bind ${git} ${git} `),
      link,
    );
    assert.ok(
      !spec.absent.some(({ path }) => path.startsWith(`${git}/${link}`)),
      "no mount goes through the link",
    );
  }
});

Deno.test("a .git that is a link stands for the directory that it leads to, inside the worktree", () => {
  using tree = makeWorktree({ files: { "data/HEAD": "x", "data/config": "" }, links: { ".git": "data" } });
  const spec = plan(tree, []);
  assert.deepEqual(spec.git, [`${tree.work}/data`]);
  assert.ok(spec.protect.some(({ path }) => path === `${tree.work}/data/config`));
  using out = makeWorktree({ outside: { "data/HEAD": "x" }, links: { ".git": "../outside/data" } });
  assert.deepEqual(plan(out, []).git, []);
});
