/**
 * The single dispatch point: a call is found, cleaned, decided, confirmed, compiled to permissions, run on the far side
 * of the sandbox, capped and reported. The model, `/tool` and `polyglav tool` all enter here.
 *
 * @module
 */
import { messageOf, PolyglavError, ToolError } from "../errors.ts";
import { compileCall } from "../policy/compile.ts";
import { placesRemembered } from "../policy/consent.ts";
import { LivePolicy, type PolicyPort } from "../policy/live.ts";
import type { PolicyInput } from "../policy/tool_policy.ts";
import type { Decision, PermissionEntry } from "../policy/types.ts";
import type { FileChange } from "../sandbox/pool.ts";
import type { Tool, ToolContext, ToolOutput } from "../tool.ts";
import type { CallIo, CallResult, Changed, DispatcherOptions } from "./call.ts";
import { cleanArguments, parseArguments, validateArguments } from "./arguments.ts";
import type { ToolRegistry } from "./registry.ts";
import { RunStores } from "./_memory.ts";
import { Questions } from "./_questions.ts";
import { capResult, isErrorText, splitOutput } from "./result.ts";

export type { CallIo, CallResult, ConfirmCall, ConfirmedAs, DispatcherOptions } from "./call.ts";

/** The policy that one call is held to from its decision to its end. */
interface Held {
  readonly policy: PolicyPort;
  readonly policyInput: PolicyInput;
}

/** Most characters of changed arguments that the model is told. */
const MOST_TOLD = 2000;

type Outcome = Pick<CallResult, "content" | "outcome"> & Partial<CallResult>;

/** Runs calls through registry, policy and sandbox. */
export class Dispatcher {
  readonly registry: ToolRegistry;
  readonly policy: PolicyPort;
  #options: DispatcherOptions;
  /** What tools of this run remember. */
  readonly #stores = new RunStores();
  /** Outcomes that say already that a person changed the call. */
  readonly #told = new WeakSet<Outcome>();

