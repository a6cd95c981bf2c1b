import assert from "node:assert/strict";
import { CallCollector, type CallFragment, MAX_KEPT_CALLS } from "../../src/provider/_calls.ts";

function collect(...fragments: CallFragment[]): { id: string; name: string; arguments: string }[] {
  const collector = new CallCollector();
  for (const fragment of fragments) collector.add(fragment);
  return collector.calls();
}

const fn = (name?: string, args?: unknown) => ({ function: { name, arguments: args } });

Deno.test("fragments of several calls by index, mixed", () => {
  assert.deepEqual(
    collect(
      { index: 0, id: "a", ...fn("one", "") },
      { index: 1, id: "b", ...fn("two", '{"x"') },
      { index: 0, ...fn(undefined, '{"y":') },
      { index: 1, ...fn(undefined, ":1}") },
      { index: 0, ...fn(undefined, "2}") },
    ),
    [{ id: "a", name: "one", arguments: '{"y":2}' }, { id: "b", name: "two", arguments: '{"x":1}' }],
  );
});

Deno.test("whole calls without index are told apart by id", () => {
  assert.deepEqual(
    collect({ id: "a", ...fn("one", "{}") }, { id: "b", ...fn("one", "{}") }),
    [{ id: "a", name: "one", arguments: "{}" }, { id: "b", name: "one", arguments: "{}" }],
  );
});

Deno.test("fragments without index follow their id, or the latest call", () => {
  assert.deepEqual(
    collect({ id: "a", ...fn("one", '{"p":') }, { id: "a", ...fn(undefined, "1") }, fn(undefined, "}")),
    [{ id: "a", name: "one", arguments: '{"p":1}' }],
  );
});

Deno.test("a server that gives every call index 0 still makes several calls", () => {
  assert.deepEqual(
    collect({ index: 0, id: "a", ...fn("one", "{}") }, { index: 0, id: "b", ...fn("two", '{"q":1}') }),
    [{ id: "a", name: "one", arguments: "{}" }, { id: "b", name: "two", arguments: '{"q":1}' }],
  );
});

Deno.test("whole calls without index and id get ids of their own", () => {
  const calls = collect(fn("one", '{"a":1}'), fn("one", '{"a":2}'), fn("two", {}));
  assert.deepEqual(calls.map((c) => [c.name, c.arguments]), [["one", '{"a":1}'], ["one", '{"a":2}'], [
    "two",
    "{}",
  ]]);
  assert.equal(new Set(calls.map((c) => c.id)).size, 3);
  for (const { id } of calls) assert.match(id, /^call_[0-9a-f]{24}$/);
});

Deno.test("names that are repeated with each fragment, or grow, make one call", () => {
  assert.deepEqual(
    collect(
      { index: 0, id: "a", ...fn("file_read", '{"pa') },
      { index: 0, id: "a", ...fn("file_read", 'th":"}"') },
      { index: 0, id: "a", ...fn("file_read", "}") },
      { index: 0, id: "a", ...fn("file_read", "") },
    ),
    [{ id: "a", name: "file_read", arguments: '{"path":"}"}' }],
  );
  assert.equal(
    collect({ index: 0, ...fn("file_") }, { index: 0, ...fn("read") }, { index: 0, ...fn("", "{}") })[0]!
      .name,
    "file_read",
  );
  assert.equal(
    collect({ index: 0, ...fn("file_") }, { index: 0, ...fn("file_read", "{}") })[0]!.name,
    "file_read",
  );
});

Deno.test("a duplicate id of another index is replaced, so that ids are unique", () => {
  const calls = collect({ index: 0, id: "same", ...fn("a", "{}") }, {
    index: 1,
    id: "same",
    ...fn("b", "{}"),
  });
  assert.equal(calls[0]!.id, "same");
  assert.notEqual(calls[1]!.id, "same");
  assert.deepEqual(calls.map((c) => c.name), ["a", "b"]);
});

Deno.test("arguments given as an object become text; null is none", () => {
  assert.deepEqual(collect({ index: 0, id: "a", ...fn("x", { deep: [1] }) }), [{
    id: "a",
    name: "x",
    arguments: '{"deep":[1]}',
  }]);
  assert.deepEqual(collect({ index: 0, id: "a", ...fn("x", null) }), [{ id: "a", name: "x", arguments: "" }]);
});

Deno.test("lone halves of characters in names and arguments are replaced", () => {
  const [call] = collect({ index: 0, id: "\ud800", ...fn("na\udc00me", '{"a":"\ud83d') }, {
    index: 0,
    ...fn(undefined, '\ude42"}'),
  });
  assert.deepEqual(call, { id: "\ufffd", name: "na\ufffdme", arguments: '{"a":"🙂"}' });
});

Deno.test("more calls than can be kept are counted, not kept", () => {
  const collector = new CallCollector();
  for (let i = 0; i < MAX_KEPT_CALLS + 500; i++) collector.add({ index: i, id: `c${i}`, ...fn("x", "{}") });
  assert.equal(collector.calls().length, MAX_KEPT_CALLS);
  assert.equal(collector.dropped, 500);
});
