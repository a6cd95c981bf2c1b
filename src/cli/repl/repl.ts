/**
 * An interactive session: the conversation that the person is in, and what can be done with it. It knows nothing of
 * prompts and keys, only the front.
 *
 * @module
 */
import type { FocusedHead } from "../../engine/focus.ts";
import type { ContextUse, FirstCall } from "../../engine/engine.ts";
import type { Shared } from "../../engine/heads.ts";
import type { Instructions } from "../../engine/prompt.ts";
import type { Run } from "../../engine/runs.ts";
import type { TurnResult } from "../../engine/turn.ts";
import { PolyglavError, UsageError } from "../../errors.ts";
import type { LivePolicy } from "../../policy/live.ts";
import type { CallResult } from "../../registry/dispatch.ts";
import type { OpenSession } from "../../session/store.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { nearest } from "../../text/nearest.ts";
import { basename } from "../../text/path.ts";
import type { HostCallOptions } from "../../tool.ts";
import type { Invocation } from "../_command.ts";
import type { ChangeWatch } from "../../undo/changes.ts";
import type { Host, openDispatcher } from "../_host.ts";
import type { Settings } from "../../config/settings.ts";
import { userCall } from "./calls.ts";
import type { Conversation } from "./conversation.ts";
import { Extras } from "./extras.ts";
import type { SlashCommand } from "../slash/_command.ts";
import type { Front } from "./front.ts";
import { mentionsOf, withAttachments } from "./mentions.ts";
import type { LiveProvider } from "./provider.ts";
import { withSessionRules } from "./session_rules.ts";

/** What an interactive session is made of. */
export interface ReplParts {
  readonly host: Host;
  readonly front: Front;
  readonly provider: LiveProvider;
  /** The settings in force, as one object that follows the policy's. */
  readonly settings: Settings;
  /** Slash commands that plugins bring. */
  readonly more: readonly SlashCommand[];
  /** What calls go through; opened when it is first needed. */
  readonly opened: () => ReturnType<typeof openDispatcher>;
  /** The project's instructions; read once. */
  readonly instructions: () => Promise<Instructions | null>;
  /** The command line's values. */
  readonly values: Invocation["values"];
}

/** See the module's comment. */
export class Repl {
  readonly host: Host;
  readonly live: LivePolicy;
  readonly front: Front;
  readonly provider: LiveProvider;
  /** The settings in force; the same object for good, so that who holds it sees changes. */
  readonly settings: Settings;
  /** Names and values of the command line. */
  readonly values: Invocation["values"];
  /** What slash commands keep between calls. */
  readonly extras: Extras;
  /** Slash commands that plugins bring. */
  readonly more: readonly SlashCommand[];
  /** Questions of agents are parked instead of shown. */
  unattended: boolean;
  /** The last answer, or null. */
  lastAnswer: string | null = null;
  /** The person has said to leave. */
  leaving = false;
  readonly #parts: ReplParts;
  #here: Promise<Conversation> | null = null;
  #now: Conversation | null = null;
  #focus: FocusedHead | null = null;
  #handover: Run | null = null;
  #notes: string[] = [];
  #calls = 0;
  #running: AbortController | null = null;
  #asksToBuild = true;
  #used = false;
  #changes: ChangeWatch | null = null;
  /** The configuration as it was read last: what is in force beside it was said for this session. */
  #base: Settings;

  /** @param parts what it is made of; nothing is opened yet */
  constructor(parts: ReplParts) {
    this.#parts = parts;
    this.host = parts.host;
    this.live = parts.host.policy;
    this.front = parts.front;
    this.provider = parts.provider;
    this.values = parts.values;
    this.more = parts.more;
    this.unattended = parts.values.unattended === true;
    this.settings = parts.settings;
    this.extras = new Extras();
    this.#base = this.live.input.settings;
  }

  /** Title of the window while nothing runs. */
  get title(): string {
    return `polyglav ${basename(this.host.worktree) || this.host.worktree}`;
  }

  /** Name of the mode. */
  get mode(): string {
    return this.live.mode;
  }

  /** The run that the person talks to, where it is not the root. */
  get focus(): Run | null {
    return this.#focus?.head.run ?? null;
  }

