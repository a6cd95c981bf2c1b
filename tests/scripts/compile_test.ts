import assert from "node:assert/strict";
import { compileArguments, compileOne, executableName, sha256, TARGETS } from "../../scripts/compile.ts";
import { tools } from "../../tools/mod.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

Deno.test("there is a target for Linux and macOS on both processors and for Windows", () => {
  assert.deepEqual(TARGETS.map(executableName), [
    "polyglav-x86_64-unknown-linux-gnu",
    "polyglav-aarch64-unknown-linux-gnu",
    "polyglav-x86_64-apple-darwin",
    "polyglav-aarch64-apple-darwin",
    "polyglav-x86_64-pc-windows-msvc.exe",
  ]);
});

Deno.test("a baked policy stands among the compiler's words instead of all permissions", () => {
  const words = compileArguments(root, {
    target: TARGETS[0]!,
    out: "/out",
    permissions: ["--allow-read=/project"],
  });
  assert.ok(words.includes("--allow-read=/project") && words.includes("--no-prompt"));
  assert.ok(!words.includes("--allow-all") && !words.includes("-A"));
});

Deno.test("a compiled executable embeds the workers' modules, every tool and what it uses of openai, and no more of that", async () => {
  const out = Deno.makeTempDirSync({ prefix: "polyglav-compile-" });
  const before = Deno.env.get("DENORT_BIN");
  // Without the separate runtime the compile step itself still runs to its end; the file that it makes cannot be started.
  Deno.env.set("DENORT_BIN", Deno.execPath());
  try {
    const file = await compileOne(root, { target: null, out, permissions: ["--allow-all"] });
    const runtime = Deno.statSync(Deno.execPath()).size;
    const bytes = Deno.readFileSync(file);
    // What is embedded stands behind the runtime.
    const embedded = new TextDecoder("latin1").decode(bytes.subarray(runtime - 1_000_000));
    // Names may be put together at run time; what a tool says of itself is not, and no two say the same.
    assert.equal(new Set(tools.map(({ description }) => description.slice(0, 40))).size, tools.length);
    for (const tool of tools) {
      const marker = tool.description.slice(0, 40);
      assert.ok(embedded.includes(marker), `${tool.name} is not embedded`);
    }
    assert.ok(
      embedded.includes("src/sandbox/entry.ts") || embedded.includes("entry.ts"),
      "the worker's module is not embedded",
    );
    assert.ok(
      embedded.includes("malformed server-sent event JSON"),
      "openai's stream reader is not embedded",
    );
    assert.ok(
      !embedded.includes("vector_stores") && !embedded.includes("fine_tuning"),
      "unused parts of openai are embedded",
    );
    assert.match(await sha256(file), /^[0-9a-f]{64}$/);
  } finally {
    if (before === undefined) Deno.env.delete("DENORT_BIN");
    else Deno.env.set("DENORT_BIN", before);
    Deno.removeSync(out, { recursive: true });
  }
});
