/**
 * A policy that can be replaced while a session goes on: a mode is switched, a person makes a rule, a key of the
 * configuration changes. Every call is held to one policy from its decision to its end; the next call meets the new one.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import type { Tool } from "../tool.ts";
import { prefixesAt } from "./modes.ts";
import { type CommandCheck, type PolicyInput, type StandingDecision, ToolPolicy } from "./tool_policy.ts";
import type { Decision } from "./types.ts";

/** What dispatcher and engine use of a policy. */
export type PolicyPort = Pick<
  ToolPolicy,
  "mode" | "instruction" | "readOnly" | "permission" | "allowed" | "resolve"
>;

/** A policy with what it was made from, at one moment. */
export interface PolicyMoment {
  readonly policy: ToolPolicy;
  readonly policyInput: PolicyInput;
}

/** See the module's comment. Has the surface of {@link ToolPolicy}, and answers as the policy of this moment. */
export class LivePolicy implements PolicyPort {
  #now: PolicyMoment;
  readonly #listeners = new Set<() => void>();
  readonly #checker: () => Promise<CommandCheck>;

  /**
   * @param input of the first policy
   * @param checker where the parser of commands comes from once a list needs it; a seam for tests
   * @throws {ConfigError} as {@link ToolPolicy}
   */
  constructor(
    input: PolicyInput,
    checker: () => Promise<CommandCheck> = async () => (await import("./shell_command.ts")).checkCommand,
  ) {
    this.#now = { policy: new ToolPolicy(input), policyInput: input };
    this.#checker = checker;
  }

  /** Policy and input of this moment, which belong together. */
  now(): PolicyMoment {
    return this.#now;
  }

  /** What the policy of this moment was made from. */
  get input(): PolicyInput {
    return this.#now.policyInput;
  }

  get mode(): string {
    return this.#now.policy.mode;
  }

  get instruction(): string {
    return this.#now.policy.instruction;
  }

  get readOnly(): boolean {
    return this.#now.policy.readOnly;
  }

  get permission(): Readonly<Record<string, unknown>> {
    return this.#now.policy.permission;
  }

  /** As {@link ToolPolicy.allowed}. */
  allowed(tool: Tool): StandingDecision {
    return this.#now.policy.allowed(tool);
  }

  /** As {@link ToolPolicy.resolve}. */
  resolve(tool: Tool, args: Record<string, unknown>): Decision {
    return this.#now.policy.resolve(tool, args);
  }

  /**
   * Replaces the policy from the next call on. Grants stay those of the run.
   *
   * @throws {ConfigError} where no policy can be made of it; the old one stays in force
   */
  async replace(input: PolicyInput): Promise<void> {
    this.#set(
      input.checkCommand || !lists(input) ? input : { ...input, checkCommand: await this.#checker() },
    );
  }

  /** Switches the mode from the next call on. @throws {ConfigError} for a mode that does not exist */
  async setMode(mode: string): Promise<void> {
    await this.change((settings) => ({ ...settings, mode }));
  }

  /**
   * Makes the policy anew from changed settings; their `mode` is the mode. Changes that come at the same time are all
   * made, each upon the one before.
   *
   * @throws {ConfigError} as {@link replace}
   */
  async change(change: (settings: Settings) => Settings): Promise<void> {
    const first = this.#changed(change);
    if (first.checkCommand || !lists(first)) return this.#set(first);
    const checkCommand = await this.#checker();
    this.#set({ ...this.#changed(change), checkCommand });
  }

  /** Called after every replacement. @returns takes the listener away */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #changed(change: (settings: Settings) => Settings): PolicyInput {
    const { input } = this, settings = change(input.settings);
    return { ...input, settings, mode: settings.mode };
  }

  #set(input: PolicyInput): void {
    this.#now = { policy: new ToolPolicy(input), policyInput: input };
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Whether any mode's lists need commands to be parsed. */
function lists({ settings, mode }: PolicyInput): boolean {
  const layers = [settings.tool_permission, settings.modes?.[mode]?.tool_permission];
  return layers.some((layer) =>
    layer !== undefined &&
    (["bash_allow", "bash_auto"] as const).some((key) => prefixesAt(layer, key).restricts)
  );
}
