import assert from "node:assert/strict";
import { createReplayProvider, DriftError, recordProvider } from "../../src/provider/replay.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { providerAt } from "../provider/_collect.ts";
import { rig, tool } from "./_harness.ts";

Deno.test("a recorded turn replays without a server, and another tool result is drift", async () => {
  using tree = makeWorktree();
  const file = `${tree.root}/r.jsonl`;
  const says = (text: string) => [tool("look", () => text)];
  {
    await using recorded = await rig([
      { reasoning: "hm", content: "Looking.", tool_calls: [{ name: "look" }, { name: "nothing" }] },
      { status: 503, error: "busy" },
      { content: "part", finish_reason: "length" },
      { content: " two" },
    ], {
      tools: says(`${tree.root}/x in 3ms`),
      provider: (server) => recordProvider(providerAt(server.url), file),
    });
    const result = await recorded.run("do it");
    assert.equal(result.content, "part two");
  }
  const provider = createReplayProvider(file);
  await using replayed = await rig([], { tools: says(`${tree.root}/x in 8ms`), provider: () => provider });
  const again = await replayed.run("do it");
  assert.equal(again.status, "ok");
  assert.equal(again.content, "part two");
  assert.equal(again.thinking, "hm");
  assert.equal(replayed.server.requests.length, 0);
  await provider.close!();

  const other = createReplayProvider(file);
  await using drifted = await rig([], { tools: says("something else"), provider: () => other });
  const result = await drifted.run("do it");
  assert.equal(result.status, "error");
  assert.match(
    result.errors[0]!.message,
    /^replay drift: exchange 2 \(line 3\): the result of look differs in line 1/,
  );
  await assert.rejects(other.close!(), DriftError);
});
