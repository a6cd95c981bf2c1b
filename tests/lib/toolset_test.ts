import assert from "node:assert/strict";
import { defineTool, type Tool, tool, ToolRegistry, type Toolset, toolset, toolsOf } from "../../src/lib.ts";

const text = {
  type: "object",
  properties: { text: { type: "string", description: "The text." } },
  required: ["text"],
} as const;

@toolset
class Notes {
  readonly kept: string[] = [];

  @tool({ description: "Keep a note.", parameters: text, aliases: ["remember"] })
  addNote({ text }: { text: string }): string {
    this.kept.push(text);
    return `kept ${this.kept.length}`;
  }

  @tool({ name: "all_notes", description: "All notes.", parameters: { type: "object", properties: {} } })
  async list(): Promise<string[]> {
    return await Promise.resolve(this.kept);
  }

  notATool(): string {
    return "x";
  }
}

Deno.test("marked methods are tools, named in snake_case, and share the object's state", async () => {
  const notes = new Notes(), registry = new ToolRegistry().registerToolset(notes);
  assert.deepEqual(registry.list().map(({ name }) => name), ["add_note", "all_notes"]);
  assert.equal(await registry.execute("add_note", { text: "a" }), "kept 1");
  assert.equal(await registry.execute("remember", { text: "b" }), "kept 2");
  assert.deepEqual(await registry.execute("all_notes"), ["a", "b"]);
  assert.deepEqual(notes.kept, ["a", "b"]);
  const other = new ToolRegistry().registerToolset(new Notes());
  assert.deepEqual(await other.execute("all_notes"), [], "each object has its own state");
});

Deno.test("a toolset is all in the registry or not at all", () => {
  const registry = new ToolRegistry().register(
    defineTool({ name: "all_notes", description: "d", parameters: text, execute: () => "" }),
    "first",
  );
  assert.throws(() => registry.registerToolset(new Notes(), "second"), /"all_notes" of second.*of first/);
  assert.equal(registry.get("add_note"), null);
});

Deno.test("a subclass has its parent's tools, its own, and its own version of an overridden one", async () => {
  @toolset
  class More extends Notes {
    override addNote({ text }: { text: string }): string {
      return `${super.addNote({ text })}!`;
    }
    @tool({ description: "Forget all notes.", parameters: { type: "object", properties: {} } })
    forgetAll(): string {
      this.kept.length = 0;
      return "forgotten";
    }
  }
  const registry = new ToolRegistry().registerToolset(new More());
  assert.deepEqual(registry.list().map(({ name }) => name), ["add_note", "all_notes", "forget_all"]);
  assert.equal(await registry.execute("add_note", { text: "a" }), "kept 1!");
  assert.equal(new ToolRegistry().registerToolset(new Notes()).get("forget_all"), null);
});

Deno.test("a hand-written toolset works as well", () => {
  const set: Toolset = {
    tools: () => [defineTool({ name: "one", description: "d", parameters: text, execute: () => "" })],
  };
  assert.equal(new ToolRegistry().registerToolset(set).list().length, 1);
  assert.equal(toolsOf(set)[0]!.name, "one");
});

Deno.test("what is no toolset is told what to do", () => {
  class Plain {}
  assert.throws(
    () => new ToolRegistry().registerToolset(new Plain()),
    /Plain is no toolset: decorate its class/,
  );
});

Deno.test("a class without marked methods, or with a member tools, cannot be a toolset", () => {
  assert.throws(() => {
    @toolset
    class Empty {}
    return Empty;
  }, /Cannot make Empty a toolset: none of its methods is marked/);
  assert.throws(() => {
    @toolset
    class Taken {
      @tool({ description: "d", parameters: { type: "object", properties: {} } })
      one(): string {
        return "";
      }
      tools(): readonly Tool[] {
        return [];
      }
    }
    return Taken;
  }, /Cannot make Taken a toolset: it has a member "tools"/);
});

Deno.test("static, private and symbol-named methods cannot be tools", () => {
  const spec = { description: "d", parameters: { type: "object", properties: {} } } as const;
  assert.throws(() => {
    class A {
      @tool(spec)
      static one(): string {
        return "";
      }
    }
    return A;
  }, /Cannot make a tool of one/);
  assert.throws(() => {
    class B {
      @tool(spec)
      #one(): string {
        return "";
      }
      two = () => this.#one();
    }
    return B;
  }, /Cannot make a tool of #one/);
});

Deno.test("the method's argument has the schema's type", () => {
  class Checked {
    // @ts-expect-error the schema says that text is a string
    @tool({ description: "d", parameters: text })
    wrong({ text }: { text: number }): string {
      return String(text);
    }
  }
  assert.ok(Checked);
});
