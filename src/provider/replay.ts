/**
 * Plays recorded conversations and records new ones. Everything but the model's words is real then: the tools run.
 * What a recording expects and what happens are compared, and the first difference ends the run with exit 4.
 *
 * @module
 */
import { ConfigError, EXIT, messageOf, PolyglavError } from "../errors.ts";
import type { ToolDefinition } from "../tool.ts";
import {
  conversationOf,
  digest,
  type Expectation,
  expectationOf,
  normalizer,
  parseRecording,
  type RecordedExchange,
  type Recording,
  sinceLastReply,
} from "./_recording.ts";
import type { ChatMessage, ChatOptions, Provider, ProviderEvent, ToolCall } from "./provider.ts";

/** What a recording expects and what happened differ (exit 4). */
export class DriftError extends PolyglavError {
  /** @param message one line that names the exchange and the first difference */
  constructor(message: string) {
    super(message, EXIT.drift);
  }
}

/** How a recording is played or written. */
export interface RecordingOptions {
  /** Absolute path of the worktree; it is `{WORKTREE}` in recordings. Empty: not replaced. */
  readonly worktree?: string;
}

/**
 * A provider that plays a recording.
 *
 * @param file path of the recording
 * @throws {ConfigError} when it cannot be read or understood; the message names file and line
 */
