/**
 * One turn: rounds of asking the model and running what it asks for, until it answers.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { assistantMessage, safeName, toolMessage } from "../llm/messages.ts";
import type { ChatOptions, Provider, ToolCall, Usage } from "../provider/provider.ts";
import type { SessionWriter, TurnStatus } from "../session/turns.ts";
import type { Settings } from "../config/settings.ts";
import type { UiSink } from "../ui/sink.ts";
import { analyse } from "./analysis.ts";
import { type Answer, type DispatcherPort, runBatch, type ToolLookup } from "./batch.ts";
import { compact, type Compaction } from "./compaction.ts";
import { CONTINUE, type Conversation } from "./context.ts";
import { refineArguments } from "./refine.ts";
import { EMPTY, type Reply, streamReply } from "./reply.ts";

/** What a turn came to. */
export interface TurnResult {
  readonly status: TurnStatus;
  /** The answer's text; null when there is none. */
  readonly content: string | null;
  /** All thinking of the turn; null when there is none. */
  readonly thinking: string | null;
  /** Every call that the model asked for, as called. */
  readonly toolCalls: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly errors: readonly { readonly code: number | string; readonly message: string }[];
  /** Calls that the policy refused or nobody approved, with the rule that decided. */
  readonly denied: readonly { readonly tool: string; readonly rule: string; readonly reason: string }[];
  /** Summed over all rounds; null when the provider did not say. */
  readonly usage: Usage | null;
  /** Tokens of the conversation at the last request, what came back included; absent when the provider did not say. */
  readonly context?: number;
  /** Seconds. */
  readonly duration: number;
}

/** The parts that a turn works with. */
export interface TurnContext {
  readonly provider: Provider;
  readonly dispatcher: DispatcherPort;
  readonly registry: ToolLookup;
  readonly session: SessionWriter;
  readonly sink: UiSink;
  readonly settings: Settings;
  readonly conversation: Conversation;
  /** A call of the user's, which stands for the first reply. */
  readonly first?: { readonly name: string; readonly arguments: string };
  /** Why the turn is to end after the call that runs now, or null. */
  readonly halted?: () => string | null;
  /** Schemas of the tools for the next round, with their size in characters. */
  readonly tools: () => { readonly definitions: Parameters<Provider["chat"]>[1]; readonly size: number };
}

/** The same call refused this often in a row ends the turn. */
const MAX_DENIALS = 3;

/** Words by which servers say that a request is longer than the model's window. */
const TOO_LONG =
  /context.{0,24}(length|window|size|limit)|maximum.{0,16}context|too many tokens|prompt is too long|exceeds?.{0,32}(token|context)/i;

/** Runs one turn. */
export class Turn {
  readonly #context: TurnContext;
  readonly #abort = new AbortController();
  #usage: Usage | null = null;
  #last: Usage | null = null;
  #thinking: string[] = [];
  #toolCalls: { name: string; arguments: Record<string, unknown> }[] = [];
  #errors: { code: number | string; message: string }[] = [];
  #denied: { tool: string; rule: string; reason: string }[] = [];
  #content = "";
  /** Pairs of a partial answer and a request to go on, at the end of the conversation. */
  #continued = 0;
  #repeated = { key: "", times: 0 };
  #shortened = false;
  #first: TurnContext["first"];

