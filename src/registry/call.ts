/**
 * What goes into a call and what comes out of it.
 *
 * @module
 */
import type { PolicyPort } from "../policy/live.ts";
import type { PolicyInput } from "../policy/tool_policy.ts";
import type { Decision, PermissionEntry } from "../policy/types.ts";
import type { ConfineSpec } from "../sandbox/confine.ts";
import type { FileChange, Sandbox } from "../sandbox/pool.ts";
import type { HostPort, Tool, ToolDetails } from "../tool.ts";
import type { ToolRegistry } from "./registry.ts";
import type { WebHost } from "./web_hops.ts";

/** What a call that needs a yes looks like to the one who is asked. */
export interface ConfirmCall {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly decision: Decision;
  /** Preview of what will happen; computed only when called. */
  readonly preview: () => Promise<string>;
}

/** An answer to a {@link ConfirmCall}. */
export type ConfirmedAs = "yes" | "no" | "cancel" | "nobody" | {
  readonly edit: Readonly<Record<string, unknown>>;
};

/** What one call may use of its caller. */
export interface CallIo {
  /**
   * Asked when the decision is `ask`: `nobody` where nobody can answer. With `edit` the call is decided anew with those
   * arguments, and asked about again where the policy still asks.
   */
  confirm(call: ConfirmCall): Promise<ConfirmedAs>;
  /** The call was decided and its handler starts. */
  onStart?(tool: Tool, args: Readonly<Record<string, unknown>>): void;
  /** Every decision and its outcome, for the audit. */
  onDecision?(entry: PermissionEntry): void;
  onProgress?(text: string): void;
  readonly signal?: AbortSignal;
}

/** What came of a call. */
export interface CallResult {
  /** Null for an unknown tool. */
  readonly tool: Tool | null;
  /** Canonical name, or the name as called for an unknown tool. */
  readonly name: string;
  /** Arguments after cleaning; as given where they could not be cleaned. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What the model sees: `Error: …` on failure; capped. */
  readonly content: string;
  /** The content is an error. */
  readonly isError: boolean;
  /** The call did not do what was asked: an error, or a command that exited non-zero. */
  readonly failed: boolean;
  /** A soft note. */
  readonly isNote: boolean;
  /** The arguments were no JSON object (the history carries `{}` for them). */
  readonly brokenArguments: boolean;
  readonly details: ToolDetails | null;
  readonly decision: Decision | null;
  readonly outcome: "granted" | "declined" | "denied" | "none";
  /** The person cancelled the whole turn, or the signal did. */
  readonly cancelled: boolean;
  /** Milliseconds. */
  readonly duration: number;
}

/** A tracked file that is not as it was. */
export type Changed = NonNullable<ToolDetails["changed"]>[number];

/** What a Dispatcher is made of. */
export interface DispatcherOptions {
  readonly registry: ToolRegistry;
  /** A live policy is asked anew at every call, and brings the input with it. */
  readonly policy: PolicyPort;
  readonly policyInput: PolicyInput;
  readonly sandbox: Sandbox;
  /** The scrubbed environment of child processes. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** How a call's child processes are confined; throws where that is required and cannot be had. */
  readonly confine?: (input: PolicyInput) => Promise<ConfineSpec | undefined>;
  /** The port of tools without `access`. */
  readonly host?: HostPort;
  /** What requests of the web need beside the policy. */
  readonly web?: Pick<WebHost, "resolve" | "service" | "limits">;
  /** Takes note of every file before a tool writes it, so that the change can be taken back. */
  readonly journal?: { record(tool: string, change: FileChange): Promise<void> };
  /** Looks before a tool that may run commands; the answer says afterwards which files are not as they were. */
  readonly watch?: { begin(): () => readonly Changed[] };
  /** Told every decision and its outcome, of every call, beside {@link CallIo.onDecision}. */
  readonly audit?: (entry: PermissionEntry) => void;
  /** Clock of the audit. */
  readonly now?: () => Date;
}