export function createReplayProvider(file: string, options: RecordingOptions = {}): Provider {
  let text: string;
  try {
    text = Deno.readTextFileSync(file);
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read (${messageOf(error)})`);
  }
  return new ReplayProvider(parseRecording(text, file), file, options.worktree ?? "");
}

class ReplayProvider implements Provider {
  readonly name = "replay";
  readonly model: string;
  readonly #recording: Recording;
  readonly #file: string;
  readonly #worktree: string;
  readonly #normalize: (text: string) => string;
  /** The first exchange that was not asked for yet. */
  #next = 0;
  readonly #used = new Set<number>();
  /** One request after another finds its exchange. */
  #turn: Promise<unknown> = Promise.resolve();
  #drift: string | null = null;
  #cancelled = false;

  constructor(recording: Recording, file: string, worktree: string) {
    this.model = recording.model;
    this.#recording = recording;
    this.#file = file;
    this.#worktree = worktree;
    this.#normalize = normalizer(worktree);
  }

  async *chat(
    messages: readonly ChatMessage[],
    _tools: readonly ToolDefinition[],
    options: ChatOptions,
  ): AsyncGenerator<ProviderEvent> {
    if (options.signal?.aborted) {
      this.#cancelled = true;
      yield { type: "done", finish: "cancelled" };
      return;
    }
    const exchange = await this.#take(messages);
    if (exchange === null) {
      yield { type: "error", code: 0, message: `replay drift: ${this.#drift}`, retryable: false };
      return;
    }
    for (const event of this.#events(exchange)) {
      if (options.signal?.aborted) {
        this.#cancelled = true;
        yield { type: "done", finish: "cancelled" };
        return;
      }
      yield event;
    }
  }

  /** @throws {DriftError} when something differed, or exchanges are left */
  close(): Promise<void> {
    const left = this.#recording.exchanges.length - this.#used.size;
    if (this.#drift !== null) {
      return Promise.reject(new DriftError(`replay drift: ${this.#file}: ${this.#drift}`));
    }
    if (left > 0 && !this.#cancelled) {
      const { line } = this.#recording.exchanges[this.#next]!;
      const what = left === 1 ? "1 exchange was" : `${left} exchanges were`;
      return Promise.reject(
        new DriftError(
          `replay drift: ${this.#file}: the run ended, but ${what} never asked for (from line ${line} on)`,
        ),
      );
    }
    return Promise.resolve();
  }

  *#events(exchange: RecordedExchange): Generator<ProviderEvent> {
    if (exchange.thinking !== "") yield { type: "thinking", text: this.#restore(exchange.thinking) };
    for (const [text] of this.#restore(exchange.content).matchAll(/\S+\s*|\s+/g)) {
      yield { type: "token", text };
    }
    if (exchange.error) {
      yield { type: "error", ...exchange.error };
      return;
    }
    if (exchange.calls.length > 0) {
      const calls = exchange.calls.map((call): ToolCall => ({
        ...call,
        arguments: this.#restore(call.arguments, JSON.stringify(this.#worktree).slice(1, -1)),
      }));
      yield { type: "tool_calls", calls };
    }
    yield {
      type: "done",
      finish: exchange.finish,
      ...(exchange.usage ? { usage: exchange.usage } : {}),
    };
  }

  #restore(text: string, worktree = this.#worktree): string {
    return this.#worktree === "" ? text : text.replaceAll("{WORKTREE}", () => worktree);
  }

  /** The exchange that answers a request; null: it differs from what was recorded. */
  #take(messages: readonly ChatMessage[]): Promise<RecordedExchange | null> {
    const taken = this.#turn.then(async () => {
      if (this.#drift !== null) return null;
      const at = await this.#place(messages);
      this.#drift = await this.#difference(messages, at);
      if (this.#drift !== null) return null;
      this.#used.add(at);
      while (this.#used.has(this.#next)) this.#next++;
      return this.#recording.exchanges[at]!;
    });
    this.#turn = taken.catch(() => {});
    return taken;
  }

  /** Sub-agents that work beside each other ask in any order: of their exchanges each finds its own conversation's next. */
  async #place(messages: readonly ChatMessage[]): Promise<number> {
    const { exchanges } = this.#recording;
    if (exchanges[this.#next]?.conversation === undefined) return this.#next;
    const own = await conversationOf(messages, this.#normalize);
    for (let i = this.#next; exchanges[i]?.conversation !== undefined; i++) {
      if (!this.#used.has(i) && exchanges[i]!.conversation === own) return i;
    }
    return this.#next;
  }

  async #difference(messages: readonly ChatMessage[], at: number): Promise<string | null> {
    const { exchanges } = this.#recording;
    const got = sinceLastReply(messages);
    const exchange = exchanges[at];
    if (!exchange) {
      const last = got[got.length - 1];
      return `the recording has ${exchanges.length} exchange${exchanges.length === 1 ? "" : "s"}, ` +
        `but the run asks for one more (after ${
          last ? `${nameOf(last)} ${quote(last.content)}` : "nothing"
        })`;
    }
    if (exchange.expect === null) return null;
    const where = `exchange ${at + 1} (line ${exchange.line})`;
    const whole = exchange.expect.filter((e) =>
      typeof e !== "string" && e.has === undefined
    ) as Expectation[];
    if (whole.length > 0 && whole.length !== got.length) {
      const names = (list: readonly { role?: string; name?: string }[]) =>
        list.map((m) => m.name ?? m.role ?? "any").join(", ") || "nothing";
      return `${where} expects ${whole.length} message${whole.length === 1 ? "" : "s"} (${
        names(whole)
      }), got ${got.length} (${names(got)})`;
    }
    let i = 0;
    for (const expected of exchange.expect) {
      const difference = typeof expected === "string"
        ? this.#lacks(got, {}, expected)
        : expected.has !== undefined
        ? this.#lacks(got, expected, expected.has)
        : await this.#compare(expected, got[i++]!);
      if (difference !== null) return `${where}: ${difference}`;
    }
    return null;
  }

  #lacks(got: ReturnType<typeof sinceLastReply>, of: Expectation, part: string): string | null {
    const wanted = this.#normalize(part);
    const fitting = got.filter((message) => fits(message, of));
    if (fitting.some((m) => m.content.includes(part) || this.#normalize(m.content).includes(wanted))) {
      return null;
    }
    const last = fitting[fitting.length - 1];
    const what = of.name ?? of.role ?? "what came since the last reply";
    return `${what} lacks ${quote(part)}; got ${
      last ? `${nameOf(last)} ${quote(last.content)}` : "no such message"
    }`;
  }

  async #compare(
    expected: Expectation,
    got: ReturnType<typeof sinceLastReply>[number],
  ): Promise<string | null> {
    if (!fits(got, expected)) {
      return `expects a message of ${expected.name ?? expected.role}, got ${nameOf(got)} ${
        quote(got.content)
      }`;
    }
    const text = this.#normalize(got.content);
    if (expected.text !== undefined) return firstDifference(nameOf(got), expected.text, text);
    if (expected.head !== undefined) {
      const difference = firstDifference(nameOf(got), expected.head, text.slice(0, expected.head.length));
      if (difference !== null) return difference;
    }
    if (expected.chars !== undefined && expected.chars !== text.length) {
      return `${nameOf(got)}: ${expected.chars} characters recorded, ${text.length} now`;
    }
    if (expected.sha256 !== undefined && expected.sha256 !== await digest(text)) {
      return `${nameOf(got)}: the text differs after its first ${expected.head?.length ?? 0} characters`;
    }
    return null;
  }
}