  /** @param context the parts; @param signal cancels the turn */
  constructor(context: TurnContext, signal: AbortSignal) {
    this.#context = context;
    this.#first = context.first;
    if (signal.aborted) this.#abort.abort();
    else {signal.addEventListener("abort", () => this.#abort.abort(), {
        once: true,
        signal: this.#abort.signal,
      });}
  }

  /** Runs it to its end. Never throws for what model, provider and tools do. */
  async run(): Promise<Omit<TurnResult, "duration">> {
    let status: TurnStatus;
    try {
      status = await this.#rounds();
    } catch (error) {
      status = this.#fail("engine", `Agent loop failed: ${messageOf(error)}`);
    }
    // Only where something broke in between is anything left to put together here.
    const rest = this.#mergeContinued("");
    if (rest !== "") this.#context.conversation.push(assistantMessage(rest));
    this.#abort.abort();
    return {
      status,
      content: this.#content === "" ? null : this.#content,
      thinking: this.#thinking.length > 0 ? this.#thinking.join("\n\n") : null,
      toolCalls: this.#toolCalls,
      errors: this.#errors,
      denied: this.#denied,
      usage: this.#usage,
      ...(this.#last === null ? {} : { context: this.#last.total_tokens }),
    };
  }

  async #rounds(): Promise<TurnStatus> {
    const { settings } = this.#context;
    let cutRounds = 0;
    for (let round = 1; round <= settings.max_rounds;) {
      const reply = round === 1 && this.#first ? this.#begin(this.#first) : await this.#ask(round);
      if (reply.end === "error" && this.#shorten(reply)) continue;
      if (reply.end === "cancelled") return this.#finish(reply, "cancelled");
      if (reply.end === "error") {
        this.#finish(reply, "error");
        return this.#fail(reply.error!.code, reply.error!.message);
      }
      if (reply.calls.length > 0) {
        const answers = await this.#batch(reply, round);
        if (this.#abort.signal.aborted) return "cancelled";
        if (this.#context.halted?.()) return "ok";
        const stuck = this.#stuck(answers);
        if (stuck) return this.#fail("denied", stuck);
        cutRounds = reply.end === "length" ? cutRounds + 1 : 0;
        if (cutRounds > settings.auto_continue_max) return this.#truncated();
        this.#content = "";
        round++;
        continue;
      }
      if (reply.end === "length") {
        if (reply.text !== "" && this.#continued < settings.auto_continue_max) {
          this.#partial(reply);
          continue;
        }
        this.#finish(reply, "truncated");
        return this.#truncated();
      }
      this.#finish(reply, "ok");
      if (reply.end === "content_filter") {
        return this.#fail("content_filter", "The provider's content filter stopped the reply");
      }
      if (reply.end === "empty" && this.#content === "") return this.#problem("empty", "empty", EMPTY);
      return "ok";
    }
    return this.#fail(
      "max_rounds",
      `Stopped after ${settings.max_rounds} rounds without an answer (max_rounds); continue with a new prompt`,
    );
  }

  /** The user's call in the form of a reply. */
  #begin(call: NonNullable<TurnContext["first"]>): Reply {
    this.#first = undefined;
    return {
      text: "",
      thinking: "",
      calls: [{ id: "", ...call }],
      usage: null,
      end: "tool_calls",
      error: null,
    };
  }

  /** Asks for the next reply, and keeps usage, thinking and text in the session. */
  async #ask(round: number): Promise<Reply> {
    const { provider, session, settings, sink, conversation } = this.#context;
    const { definitions, size } = this.#context.tools();
    this.#compact(size);
    const chars = conversation.chars + size;
    const options: ChatOptions = {
      model: provider.model,
      ...(settings.max_tokens > 0 ? { maxTokens: settings.max_tokens } : {}),
      temperature: settings.temperature,
      reasoning: settings.reasoning,
      signal: this.#abort.signal,
    };
    const reply = await streamReply({
      provider,
      messages: conversation.messages,
      tools: definitions,
      options,
      signal: this.#abort.signal,
      sink,
      retries: settings.stream_retries,
      delay: settings.stream_retry_delay,
      onSpent: (usage) => this.#addUsage(usage),
    });
    if (reply.usage) {
      this.#addUsage(reply.usage);
      this.#last = reply.usage;
      conversation.calibrate(reply.usage.prompt_tokens, chars);
    }
    if (reply.thinking !== "") {
      this.#thinking.push(reply.thinking);
      session.text("thinking", reply.thinking, round);
    }
    if (reply.text !== "") {
      this.#content += reply.text;
      session.text("text", reply.text, round);
    }
    return reply;
  }

  async #batch(reply: Reply, round: number): Promise<readonly Answer[]> {
    const { conversation, settings, sink, dispatcher, registry, session, provider } = this.#context;
    const calls = reply.calls.map((call): ToolCall => ({ ...call, id: conversation.claimId(call.id) }));
    const answers = await runBatch(calls, reply.end === "length", {
      dispatcher,
      registry,
      session,
      sink,
      signal: this.#abort.signal,
      cancel: () => this.#abort.abort(),
      halted: this.#context.halted,
      round,
      refine: settings.query_refine
        ? (tool, raw) =>
          refineArguments(tool, raw, {
            provider,
            settings,
            messages: conversation.messages,
            signal: this.#abort.signal,
            onUsage: (usage) => this.#addUsage(usage),
          })
        : null,
      analyse: settings.tool_analysis
        ? (call) => analyse(provider, call, this.#abort.signal, (usage) => this.#addUsage(usage))
        : null,
    });
    const sent = answers.map(({ call, arguments: text }) => ({
      id: call.id,
      name: safeName(call.name),
      arguments: text,
    }));
    const text = this.#mergeContinued(reply.text);
    conversation.push(assistantMessage(text, { thinking: reply.thinking, calls: sent }));
    answers.forEach((answer, i) => conversation.push(toolMessage(sent[i]!, answer.result.content)));
    for (const { call, result, input } of answers) {
      this.#toolCalls.push({ name: call.name, arguments: input });
      if (result.outcome === "denied" || result.outcome === "declined") {
        this.#denied.push({
          tool: result.name,
          rule: result.decision?.rule ?? "",
          reason: result.decision?.reason ?? result.content,
        });
      }
    }
    return answers;
  }

  /** A message when the same call has now been refused several times in a row. */
  #stuck(answers: readonly Answer[]): string | null {
    for (const { result } of answers) {
      if (result.outcome !== "denied" && result.outcome !== "declined") {
        this.#repeated = { key: "", times: 0 };
        continue;
      }
      const key = `${result.name} ${JSON.stringify(result.args)}`;
      this.#repeated = { key, times: this.#repeated.key === key ? this.#repeated.times + 1 : 1 };
      if (this.#repeated.times >= MAX_DENIALS) {
        return `The same ${result.name} call was refused ${MAX_DENIALS} times in a row` +
          (result.decision ? ` [${result.decision.rule}]` : "");
      }
    }
    return null;
  }

  /** Keeps a partial answer in the conversation and asks to go on. */
  #partial(reply: Reply): void {
    const { conversation } = this.#context;
    conversation.push(assistantMessage(reply.text, { thinking: reply.thinking }));
    conversation.push({ role: "user", content: CONTINUE });
    this.#continued++;
  }

  /** Takes partial answers and their requests out of the conversation again; their text and `text` as one. */
  #mergeContinued(text: string): string {
    if (this.#continued === 0) return text;
    const { conversation } = this.#context;
    const start = conversation.length - 2 * this.#continued;
    const parts = conversation.messages.slice(start).filter((message) => message.role === "assistant");
    conversation.truncate(start);
    this.#continued = 0;
    return parts.map((message) => message.content ?? "").join("") + text;
  }

  /** Ends with this reply as the answer. */
  #finish(reply: Reply, status: TurnStatus): TurnStatus {
    const text = this.#mergeContinued(reply.text);
    if (text !== "") this.#context.conversation.push(assistantMessage(text, { thinking: reply.thinking }));
    return status;
  }

  #truncated(): TurnStatus {
    const { max_tokens } = this.#context.settings;
    const limit = max_tokens > 0 ? String(max_tokens) : "the provider's default";
    return this.#problem(
      "truncated",
      "max_tokens",
      `Assistant output truncated: max_tokens limit reached (${limit})`,
    );
  }

  #fail(code: number | string, message: string): TurnStatus {
    return this.#problem("error", code, message);
  }

  #problem(status: TurnStatus, code: number | string, message: string): TurnStatus {
    this.#errors.push({ code, message });
    this.#context.sink.emit({ type: "error", code, message });
    try {
      this.#context.session.error(code, message);
    } catch (error) {
      this.#context.sink.emit({
        type: "warning",
        message: `the session could not be written: ${messageOf(error)}`,
      });
    }
    return status;
  }

  #addUsage(usage: Usage): void {
    const sum = this.#usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    this.#usage = {
      prompt_tokens: sum.prompt_tokens + usage.prompt_tokens,
      completion_tokens: sum.completion_tokens + usage.completion_tokens,
      total_tokens: sum.total_tokens + usage.total_tokens,
    };
  }

  /** Compacts what is sent where the window is known and nearly full. */
  #compact(size: number): void {
    const { context_window: window, compact_threshold: share } = this.#context.settings;
    if (window <= 0) return;
    const { conversation, sink } = this.#context;
    if (share > 0) this.#report(compact(conversation, window * share, size));
    const tokens = conversation.tokens(size);
    if (tokens > window) {
      const message = `the context is about ${tokens} tokens, more than the model's window of ${window}`;
      sink.emit({ type: "warning", message });
    }
  }

  /** A server that says the request is too long gets a shorter one, once a turn. */
  #shorten(reply: Reply): boolean {
    const code = Number(reply.error?.code);
    if (this.#shortened || reply.text !== "" || ![400, 413, 422].includes(code)) return false;
    if (code !== 413 && !TOO_LONG.test(reply.error!.message)) return false;
    this.#shortened = true;
    const { size } = this.#context.tools();
    const done = compact(this.#context.conversation, this.#context.conversation.tokens(size) / 2, size);
    this.#report(done);
    return done !== null && done.results + done.turns > 0;
  }

  #report(done: Compaction | null): void {
    if (!done || done.results + done.turns === 0) return;
    const { results, turns, before, after } = done;
    const what = [
      ...(results > 0 ? [`${results} tool result${results === 1 ? "" : "s"}`] : []),
      ...(turns > 0 ? [`${turns} earlier turn${turns === 1 ? "" : "s"}`] : []),
    ].join(" and ");
    this.#context.sink.emit({
      type: "warning",
      message:
        `context compacted: ${what} left out of what is sent (about ${before} tokens before, ${after} now); the session keeps all`,
    });
  }
}
