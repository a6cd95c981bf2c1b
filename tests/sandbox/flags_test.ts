import assert from "node:assert/strict";
import { ConfigError } from "../../src/errors.ts";
import type { CeilingFlags } from "../../src/policy/compile.ts";
import { ceilingArguments, workerPlan } from "../../src/sandbox/flags.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const NOTHING: CeilingFlags = {
  read: [],
  denyRead: [],
  write: [],
  denyWrite: [],
  net: [],
  denyNet: [],
  run: [],
  env: [],
  sys: [],
};
const START = [
  "--no-prompt",
  "--cached-only",
  "--unstable-worker-options",
  "--unstable-lazy-dynamic-imports",
];

Deno.test("a ceiling of nothing allows nothing and asks nobody", () => {
  assert.deepEqual(ceilingArguments(NOTHING), [...START, "--ignore-env"]);
});

Deno.test("each kind is one flag, in Deno's spelling", () => {
  const flags: CeilingFlags = {
    read: ["/w", "/a b"],
    denyRead: ["/w/x"],
    write: ["/w"],
    denyWrite: ["/w/.git"],
    net: ["api.example.com:443", "[::1]:80"],
    denyNet: ["10.0.0.0/8"],
    run: ["/usr/bin/git", "/bin/sh"],
    env: ["HOME", "PATH"],
    sys: ["hostname"],
  };
  assert.deepEqual(ceilingArguments(flags), [
    ...START,
    "--allow-read=/w,/a b",
    "--deny-read=/w/x",
    "--allow-write=/w",
    "--deny-write=/w/.git",
    "--allow-net=api.example.com:443,[::1]:80",
    "--deny-net=10.0.0.0/8",
    "--allow-run=/usr/bin/git,/bin/sh",
    "--allow-env=HOME,PATH",
    "--allow-sys=hostname",
    "--ignore-env",
  ]);
});

Deno.test("an unrestricted kind is a bare flag; with denied places it is a list that workers can be narrowed below", () => {
  assert.deepEqual(
    ceilingArguments({ ...NOTHING, read: true, write: true, net: true, denyNet: ["::"] }, ["/w"]),
    [
      ...START,
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--deny-net=::",
      "--ignore-env",
    ],
  );
  assert.deepEqual(ceilingArguments({ ...NOTHING, write: true, denyWrite: ["/w/.git"] }, ["/w"]), [
    ...START,
    "--allow-write=/,/w",
    "--deny-write=/w/.git",
    "--ignore-env",
  ]);
});

Deno.test("a comma in a path cannot be written as a flag and is an error, not two paths", () => {
  for (const kind of ["read", "denyRead", "write", "denyWrite", "run"] as const) {
    assert.throws(() => ceilingArguments({ ...NOTHING, [kind]: ["/w/a,/etc"] }), (error: Error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /comma in "\/w\/a,\/etc"/);
      return true;
    });
  }
});

Deno.test("a worker gets exactly the set, and nothing of the kinds that it does not name", () => {
  using tree = makeWorktree();
  const set = { read: [tree.work, "/a,b"], write: [], run: ["/bin/sh"], net: ["127.0.0.1:80"], env: ["X"] };
  assert.deepEqual(workerPlan(set, null, false), {
    permissions: {
      read: [tree.work, "/a,b"],
      write: false,
      run: ["/bin/sh"],
      net: ["127.0.0.1:80"],
      env: ["X"],
      sys: false,
      ffi: false,
      import: false,
    },
    birth: { drop: [] },
  });
});

Deno.test("what the process itself may not do is left out", {
  permissions: { read: ["/tmp"], run: ["/bin/sh"] },
}, () => {
  const set = {
    read: ["/tmp/x", "/etc"],
    write: ["/tmp/x"],
    run: ["/bin/sh", "/bin/ls"],
    net: ["a:1"],
    env: ["X"],
  };
  const { permissions, birth } = workerPlan(set, null, false);
  assert.deepEqual(permissions, {
    read: ["/tmp/x"],
    write: false,
    run: ["/bin/sh"],
    net: false,
    env: false,
    sys: false,
    ffi: false,
    import: false,
  });
  assert.deepEqual(birth, { drop: [] });
});
