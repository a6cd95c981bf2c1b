import assert from "node:assert/strict";
import { type Plugin, PluginError, Server, ToolsPlugin } from "../../src/plugins/mod.ts";
import { defineTool, ToolRegistry } from "../../src/lib.ts";

function plugin(id: string, dependencies: Plugin["dependencies"] = [], more: Partial<Plugin> = {}): Plugin {
  return { id, version: "0.1.0", dependencies, build: () => {}, ...more };
}

const noop = defineTool({
  name: "noop",
  description: "d",
  parameters: { type: "object", properties: {} },
  execute: () => "done",
});

Deno.test("dependencies are built first, whatever the order in which plugins were added", async () => {
  const log: string[] = [];
  const logged = (id: string, needs: string[] = []) =>
    plugin(id, needs, {
      build: () => void log.push(`build ${id}`),
      ready: async () => {
        await Promise.resolve();
        log.push(`ready ${id}`);
      },
    });
  const server = new Server().add(logged("c", ["b", "a"]), logged("b", ["a"]), logged("a"), logged("z"));
  assert.deepEqual(server.order(), ["a", "b", "c", "z"]);
  await server.start();
  assert.deepEqual(
    log,
    ["a", "b", "c", "z"].map((id) => `build ${id}`).concat(["a", "b", "c", "z"].map((id) => `ready ${id}`)),
  );
});

Deno.test("a missing dependency is named with who needs it, and nothing is built", async () => {
  let built = 0;
  const server = new Server().add(
    plugin("first", [], { build: () => void built++ }),
    plugin("myapp::search", [ToolsPlugin]),
  );
  await assert.rejects(
    server.start(),
    (error) =>
      error instanceof PluginError &&
      /plugin myapp::search 0\.1\.0 needs polyglav::tools, which was not added/.test(error.message),
  );
  assert.equal(built, 0);
});

Deno.test("a circle of dependencies is spelled out", async () => {
  const server = new Server().add(
    plugin("x", ["a"]),
    plugin("a", ["b"]),
    plugin("b", ["c"]),
    plugin("c", ["a"]),
  );
  await assert.rejects(server.start(), /circle: a → b → c → a$/);
  await assert.rejects(new Server().add(plugin("self", ["self"])).start(), /circle: self → self$/);
});

Deno.test("an id can be added once", () => {
  const server = new Server().add(plugin("a"));
  assert.throws(
    () => server.add({ ...plugin("a"), version: "2.0.0" }),
    /Cannot add plugin a 2\.0\.0: plugin a 0\.1\.0 has the same id/,
  );
});

Deno.test("the tool registry is filled while plugins are built and only read afterwards", async () => {
  let late: unknown;
  const server = await new Server().add(
    plugin("search", [ToolsPlugin], {
      build: (server) => void server.resource(ToolRegistry).register(noop, "search"),
      ready: (server) => {
        try {
          server.resource(ToolRegistry).register({ ...noop, name: "late" });
        } catch (error) {
          late = error;
        }
      },
    }),
    new ToolsPlugin(),
  ).start();
  const registry = server.resource(ToolRegistry);
  assert.equal(await registry.execute("noop"), "done");
  assert.equal(registry.ownerOf("noop"), "search");
  assert.ok(registry.frozen);
  assert.match(String(late), /frozen/);
  assert.throws(() => server.insert(new Map(), Map), /only read now/);
  assert.throws(() => server.add(plugin("more")), /started already/);
  await assert.rejects(server.start(), /twice/);
});

Deno.test("nothing is changed in ready, by whichever plugin comes first", async () => {
  class Box {
    frozen = false;
    freeze(): void {
      this.frozen = true;
    }
  }
  const seen: unknown[] = [];
  const early = plugin("early", [], {
    build: (server) => void server.insert(new Box()),
    ready: (server) => {
      assert.throws(() => server.resource(ToolRegistry).register(noop), /frozen/);
      assert.throws(() => server.insert(new Map(), Map), /all plugins are built/);
      seen.push(server.resource(Box).frozen);
    },
  });
  const server = await new Server().add(early, new ToolsPlugin()).start();
  assert.deepEqual(seen, [true]);
  assert.deepEqual(server.resource(ToolRegistry).list(), []);
});

Deno.test("a plugin without the dependency it uses is told which one", async () => {
  const server = new Server().add(
    plugin("early", [], { build: (server) => void server.resource(ToolRegistry) }),
    new ToolsPlugin(),
  );
  await assert.rejects(
    server.start(),
    /plugin early 0\.1\.0 failed in build: There is no ToolRegistry: name the plugin that makes it in the dependencies of early/,
  );
});

Deno.test("two plugins cannot make the same resource", async () => {
  const server = new Server().add(
    new ToolsPlugin(),
    plugin("other", ["polyglav::tools"], { build: (server) => void server.insert(new ToolRegistry()) }),
  );
  await assert.rejects(
    server.start(),
    /other 0\.1\.0 failed in build: Cannot insert ToolRegistry: polyglav::tools/,
  );
});

Deno.test("a plugin that throws is named, with the cause", async () => {
  const cause = new Error("no disk");
  const failing = plugin("bad", [], {
    ready: () => {
      throw cause;
    },
  });
  await assert.rejects(
    new Server().add(failing).start(),
    (error: Error) =>
      /plugin bad 0\.1\.0 failed in ready: no disk/.test(error.message) && error.cause === cause,
  );
});

Deno.test("resources of any class can be kept, also under a parent class", async () => {
  abstract class Clock {
    abstract now(): number;
  }
  class Fixed extends Clock {
    now(): number {
      return 7;
    }
  }
  const server = await new Server().add(
    plugin("clock", [], { build: (server) => void server.insert(new Fixed(), Clock) }),
  ).start();
  assert.equal(server.resource(Clock).now(), 7);
  assert.ok(server.has(Clock));
  assert.ok(!server.has(Fixed));
});
