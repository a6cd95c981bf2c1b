/**
 * A hostile plugin in its host, with no policy at all in front of it: what stops it is the runtime alone.
 *
 * @module
 */
import assert from "node:assert/strict";
import { hostCode } from "../../src/cli/_plugins.ts";
import type { PluginRunner } from "../../src/plugins/runner.ts";
import type { ToolError } from "../../src/errors.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { fixture, hostEnv, NONE, plan, runnerOf } from "../plugins/_plugins.ts";

const SECRET = "TOP-SECRET";

function tree(): TestTree {
  return makeWorktree({
    files: { "public/a.txt": "public", "private.txt": SECRET, "public/.env": SECRET, ".git/config": "git" },
    outside: { "secret.txt": SECRET },
    links: { "public/way": "../../outside" },
  });
}

const call = (
  runner: PluginRunner,
  what: string,
  path?: string,
  more: { timeout?: number; target?: string } = {},
) =>
  runner.call("hostile", "attack", {
    args: { what, path, target: more.target },
    config: {},
    timeout: more.timeout ?? 20_000,
  });

// The binary's way: the host's process may do all, and a worker in it is narrowed.
const binary = { ...hostCode(), main: null, command: ["run", "-A", hostCode().main!] };
const KINDS = { "a process with flags": hostCode(), "a worker in a process": binary };

for (const [kind, code] of Object.entries(KINDS)) {
  Deno.test(`${kind}: a plugin without grants reaches nothing`, async () => {
    using work = tree();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response(SECRET),
    );
    const socket = `${work.root}/s`;
    const listener = Deno.listen({ transport: "unix", path: socket });
    const runner = runnerOf([plan(work, "hostile", { env: hostEnv({ OPENAI_API_KEY: SECRET }) })], { code });
    try {
      const attacks: [string, string?][] = [
        ["read", `${work.work}/private.txt`],
        ["read", `${work.outside}/secret.txt`],
        ["read", "/etc/passwd"],
        ["read", "/proc/self/environ"],
        ["list", work.work],
        ["workspace", "private.txt"],
        ["write", `${work.work}/private.txt`],
        ["write", `${work.work}/new.txt`],
        ["write", fixture("hostile/mod.js")],
        ["link", `${work.work}/link`],
        ["fetch", `http://127.0.0.1:${server.addr.port}/`],
        ["fetch", `file://${work.work}/private.txt`],
        ["connect", socket],
        ["env", "OPENAI_API_KEY"],
        ["environ"],
        ["run", "/bin/ls"],
        ["deno"],
        ["node"],
        ["worker"],
        ["importing", `file://${work.outside}/secret.txt`],
        ["importing", `http://127.0.0.1:${server.addr.port}/x.js`],
        ["ffi"],
        ["kill", String(Deno.pid)],
        ["terminal"],
      ];
      for (const [what, path] of attacks) {
        const answer = await call(runner, what, path, { target: work.outside });
        assert.match(String(answer), /^refused: /, `${what} ${path ?? ""}: ${answer}`);
      }
      assert.equal(await call(runner, "stdin"), "GOT no terminal");
      assert.equal(await call(runner, "grant"), "GOT denied");
      assert.equal(work.read("work/private.txt"), SECRET);
      assert.equal(work.read("work/new.txt"), null);
    } finally {
      runner.close();
      listener.close();
      await server.shutdown();
    }
  });
}

Deno.test("a plugin has exactly what was granted", async () => {
  using work = tree();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("page"),
  );
  const other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(SECRET),
  );
  const folder = `${work.work}/public`;
  const permissions = {
    ...NONE,
    read: [folder],
    denyRead: [`${folder}/.env`],
    write: [folder],
    denyWrite: [`${folder}/kept`],
    net: [`127.0.0.1:${server.addr.port}`],
    env: ["WORD"],
  };
  const runner = runnerOf([
    plan(work, "hostile", { permissions, env: hostEnv({ WORD: "word", OTHER: SECRET }) }),
  ]);
  try {
    const granted: [string, string, string][] = [
      ["read", `${folder}/a.txt`, "GOT public"],
      ["workspace", "public/a.txt", "GOT public"],
      ["write", `${folder}/b.txt`, "GOT undefined"],
      ["fetch", `http://127.0.0.1:${server.addr.port}/`, "GOT page"],
      ["env", "WORD", "GOT word"],
    ];
    for (const [what, path, answer] of granted) assert.equal(await call(runner, what, path), answer);
    const refused: [string, string][] = [
      ["read", `${folder}/.env`],
      ["read", `${work.work}/private.txt`],
      ["workspace", "private.txt"],
      ["workspace", "public/way/secret.txt"],
      ["write", `${folder}/kept`],
      ["write", `${work.work}/private.txt`],
      ["fetch", `http://127.0.0.1:${other.addr.port}/`],
      ["fetch", `http://localhost:${other.addr.port}/`],
      ["env", "OTHER"],
      ["deno", ""],
      ["worker", ""],
    ];
    for (const [what, path] of refused) {
      assert.match(String(await call(runner, what, path)), /^refused: /, `${what} ${path}`);
    }
  } finally {
    runner.close();
    await Promise.all([server.shutdown(), other.shutdown()]);
  }
});