  /** @param options the parts that a call passes through */
  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.registry = options.registry;
    this.policy = options.policy;
  }

  /**
   * Runs one call. Never throws: everything that goes wrong is a result for the model.
   *
   * @param name canonical name or alias
   * @param raw arguments: JSON text as a model wrote it, or an object
   */
  async call(name: string, raw: unknown, io: CallIo): Promise<CallResult> {
    const started = performance.now();
    const found = this.registry.find(name);
    const base = {
      tool: found?.tool ?? null,
      name: found?.tool.name ?? name,
      args: {} as Record<string, unknown>,
      isNote: false,
      brokenArguments: false,
      details: null,
      decision: null,
      cancelled: false,
    };
    let outcome: Outcome;
    try {
      outcome = found ? await this.#run(found.tool, found.preset, raw, io) : {
        content: `Error: ${
          this.registry.unknown(name, (tool) => this.policy.allowed(tool).action !== "deny")
        }`,
        outcome: "none",
      };
    } catch (error) {
      outcome = { content: `Error: ${messageOf(error)}`, outcome: "none" };
    }
    const isError = outcome.isError ?? isErrorText(outcome.content);
    return {
      ...base,
      ...outcome,
      isError,
      failed: isError || (outcome.failed ?? false),
      duration: performance.now() - started,
    };
  }

  /**
   * Whether a call may run beside others of its batch that may, and how many of its tool at a time (null: no limit of
   * its own). Arguments that cannot be understood fail anyway, so they may. Never throws.
   *
   * @param name canonical name or alias
   * @param raw arguments, as for {@link call}
   */
  beside(name: string, raw: unknown): { readonly parallel: boolean; readonly limit: number | null } {
    const found = this.registry.find(name);
    if (!found) return { parallel: true, limit: null };
    const { tool, preset } = found, { policy, policyInput: { settings, catalog } } = this.#held();
    const most = tool.parallelLimit === undefined ? 0 : Number(valueAt(settings, tool.parallelLimit));
    const limit = most >= 1 ? Math.floor(most) : null;
    const decide = tool.parallel ?? !startsOrWrites(tool);
    if (typeof decide === "boolean") return { parallel: decide, limit };
    try {
      const args = cleanArguments(tool, { ...preset, ...parseArguments(raw) });
      const parallel = decide(args, {
        settings: settings as unknown as Record<string, unknown>,
        base: policy.allowed(tool).action,
        mode: policy.mode,
        readOnly: policy.readOnly,
        permission: policy.permission,
        changing: this.#changing(),
        attended: this.#options.host?.attended,
        catalog,
      });
      return { parallel: parallel === true, limit };
    } catch {
      return { parallel: false, limit };
    }
  }

  /** Permission keys of the tools that can change something; what only looks (git log) has the key read or list. */
  #changing(): string[] {
    const keys = this.registry.list().filter(startsOrWrites).map((tool) => tool.permission as string);
    return [...new Set(keys)].filter((key) => key !== "read" && key !== "list");
  }

  /** The policy as it stands now: one that is replaced counts from the next call on. */
  #held(): Held {
    const { policy, policyInput } = this.#options;
    return policy instanceof LivePolicy ? policy.now() : { policy, policyInput };
  }

  async #run(
    tool: Tool,
    preset: Readonly<Record<string, unknown>>,
    raw: unknown,
    io: CallIo,
  ): Promise<Outcome> {
    const held = this.#held(), standing = held.policy.allowed(tool);
    let given: Record<string, unknown> = {};
    let broken = false;
    let args: Record<string, unknown>;
    try {
      try {
        given = parseArguments(raw);
      } catch (error) {
        broken = true;
        throw error;
      }
      args = await validateArguments(tool, cleanArguments(tool, { ...preset, ...given }));
    } catch (error) {
      if (standing.action === "deny") return this.#denied(tool, given, null, standing, io);
      return { args: given, content: `Error: ${messageOf(error)}`, outcome: "none", brokenArguments: broken };
    }
    const decision = held.policy.resolve(tool, args);
    if (decision.action === "deny") return this.#denied(tool, args, decision, decision, io);

    let consented = false;
    if (decision.action === "ask" && tool.confirm !== false) {
      const answer = await io.confirm({
        tool,
        args,
        decision,
        preview: () => this.#preview(tool, args, decision, io, held),
      });
      if (typeof answer === "object") {
        const reason = `${decision.reason}; the user changed the call`;
        this.#audit(tool, args, { ...decision, reason }, "declined", io);
        return await this.#edited(tool, answer.edit, io);
      }
      if (answer !== "yes") return this.#declined(tool, args, decision, answer, io);
      // A mode that was left while the question waited does not come back with its answer.
      const now = this.#held();
      const late = now.policy === held.policy ? null : now.policy.resolve(tool, args);
      if (late?.action === "deny") return this.#denied(tool, args, late, late, io);
      consented = true;
    } else consented = placesRemembered(tool, args, decision, held.policyInput);
    if (decision.grant && !held.policyInput.grants?.take(decision.grant.id)) {
      const why = { rule: "grant", reason: "the grant was used up by another call" };
      return this.#denied(tool, args, { ...decision, action: "deny", ...why }, why, io);
    }
    this.#audit(tool, args, decision, "granted", io);
    if (io.signal?.aborted) return { args, decision, ...CANCELLED };
    io.onStart?.(tool, args);
    return { args, decision, ...await this.#execute(tool, args, decision, consented, io, held) };
  }

  /** The call with the arguments that the person made of it: decided anew, and the model is told. */
  async #edited(tool: Tool, edit: Readonly<Record<string, unknown>>, io: CallIo): Promise<Outcome> {
    const outcome = await this.#run(tool, {}, { ...edit }, io);
    if (outcome.cancelled || this.#told.has(outcome)) return outcome;
    const args = JSON.stringify(outcome.args ?? edit);
    const note = `[the user changed this call to ${
      args.length > MOST_TOLD ? `${args.slice(0, MOST_TOLD)}…` : args
    }]`;
    // What begins with an error goes on doing so.
    const content = outcome.isError || isErrorText(outcome.content)
      ? `${outcome.content}\n${note}`
      : `${note}\n${outcome.content}`;
    const told = { ...outcome, content: content.toWellFormed() };
    this.#told.add(told);
    return told;
  }

  async #execute(
    tool: Tool,
    args: Record<string, unknown>,
    decision: Decision,
    consented: boolean,
    io: CallIo,
    { policyInput }: Held,
  ): Promise<Outcome> {
    const { sandbox, journal, watch } = this.#options;
    let output: ToolOutput | undefined, changes: readonly Changed[] = [];
    const questions = new Questions(
      { ...this.#options.web, policyInput, sandbox },
      this.#stores,
      {
        tool,
        decided: { url: tool.urlArg && args[tool.urlArg], consented },
        signal: io.signal,
        ask: async (verdict) => {
          const hop: Decision = { ...verdict, trail: [{ ...verdict }], paths: [] };
          const said = await io.confirm({ tool, args, decision: hop, preview: () => Promise.resolve("") });
          const answer = typeof said === "object" ? "no" : said; // an address on the way cannot be edited
          this.#audit(tool, args, hop, answer === "yes" ? "granted" : "declined", io);
          return answer;
        },
        refused: (verdict) => this.#audit(tool, args, verdict, "denied", io),
      },
    );
    try {
      if (tool.access.length === 0 || tool.plugin !== undefined) {
        output = await tool.execute(args, this.#hostContext(tool, io, policyInput));
      } else {
        const confine = tool.access.includes("run") ? await this.#options.confine?.(policyInput) : undefined;
        const scope = compileCall(tool, decision, policyInput, consented, confine?.program);
        const looks = tool.access.includes("run") && tool.permission !== "read" && tool.permission !== "list";
        const changed = looks ? watch?.begin() : undefined;
        const result = await sandbox.run(tool, args, scope, {
          ...this.#callOptions(tool, args, io, policyInput),
          confine,
          answer: (request) => questions.answer(request),
          ...(journal && tool.access.includes("write")
            ? { onWrite: (change: FileChange) => journal.record(tool.name, change) }
            : {}),
        }).finally(() => {
          changes = changed?.() ?? [];
        });
        if (!result.ok) throw new ToolError(result.message, result.kind);
        output = result.output;
      }
    } catch (error) {
      const details = changes.length > 0 ? { changed: changes } : null;
      if (io.signal?.aborted) return { ...CANCELLED, details };
      const text = messageOf(error);
      const content = error instanceof PolyglavError
        ? errorText(text)
        : `Error: ${tool.name} failed: ${text}`;
      return {
        content: capResult(content, maxOf(policyInput)),
        outcome: "granted",
        isError: true,
        details,
        ...questions.outcome(decision),
      };
    }
    if (io.signal?.aborted) {
      return { ...CANCELLED, details: changes.length > 0 ? { changed: changes } : null };
    }
    const { content, details } = splitOutput(output);
    return {
      content: capResult(content, maxOf(policyInput), tool.truncate ?? "end"),
      details: changes.length > 0 ? { ...details, changed: changes } : details,
      outcome: "granted",
      isNote: tool.note?.(content) ?? false,
      failed: details?.failed ?? tool.error?.(content) ?? false,
    };
  }

  #denied(
    tool: Tool,
    args: Record<string, unknown>,
    decision: Decision | null,
    why: { readonly rule: string; readonly reason: string },
    io: CallIo,
  ): Outcome {
    this.#audit(tool, args, decision ?? { action: "deny", ...why }, "denied", io);
    return {
      args,
      decision: decision ?? { action: "deny", rule: why.rule, reason: why.reason, trail: [], paths: [] },
      content: `Error: tool "${tool.name}" is disabled by tool policy: ${why.reason} [${why.rule}]`,
      outcome: "denied",
      isError: true,
    };
  }

  #declined(
    tool: Tool,
    args: Record<string, unknown>,
    decision: Decision,
    answer: "no" | "cancel" | "nobody",
    io: CallIo,
  ): Outcome {
    this.#audit(tool, args, decision, "declined", io);
    const content = answer === "nobody"
      ? `Error: ${tool.name} needs approval and nobody is here to give it: ${decision.reason} [${decision.rule}]`
      : `[cancelled] User declined the ${tool.name} call`;
    return { args, decision, content, outcome: "declined", isError: true, cancelled: answer === "cancel" };
  }

  #audit(
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    decision: Pick<Decision, "action" | "rule" | "reason"> & Partial<Decision>,
    outcome: "granted" | "declined" | "denied",
    io: CallIo,
  ): void {
    const path = tool.pathArg ? args[tool.pathArg] : undefined;
    const entry: PermissionEntry = {
      tool: tool.name,
      action: decision.grant ? "grant" : decision.action,
      decision: outcome,
      timestamp: (this.#options.now?.() ?? new Date()).toISOString(),
      rule: decision.rule,
      reason: decision.reason,
      ...(typeof path === "string" ? { path } : {}),
      ...(decision.grant ? { scope: decision.grant.scope, granted_by: decision.grant.origin } : {}),
      ...(decision.command && decision.command.segments.length > 0
        ? { segments: decision.command.segments }
        : {}),
    };
    this.#options.audit?.(entry);
    io.onDecision?.(entry);
  }

  async #preview(
    tool: Tool,
    args: Record<string, unknown>,
    decision: Decision,
    io: CallIo,
    { policyInput }: Held,
  ): Promise<string> {
    if (!tool.preview) return "";
    const { sandbox } = this.#options;
    try {
      return await sandbox.preview(
        tool,
        args,
        compileCall(tool, decision, policyInput, false),
        this.#callOptions(tool, args, io, policyInput),
      );
    } catch (error) {
      return `(no preview: ${messageOf(error)})`;
    }
  }

  #callOptions(tool: Tool, args: Record<string, unknown>, io: CallIo, policyInput: PolicyInput) {
    return {
      signal: io.signal,
      config: configOf(tool, policyInput),
      timeout: typeof tool.timeout === "function" ? tool.timeout(args) : tool.timeout ?? 120_000,
      onProgress: io.onProgress,
      env: this.#options.childEnv as Record<string, string>,
    };
  }

  #hostContext(tool: Tool, io: CallIo, policyInput: PolicyInput): ToolContext {
    const lacks = (): never => {
      throw new ToolError(
        `${tool.name} declares no access, so it has neither files nor programs`,
        "permission",
      );
    };
    return {
      worktree: policyInput.worktree,
      config: configOf(tool, policyInput),
      signal: io.signal ?? new AbortController().signal,
      get workspace(): never {
        return lacks();
      },
      exec: lacks,
      shell: lacks,
      fanout: lacks,
      fetch: lacks,
      get memory(): never {
        return lacks();
      },
      progress: (text) => io.onProgress?.(text),
      host: this.#options.host,
    };
  }
}

const CANCELLED: Outcome = {
  content: "[cancelled] The call was cancelled",
  outcome: "granted",
  isError: true,
  cancelled: true,
};

function errorText(text: string): string {
  return isErrorText(text) ? text : `Error: ${text}`;
}

function maxOf({ settings }: PolicyInput): number {
  return settings.tool_max_result_chars;
}

/** The keys of the configuration that a tool reads. */
function configOf(tool: Tool, { settings }: PolicyInput): Record<string, unknown> {
  return Object.fromEntries((tool.configKeys ?? []).map((key) => [key, valueAt(settings, key)]));
}

function startsOrWrites(tool: Tool): boolean {
  return tool.access.includes("write") || tool.access.includes("run");
}

/** The value at a dotted key. */
function valueAt(settings: object, key: string): unknown {
  let value: unknown = settings;
  for (const part of key.split(".")) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}
