/**
 * What the terminal costs: the first character of an answer beside a bare stream, and keys that are typed while an answer
 * streams in. A process of its own. Prints one JSON object, in milliseconds.
 *
 * @module
 */
import { defaults } from "../../src/config/schema.ts";
import { Engine } from "../../src/engine/engine.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { createOpenAIProvider } from "../../src/provider/openai.ts";
import { Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { openSession } from "../../src/session/store.ts";
import { join } from "../../src/text/path.ts";
import { Input } from "../../src/ui/input.ts";
import { createStyle } from "../../src/ui/style.ts";
import { createTerminalSink, type TerminalSink } from "../../src/ui/terminal.ts";
import type { Tty } from "../../src/ui/tty.ts";
import { tools } from "../../tools/mod.ts";
import { median } from "./_process.ts";
import { startScriptedModel } from "./scripted_model.ts";

/** What is measured, in milliseconds. */
export interface TerminalFigures {
  /** From the prompt to the first character on the terminal, median. */
  readonly first: number;
  /** From a bare request to the first character of its stream, median. */
  readonly bare: number;
  /** From a key to its echo while 1 MB streams in: 95 of 100 are faster. */
  readonly key: number;
  /** The same while nothing streams. */
  readonly calm: number;
  /** Medians of both. */
  readonly usual: number;
  readonly usualCalm: number;
}

const settings = defaults();
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function sinkTo(write: (text: string) => void): TerminalSink {
  return createTerminalSink({
    write,
    columns: () => 100,
    style: createStyle(true),
    live: true,
    settings,
    prompts: { confirm: () => Promise.resolve("no"), ask: () => Promise.resolve(null) },
  });
}

/** The first character through provider, engine and terminal, and through `fetch` alone, in turns. */
async function firstCharacter(folder: string, times: number): Promise<{ first: number; bare: number }> {
  await using model = startScriptedModel();
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const policyInput = {
    ...{ settings, mode: "build", worktree: folder, home: folder, configDir: join(folder, "config") },
    ...{ shell: "/bin/sh", env: {} },
  };
  const policy = new ToolPolicy(policyInput), sandbox = new Sandbox({ worktree: folder });
  const dispatcher = new Dispatcher({ registry, policy, policyInput, sandbox, childEnv: {} });
  const session = await openSession({
    ...{ worktree: folder, stateDir: join(folder, "state"), noiseTools: [], maxToolChars: 0 },
  });
  const ours = async () => {
    let begun = 0, seen = NaN;
    const sink = sinkTo((text) => {
      if (Number.isNaN(seen) && text.includes("T")) seen = performance.now() - begun;
    });
    const provider = createOpenAIProvider({
      ...{ name: "openai-compatible", baseUrl: model.conversation(0).url, apiKey: "k", model: "scripted" },
    });
    await provider.warm?.();
    const engine = new Engine({
      ...{
        provider,
        dispatcher,
        registry,
        policy,
        session,
        sink,
        settings,
        instructions: null,
        worktree: folder,
      },
    });
    begun = performance.now();
    await engine.runTurn("go", new AbortController().signal);
    sink.close();
    await provider.close?.();
    return seen;
  };
  const bare = async () => {
    const { url } = model.conversation(0), begun = performance.now();
    const response = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "scripted", stream: true, messages: [{ role: "user", content: "go" }] }),
    });
    let text = "", seen = NaN;
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (Number.isNaN(seen) && text.includes('"content":"T')) seen = performance.now() - begun;
    }
    return seen;
  };
  const figures = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < times + 3; i++) {
    const [own, floor] = [await ours(), await bare()];
    if (i >= 3) figures.ours.push(own), figures.bare.push(floor);
  }
  session.close();
  sandbox.close();
  return { first: median(figures.ours), bare: median(figures.bare) };
}

/** A terminal without a screen. */
class BlindTty implements Tty {
  readonly columns = 100;
  readonly rows = 30;
  readonly color = true;
  readonly dumb = false;
  onWrite: () => void = () => {};
  #queue: Uint8Array[] = [];
  #wake: () => void = () => {};
  #over = false;

  write(_text: string): void {
    this.onWrite();
  }

  setRaw(): void {}
  suspend(): void {}

  onResize(): () => void {
    return () => {};
  }

  type(text: string): void {
    this.#queue.push(new TextEncoder().encode(text));
    this.#wake();
  }

  async *bytes(): AsyncIterable<Uint8Array> {
    while (!this.#over) {
      const next = this.#queue.shift();
      if (next) yield next;
      else await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }

  close(): void {
    this.#over = true;
    this.#wake();
  }
}

const PARAGRAPH =
  "Some *words* of an answer, with `code` and **more** of it, so that lines are wrapped.\n\n" +
  "- an item\n- [a link](https://example.com/page)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
  "```ts\nconst answer: number = compute(41) + 1; // why\n```\n\n";

/** Keys in a line while a megabyte of Markdown comes in, as pieces of a few characters in bursts. */
async function typing(megabytes: number): Promise<number[]> {
  const tty = new BlindTty(), input = new Input(tty);
  const sink = sinkTo(() => {});
  input.start();
  const line = input.readLine({ prompt: "> " });
  await pause(50);
  const latencies: number[] = [];
  let streaming = true;
  const stream = (async () => {
    if (megabytes === 0) await pause(1500);
    sink.emit({ type: "turn_start", session: "s", model: "m", provider: "p", mode: "build" });
    for (let sent = 0; sent < megabytes * 1_000_000;) {
      // What one read from the network brings.
      for (let burst = 0; burst < 4096;) {
        for (let at = 0; at < PARAGRAPH.length; at += 6) {
          sink.emit({ type: "token", text: PARAGRAPH.slice(at, at + 6) });
        }
        burst += PARAGRAPH.length;
        sent += PARAGRAPH.length;
      }
      await pause(2);
    }
    streaming = false;
  })();
  while (streaming) {
    // The time runs from when the key should have come, so that a busy event loop counts.
    const due = performance.now() + 5;
    await new Promise<void>((resolve) => {
      tty.onWrite = () => {
        tty.onWrite = () => {};
        latencies.push(performance.now() - due);
        resolve();
      };
      setTimeout(() => tty.type("x"), 5);
    });
  }
  await stream;
  sink.close();
  tty.type("\r");
  await line;
  input.close();
  return latencies;
}

if (import.meta.main) {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-bench-terminal-" }));
  try {
    const calm = await typing(0), keys = await typing(1);
    const most = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.95)] ?? NaN;
    const figures: TerminalFigures = {
      ...await firstCharacter(folder, 31),
      key: most(keys),
      calm: most(calm),
      usual: median(keys),
      usualCalm: median(calm),
    };
    console.log(JSON.stringify(figures));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