Deno.test("in a binary, which cannot deny a place inside a folder, a folder that holds .git is not written at all", async () => {
  using work = tree();
  const git = `${work.work}/.git`, folder = `${work.work}/public`;
  const permissions = { ...NONE, write: [work.work, folder], denyWrite: [git] };
  const runner = runnerOf([plan(work, "hostile", { permissions })], { code: binary });
  try {
    for (const path of [`${git}/config`, `${work.work}/private.txt`]) {
      assert.match(String(await call(runner, "write", path)), /^refused: /, path);
    }
    assert.equal(await call(runner, "write", `${folder}/b.txt`), "GOT undefined");
    assert.equal(work.read("work/.git/config"), "git");
  } finally {
    runner.close();
  }
});

const failure = (text: RegExp) => (error: ToolError) => {
  assert.match(error.message, text);
  return true;
};

for (const [kind, code] of Object.entries(KINDS)) {
  Deno.test(`${kind}: what a plugin does to its own process harms nothing else, and it is there again for the next call`, async () => {
    using work = tree();
    const runner = runnerOf([plan(work, "hostile")], { code });
    try {
      await assert.rejects(
        call(runner, "loop", "", { timeout: 1500 }),
        failure(/did not answer within 1.5 s/),
      );
      await assert.rejects(call(runner, "never", "", { timeout: 300 }), failure(/did not answer within/));
      await assert.rejects(
        call(runner, "exit"),
        failure(/plugin hostile failed: it ended: it called Deno.exit\(\)/),
      );
      await assert.rejects(call(runner, "close"), failure(/it called close\(\)/));
      await assert.rejects(call(runner, "throw_later"), failure(/it ended: .*later/));
      assert.match(String(await call(runner, "stdin")), /GOT/);
    } finally {
      runner.close();
    }
  });

  Deno.test(`${kind}: a plugin that floods memory is ended, whatever the memory is made of`, async () => {
    using work = tree();
    const runner = runnerOf([plan(work, "hostile")], { code });
    try {
      await assert.rejects(call(runner, "buffers"), failure(/used more than 128 MB of memory/));
      await assert.rejects(call(runner, "heap"), failure(/used more than 128 MB of memory/));
    } finally {
      runner.close();
    }
  });
}

Deno.test("a plugin that floods its output is ended", async () => {
  using work = tree();
  const runner = runnerOf([plan(work, "hostile")]);
  try {
    await assert.rejects(call(runner, "junk"), failure(/wrote too much that means nothing/));
    await assert.rejects(call(runner, "flood"), failure(/more than 8 MB without a line break/));
    await assert.rejects(call(runner, "huge"), failure(/more than 8 MB without a line break/));
  } finally {
    runner.close();
  }
});

Deno.test("what a plugin prints, forges or returns is only its own answer", async () => {
  using work = tree();
  const runner = runnerOf([plan(work, "hostile")]);
  try {
    assert.equal(await call(runner, "print"), "done");
    assert.equal(await call(runner, "object"), "x", "details for the person are not the plugin's to make");
    await assert.rejects(call(runner, "strange"), failure(/BigInt/));
    await assert.rejects(call(runner, "escape"), failure(/^it failed: ␛\[2J\\u202eowned second line$/i));
  } finally {
    runner.close();
  }
});

Deno.test("a plugin that keeps ending is not started for ever", async () => {
  using work = tree();
  const runner = runnerOf([plan(work, "hostile")]);
  try {
    for (let i = 0; i < 5; i++) await assert.rejects(call(runner, "exit"), failure(/it called Deno.exit/));
    await assert.rejects(
      call(runner, "stdin"),
      failure(/ended 5 times in this run and is not started again/),
    );
  } finally {
    runner.close();
  }
});
