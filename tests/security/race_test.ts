/** A real second process swaps paths under the tools' hands. Nothing of the outside may ever come out or change. @module */
import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { shown, TestSandbox } from "../sandbox/_pool.ts";
import { evilWrite } from "../sandbox/_tools.ts";
import { SECRET } from "./_layers.ts";

const FLIP = decodeURIComponent(new URL("./_flip.ts", import.meta.url).pathname);

/** Swaps `file` or `directory` of the worktree against a link to the outside, until it is disposed. */
async function flipping(tree: TestTree, what: "file" | "directory"): Promise<AsyncDisposable> {
  Deno.mkdirSync(join(tree.root, "stash"));
  Deno.symlinkSync(what === "file" ? "../outside/secret" : "../outside", join(tree.root, "stash/link"));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", FLIP, tree.root, what],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  return {
    async [Symbol.asyncDispose]() {
      await child.stdin.close();
      await reader.cancel();
      assert.ok((await child.status).success, "the other process went on to the end");
    },
  };
}

/** Tries an expression often, in one call; it tells the text that it got. */
function often(expression: string, rounds: number): string {
  return `
    const text = (bytes) => bytes === null ? "" : new TextDecoder().decode(bytes);
    const bytes = new TextEncoder().encode("mine"), buffer = new Uint8Array(100);
    const seen = { good: 0, refused: 0, other: [] };
    for (let round = 0; round < ${rounds}; round++) {
      try {
        const got = ${expression};
        if (got === "plain" || got === "mine") seen.good++;
        else if (got === "") seen.refused++;
        else seen.other.push(got);
      } catch (error) {
        if (error.name !== "ToolError" && error.name !== "SwappedError") seen.other.push(String(error));
        seen.refused++;
      }
    }
    return seen;`;
}

const files = { "file": "plain", "directory/secret": "plain" };
const LAYERS = [{ name: "compiled workers", inherit: false }, {
  name: "workers with everything",
  inherit: true,
}];

for (const { name, inherit } of LAYERS) {
  for (const what of ["file", "directory"] as const) {
    const path = what === "file" ? "file" : "directory/secret";

    Deno.test(`reading while a ${what} is swapped for a link [${name}]`, async () => {
      using tree = makeWorktree({ files, outside: { "secret": SECRET } });
      using pool = new TestSandbox(tree, { inherit });
      await using _other = await flipping(tree, what);
      const result = await pool.run(evilWrite, {
        value: often(`text(ctx.workspace.readFile(${JSON.stringify(path)}))`, 3000),
      });
      assert.ok(result.ok, shown(result));
      const { good, refused, other } = result.output as { good: number; refused: number; other: string[] };
      assert.deepEqual(other, []);
      assert.ok(good > 0 && refused > 0, `both were met: ${good} good, ${refused} refused`);
    });

    Deno.test(`walking while a ${what} is swapped for a link [${name}]`, async () => {
      using tree = makeWorktree({ files, outside: { "secret": SECRET } });
      using pool = new TestSandbox(tree, { inherit });
      const directory = what === "file" ? tree.work : join(tree.work, "directory");
      await using _other = await flipping(tree, what);
      const walked = `
        while (true) try {
          ctx.workspace.walkDirectory(${JSON.stringify(tree.work)});
          ctx.workspace.walkDirectory(${JSON.stringify(directory)});
          break;
        } catch {}`;
      for (const wanted of ["", ", () => true"]) {
        const read = `text(ctx.workspace.walkFile(${
          JSON.stringify(join(tree.work, path))
        }, buffer${wanted}))`;
        const result = await pool.run(evilWrite, { value: walked + often(read, 3000) });
        assert.ok(result.ok, shown(result));
        const { good, refused, other } = result.output as { good: number; refused: number; other: string[] };
        assert.deepEqual(other, []);
        assert.ok(good > 0 && refused > 0, `both were met: ${good} good, ${refused} refused`);
      }
    });

    Deno.test(`writing while a ${what} is swapped for a link [${name}]`, async () => {
      using tree = makeWorktree({ files, outside: { "secret": SECRET } });
      using pool = new TestSandbox(tree, { inherit });
      {
        await using _other = await flipping(tree, what);
        const places = what === "file" ? ["file"] : ["directory/secret", "directory/new", "directory/n/e/w"];
        for (const place of places) {
          for (const options of ["{}", "{ append: true }", "{ exclusive: true }"]) {
            const write = `(ctx.workspace.writeFile(${JSON.stringify(place)}, bytes, ${options}), "mine")`;
            const result = await pool.run(evilWrite, { value: often(write, 150) });
            assert.ok(result.ok, shown(result));
            assert.deepEqual((result.output as { other: string[] }).other, []);
          }
        }
      }
      assert.equal(tree.read("outside/secret"), SECRET);
      // What is made before the check may be made in the wrong place; it is empty, and removed where it is met again.
      for (const path of everyFile(tree.outside)) {
        const content = Deno.readTextFileSync(path);
        assert.equal(content, path === join(tree.outside, "secret") ? SECRET : "", path);
      }
    });
  }
}

function everyFile(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) => {
    const path = join(directory, name);
    return isDirectory ? everyFile(path) : [path];
  });
}