function fits(message: ReturnType<typeof sinceLastReply>[number], expected: Expectation): boolean {
  if (expected.role !== undefined && expected.role !== message.role) return false;
  return expected.name === undefined || (message.role === "tool" && message.name === expected.name);
}

function nameOf(message: ReturnType<typeof sinceLastReply>[number]): string {
  return message.role === "tool" ? `the result of ${message.name}` : "the user's message";
}

/** The first line in which two texts differ, or null. */
function firstDifference(what: string, recorded: string, now: string): string | null {
  if (recorded === now) return null;
  const a = recorded.split("\n"), b = now.split("\n");
  let line = 0;
  while (line < a.length && line < b.length && a[line] === b[line]) line++;
  const show = (lines: string[]) => line < lines.length ? quote(lines[line]!) : "no such line";
  return `${what} differs in line ${line + 1}: recorded ${show(a)}, now ${show(b)}`;
}

function quote(text: string): string {
  const short = text.length > 120 ? `${text.slice(0, 120).toWellFormed()}…` : text;
  return JSON.stringify(short);
}

/**
 * Wraps a provider and writes each exchange as a line of a recording.
 *
 * @param file path of the recording; what stands there is replaced
 * @throws {ConfigError} when it cannot be written
 */
export function recordProvider(provider: Provider, file: string, options: RecordingOptions = {}): Provider {
  let out: Deno.FsFile;
  try {
    out = Deno.openSync(file, { write: true, create: true, truncate: true, mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`${file}: cannot be written (${messageOf(error)})`);
  }
  return new RecordingProvider(provider, out, options.worktree ?? "");
}

class RecordingProvider implements Provider {
  readonly name: string;
  readonly model: string;
  readonly #inner: Provider;
  readonly #out: Deno.FsFile;
  readonly #normalize: (text: string) => string;
  readonly #worktree: string;
  /** The conversation that asked first. */
  #first: string | null = null;
  #closed = false;

  constructor(inner: Provider, out: Deno.FsFile, worktree: string) {
    this.name = inner.name;
    this.model = inner.model;
    this.#inner = inner;
    this.#out = out;
    this.#worktree = worktree;
    this.#normalize = normalizer(worktree);
    this.#write({ type: "recording", version: 1, provider: inner.name, model: inner.model });
  }

  async warm(): Promise<void> {
    await this.#inner.warm?.();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#out.close();
    await this.#inner.close?.();
  }

  async *chat(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
  ): AsyncGenerator<ProviderEvent> {
    const expect = await Promise.all(sinceLastReply(messages).map((m) => expectationOf(m, this.#normalize)));
    const conversation = await conversationOf(messages, this.#normalize);
    this.#first ??= conversation;
    let thinking = "", content = "";
    let rest: Record<string, unknown> = {};
    for await (const event of this.#inner.chat(messages, tools, options)) {
      if (event.type === "thinking") thinking += event.text;
      else if (event.type === "token") content += event.text;
      else if (event.type === "tool_calls") rest.tool_calls = event.calls.map((call) => this.#call(call));
      else if (event.type === "error") {
        const { type: _, ...error } = event;
        rest.error = error;
      } else {
        const { finish, usage } = event;
        if (finish === "cancelled") rest = { cancelled: true };
        else rest = { ...rest, finish, ...(usage ? { usage } : {}) };
      }
      // The line is written before the engine goes on, so that a run that ends here has it.
      if ((event.type === "done" || event.type === "error") && !rest.cancelled) {
        this.#write({
          type: "exchange",
          ...(conversation === this.#first ? {} : { conversation }),
          expect,
          ...(thinking ? { thinking: this.#hide(thinking) } : {}),
          ...(content ? { content: this.#hide(content) } : {}),
          ...rest,
        });
      }
      yield event;
    }
  }

  #call(call: ToolCall): Record<string, unknown> {
    const text = this.#hide(call.arguments);
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        return { id: call.id, name: call.name, arguments: value };
      }
    } catch { /* kept as the model wrote it */ }
    return { id: call.id, name: call.name, arguments: text };
  }

  #hide(text: string): string {
    return this.#worktree.length < 2 ? text : text.replaceAll(this.#worktree, "{WORKTREE}");
  }

  #write(line: Record<string, unknown>): void {
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
    for (let at = 0; at < bytes.length;) at += this.#out.writeSync(bytes.subarray(at));
  }
}
