import assert from "node:assert/strict";
import type { Run } from "../../src/engine/runs.ts";
import { calls, headRig, roles } from "./_heads.ts";

Deno.test("handoff: without a person's focus it is an error, in a sub-agent too", async () => {
  await using rig = await headRig([]);
  assert.match(
    (await rig.call("handoff", { target: "root" })).content,
    /^Error: handoff is only available in the REPL focus session - /,
  );
  await using sub = await headRig([
    calls(["delegate", { role: "helper", task: "t" }]),
    calls(["handoff", { target: "root" }]),
    { content: "could not" },
    { content: "done" },
  ], { files: roles({ helper: {} }), focus: { handOver() {} } });
  await sub.run();
  assert.match(sub.asked[2]!.last, /^Error: handoff is only available in the REPL/);
});

Deno.test("handoff: the focus moves, the turn ends, and the rest of the batch is answered but not run", async () => {
  const handed: [Run, Run][] = [];
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "t" }]),
    { content: "helped" },
    { content: "ready" },
    calls(
      ["file_write", { path: "before.txt", content: "x" }],
      ["handoff", { target: "child", done: true }],
      ["file_write", { path: "after.txt", content: "x" }],
    ),
  ], { files: roles({ helper: {} }), focus: { handOver: (from, to) => void handed.push([from, to]) } });
  await rig.run();
  const { status } = await rig.run("now hand over");
  assert.equal(status, "ok");
  assert.equal(rig.asked.length, 4, "the model is not asked again");
  const [root, child] = rig.shared.runs.list();
  assert.deepEqual(handed, [[root, child]]);
  assert.equal(root!.status, "done");
  const outputs = rig.session.object().turns[1]!.parts.flatMap((part) =>
    part.type === "tool" ? [part.output] : []
  );
  assert.match(outputs[1]!, /^\[handoff\] Control handed to #2 helper\. This run is finished/);
  assert.equal(outputs[2], "Error: not run: control was handed to #2");
  assert.deepEqual([rig.tree.read("work/before.txt"), rig.tree.read("work/after.txt")], ["x", null]);
});

Deno.test("handoff: an unknown target pauses nothing", async () => {
  await using rig = await headRig([], { focus: { handOver: () => assert.fail("nothing to hand over to") } });
  for (
    const [target, expected] of [
      ["child", /handoff target not found: child/],
      ["", /handoff needs a target/],
      ["root", /needs another run/],
    ] as const
  ) {
    assert.match((await rig.call("handoff", { target })).content, expected);
  }
  assert.equal(rig.head.run.status, "running");
  assert.equal(rig.head.halted, null);
});