  /** The session that is open, or null before the first turn. */
  get session(): OpenSession | null {
    return this.#now?.session ?? null;
  }

  /** Name of the session of whom the person talks to; undefined before there is one. */
  get talksTo(): string | undefined {
    return this.#focus?.head.session.name ?? this.#now?.session.name;
  }

  /** A turn or a call is running. */
  get busy(): boolean {
    return this.#running !== null;
  }

  /** The runs of this session: the root and its sub-agents. */
  get runs(): readonly Run[] {
    return this.#now?.shared.runs.list() ?? [];
  }

  /** Prints lines that are clean already. */
  print(text: string): void {
    this.front.print(text);
  }

  /** Switches the mode from the next call on. @throws {UsageError} for an unknown one */
  async setMode(mode: string): Promise<void> {
    const names = this.modes();
    if (!names.includes(mode)) {
      const near = nearest(mode, names);
      throw new UsageError(
        `there is no mode "${mode}"${near ? `, did you mean "${near}"?` : ""}; modes are ${names.join(", ")}`,
      );
    }
    await this.live.setMode(mode);
    this.#asksToBuild = true;
  }

  /** Names of all modes. */
  modes(): string[] {
    return [...new Set(["build", "plan", ...Object.keys(this.settings.modes)])];
  }

  /** Cancels what runs. @returns whether something did */
  cancel(): boolean {
    if (!this.#running || this.#running.signal.aborted) return false;
    this.#running.abort(new DOMException("cancelled by the person", "AbortError"));
    return true;
  }

  /** Waits for something that nobody can stop, such as a server's list; Ctrl-C stops the waiting. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    return await this.#cancellable((signal) =>
      new Promise<T>((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new PolyglavError("cancelled")), { once: true });
        work().then(resolve, reject);
      })
    );
  }

  /** A note that the model reads with the next prompt. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** A prompt as it was typed: its mentions are attached, then the model is asked. Null: it was cancelled before. */
  async prompt(text: string): Promise<TurnResult | null> {
    return await this.#cancellable(async (signal) => {
      const attachments = [];
      for (const mention of mentionsOf(text)) {
        const found = await this.extras.locate(this.host.worktree, this.host.paths.home, mention);
        if (found === null) continue;
        const tool = found.isDirectory ? "list_dir" : "file_read";
        const result = await this.#userCall(tool, { path: found.path }, signal);
        if (signal.aborted || result.cancelled) return null;
        if (!result.isError) attachments.push({ path: found.path, content: result.content });
      }
      return await this.#turn(withAttachments(text, attachments), signal);
    });
  }

  /** Runs a tool as a turn of the loop: its call and result are recorded, and the model answers. */
  async loopTool(name: string, args: Readonly<Record<string, unknown>>): Promise<TurnResult | null> {
    const json = JSON.stringify(args);
    return await this.#cancellable((signal) =>
      this.#turn(`/tool ${name} ${json}`, signal, { name, arguments: json })
    );
  }

  /** Runs a command for the person, through the policy; the model reads its output with the next prompt. */
  async command(command: string): Promise<CallResult> {
    const result = await this.call("run_command", { command });
    if (result.outcome === "granted" && !result.cancelled) {
      if (!result.isError) this.print(cleanForTerminal(result.content));
      this.note(`[the user ran a command: ${command}]\n${result.content}`);
    }
    return result;
  }

  /**
   * Runs a tool for the person, through the policy, announced as the model's calls are. The content of its result is not
   * shown, but errors and notes are.
   */
  async call(name: string, args: unknown): Promise<CallResult> {
    return await this.#cancellable((signal) => this.#userCall(name, args, signal));
  }

  /**
   * Runs a tool whose effect is kept in the session (the list of steps): recorded as a turn of its own, so that resuming
   * finds it, and told to the model with the next prompt.
   */
  async keptCall(text: string, name: string, args: unknown): Promise<CallResult> {
    return await this.#cancellable(async (signal) => {
      const { head } = this.#focus ?? await this.#open(), { session } = head;
      const id = `user_turn_${session.object().turns.length + 1}`;
      const about = { provider: this.provider.name, model: this.provider.model, mode: this.mode };
      session.startTurn({ ...about, reasoning: this.settings.reasoning, prompt: text });
      session.toolStart({ id, tool: name, input: args as Record<string, unknown>, round: 1 });
      const result = await this.#userCall(name, args, signal);
      session.toolEnd({ id, output: result.content, is_error: result.isError });
      session.endTurn(result.cancelled ? "cancelled" : "ok", null);
      if (!result.isError) this.note(`[the user ran ${text}]\n${result.content}`);
      return result;
    });
  }

  /** What commands changed of tracked files in this session, since it was opened. */
  async changes(): Promise<ChangeWatch> {
    return (await this.#parts.opened()).changes;
  }

  /** How full the model's window is. */
  async context(): Promise<ContextUse> {
    return (this.#focus?.engine ?? (await this.#open()).engine).context();
  }

  /** Replaces what the model knows of the conversation by a summary of it. @returns the summary; empty: none came */
  async compact(): Promise<string> {
    await this.provider.ready();
    const { head, engine } = this.#focus ?? await this.#open();
    const turns = head.session.object().turns.length;
    if (turns === 0) throw new PolyglavError("there is nothing to compact yet");
    const { compactSession } = await import("../../engine/delegation.ts");
    return await this.#cancellable(async (signal) => {
      const summary = await compactSession(head, turns, signal);
      if (summary !== "") engine.forget();
      return summary;
    });
  }

  /**
   * Goes on with another session.
   *
   * @param name of one that exists or begins; null: a new one at the next prompt
   * @throws {PolyglavError} where it cannot be opened: the one of before is closed already
   */
  async switchTo(name: string | null): Promise<void> {
    this.#leave();
    this.extras.session = null;
    if (name !== null) {
      this.extras.session = name;
      await this.#open();
    }
  }

  /** The session, opened where there is none yet. */
  async opened(): Promise<OpenSession> {
    return (await this.#open()).session;
  }

  /** What the agents share, for commands about them. */
  async shared(): Promise<Shared> {
    return (await this.#open()).shared;
  }

  /** Talks to a sub-agent from now on; null: to the root. @throws {ToolError} where that cannot be */
  async focusOn(run: Run | null): Promise<void> {
    if (run?.id === this.focus?.id && run !== null) return;
    this.#focus?.close();
    this.#focus = null;
    if (run === null || run.parent === null) return;
    const [{ openFocus }, { HeadPort }] = await Promise.all([
      import("../../engine/focus.ts"),
      import("../../engine/host_port.ts"),
    ]);
    const { head, shared } = await this.#open();
    this.#focus = await openFocus(shared, head, run, this.front.sink, (of) => new HeadPort(shared, of));
  }

  /** An operation of the engine that a tool asks for. */
  async serve(operation: string, input: Readonly<Record<string, unknown>>, options?: HostCallOptions) {
    const [{ head, shared }, { HeadPort }] = await Promise.all([
      this.#open(),
      import("../../engine/host_port.ts"),
    ]);
    return await new HeadPort(shared, () => head).call(operation, input, options);
  }

  /**
   * Reads the configuration again: what changed counts from the next call on. Rules that were made for this session stay.
   *
   * @returns its warnings
   */
  async reload(): Promise<readonly string[]> {
    const { settings, warnings } = await this.#load(), before = this.#base;
    await this.live.change((now) => withSessionRules(settings, now, before));
    this.#base = settings;
    return warnings;
  }

  /** Takes note that what is in force now came from the configuration, where that has it. */
  async rebase(): Promise<void> {
    this.#base = (await this.#load()).settings;
  }

  async #load() {
    const [{ loadConfig }, { trustsRun }, { modelFlags }] = await Promise.all([
      import("../../config/load.ts"),
      import("../_load.ts"),
      import("../_model_flags.ts"),
    ]);
    return loadConfig({
      worktree: this.host.worktree,
      paths: this.host.paths,
      flags: { ...modelFlags("repl", this.values), mode: this.mode },
      trust: trustsRun(this.values, this.host.io),
    });
  }

  /** Closes everything. */
  async close(): Promise<void> {
    this.#leave();
    if (this.#used) await (await this.#parts.opened()).close();
    await this.provider.close();
  }

  #leave(): void {
    this.#focus?.close();
    this.#focus = null;
    this.#now?.session.close();
    this.#here = this.#now = null;
    this.#notes = [];
    this.lastAnswer = null;
    this.#changes?.clear();
  }

  /** Runs something that Ctrl-C ends. The window's title says that it runs, and the bell that it took long. */
  async #cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // What a command starts within a turn ends with it.
    if (this.#running) return await work(this.#running.signal);
    const controller = this.#running = new AbortController(), { front } = this, started = performance.now();
    const release = front.onInterrupt(() => void this.cancel());
    front.title(`… ${this.title}`);
    try {
      return await work(controller.signal);
    } finally {
      release();
      this.#running = null;
      front.title(this.title);
      const { bell } = this.settings.terminal;
      if (bell > 0 && performance.now() - started >= bell * 1000) front.bell();
    }
  }

  async #userCall(name: string, args: unknown, signal: AbortSignal): Promise<CallResult> {
    const { head } = this.#focus ?? await this.#open();
    await this.#watched(head.session.name, null);
    const result = await userCall(head, name, args, {
      sink: this.front.sink,
      signal,
      cancel: () => void this.cancel(),
      id: `user_${++this.#calls}`,
    });
    this.extras.called(result);
    return result;
  }

  /** What is written from now on belongs to this turn (null: to calls of the person's), and commands are watched. */
  async #watched(session: string, turn: number | null): Promise<void> {
    const { journal, changes } = await this.#parts.opened();
    journal.begin({ session, turn });
    changes.enabled = true;
    changes.turn = turn;
    this.#changes = changes;
  }

  async #turn(text: string, signal: AbortSignal, first?: FirstCall): Promise<TurnResult> {
    await this.provider.ready();
    const { shared, ...root } = await this.#open(), { head, engine } = this.#focus ?? root;
    const { deliverAnswers } = await import("../../engine/ask_routes.ts");
    const { texts } = deliverAnswers(shared, head);
    const prompt = [...texts, ...this.#notes.splice(0), text].join("\n\n");
    const { run } = head;
    head.halted = null;
    head.task = text;
    if (run.status !== "done") run.status = "running";
    await this.#watched(head.session.name, head.session.object().turns.length + 1);
    const result = await engine.runTurn(prompt, signal, first);
    shared.runs.end(run, result.status, result.usage);
    this.lastAnswer = result.content ?? this.lastAnswer;
    await this.#afterTurn(result);
    return result;
  }

  async #afterTurn(result: TurnResult): Promise<void> {
    const target = this.#handover;
    this.#handover = null;
    if (target) {
      await this.focusOn(target.parent === null ? null : target);
      this.print(this.front.style.dim(`(you talk to #${target.id} ${target.role ?? "root"} now)`));
    } else if (result.status === "ok" && result.content !== null) await this.#offerBuild();
  }

  /** After a plan: shall it be carried out? */
  async #offerBuild(): Promise<void> {
    if (this.mode !== "plan" || this.focus !== null || !this.#asksToBuild) return;
    const answer = await this.front.ask({
      question: "Carry out this plan in build mode?",
      options: ["yes", "no", "no, and do not ask again"],
    });
    const said = answer?.trim().toLowerCase() ?? "";
    if (said.includes("not ask")) this.#asksToBuild = false;
    if (!/^y(es)?$/.test(said)) return;
    await this.setMode("build");
    this.print(this.front.style.dim("(mode: build)"));
    await this.#cancellable((signal) => this.#turn("The plan is approved. Carry it out now.", signal));
  }

  #open(): Promise<Conversation> {
    return this.#here ??= this.#begin().catch((error) => {
      this.#here = null;
      throw error;
    });
  }

  async #begin(): Promise<Conversation> {
    this.#used = true;
    // deno-lint-ignore no-this-alias
    const repl = this;
    const [{ openConversation }, instructions, opened] = await Promise.all([
      import("./conversation.ts"),
      this.#parts.instructions(),
      this.#parts.opened(),
    ]);
    const { host, front, provider, settings, values } = this;
    this.#now = await openConversation({
      ...{ host, front, provider, settings, values, instructions, parts: opened.parts },
      name: this.extras.session,
      get unattended() {
        return repl.unattended;
      },
      focus: {
        handOver: (_from, target) => void (this.#handover = target),
        holds: (run) => run === this.focus,
      },
    });
    this.extras.session = this.#now.session.name;
    return this.#now;
  }
}
