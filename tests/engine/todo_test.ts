import assert from "node:assert/strict";
import { Todos } from "../../src/engine/todos.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { calls, headRig } from "./_heads.ts";

Deno.test("todo: steps are added, changed and done, and every call shows the list", () => {
  const todos = new Todos();
  assert.equal(todos.apply({ action: "list" }), "(nothing to do yet)");
  todos.apply({ action: "add", texts: ["read", "  write\nit "] });
  assert.equal(todos.apply({ action: "add", text: "test" }), "1. [ ] read\n2. [ ] write it\n3. [ ] test");
  todos.apply({ action: "update", id: 2, status: "doing", text: "write more" });
  assert.equal(todos.apply({ action: "done", id: 1 }), "1. [x] read\n2. [>] write more\n3. [ ] test");
});

Deno.test("todo: what cannot be done is an error and changes nothing", () => {
  const todos = new Todos();
  todos.apply({ action: "add", texts: ["a"] });
  for (
    const [input, expected] of [
      [{ action: "add", texts: [" "] }, /add needs texts/],
      [{ action: "done" }, /done needs the id/],
      [{ action: "done", id: 7 }, /done finds no step 7/],
      [{ action: "update", id: 1 }, /update needs text or status/],
      [{ action: "update", id: 1, status: "later" }, /must be open, doing or done/],
      [{ action: "fly" }, /action must be/],
      [{ action: "add", texts: Array(200).fill("x") }, /at most 200/],
    ] as const
  ) assert.throws(() => todos.apply(input), expected);
  assert.equal(todos.text(), "1. [ ] a");
});

Deno.test("todo: the list is kept in the session and goes on when it is resumed", async () => {
  using tree = makeWorktree();
  const on = { tree, name: "long" };
  {
    await using rig = await headRig([
      calls(["todo", { action: "add", texts: ["one", "two"] }], ["todo", { action: "done", id: 9 }], [
        "todo",
        { action: "done", id: 1 },
      ]),
      { content: "later" },
    ], { on });
    await rig.run();
    assert.match(rig.asked[1]!.last, /1\. \[x\] one\n2\. \[ \] two/);
  }
  await using again = await headRig([calls(["todo", { action: "list" }]), { content: "done" }], { on });
  await again.run();
  assert.equal(again.asked[1]!.last, "1. [x] one\n2. [ ] two");
});
