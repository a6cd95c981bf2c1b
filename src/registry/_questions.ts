/**
 * What a running handler asks of its host: the web, and what its run remembers.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { Decision } from "../policy/types.ts";
import type { HopVerdict } from "../policy/web_hop.ts";
import type { HostRequest } from "../sandbox/pool.ts";
import type { Tool } from "../tool.ts";
import type { RunStores } from "./_memory.ts";
import type { CallResult } from "./dispatch.ts";
import type { WebHost, WebRequests } from "./web_hops.ts";

/** The call that asks. */
export interface AskingCall {
  readonly tool: Tool;
  /** The URL that was decided with the call, and whether somebody said yes to it. */
  readonly decided: { readonly url: unknown; readonly consented: boolean };
  readonly signal?: AbortSignal;
  /** Asks about one hop of a request. */
  ask(verdict: HopVerdict): Promise<"yes" | "no" | "cancel" | "nobody">;
  /** A hop is refused. */
  refused(verdict: HopVerdict): void;
}

/** Answers one call's questions. */
export class Questions {
  readonly #web: WebHost;
  readonly #stores: RunStores;
  readonly #call: AskingCall;
  #requests: Promise<WebRequests> | null = null;
  #refusal: { verdict: HopVerdict; outcome: "declined" | "denied"; cancelled: boolean } | null = null;

  /** @param web what requests need; @param stores those of the run; @param call who asks */
  constructor(web: WebHost, stores: RunStores, call: AskingCall) {
    this.#web = web;
    this.#stores = stores;
    this.#call = call;
  }

  /** @throws {ToolError} where the tool may not ask for this, or there is no answer */
  async answer(request: HostRequest): Promise<unknown> {
    const { tool } = this.#call;
    if (request.what === "fetch") {
      if (!tool.access.includes("net")) {
        throw new ToolError(`${tool.name} may not reach the network: it does not declare it`, "permission");
      }
      return await (await this.#open()).fetch(request.request);
    }
    if (tool.memory === undefined) throw new ToolError(`${tool.name} declares no memory`, "permission");
    if (request.what === "recall") return this.#stores.get(tool.memory, String(request.key));
    this.#stores.set(tool.memory, String(request.key), request.value);
    return undefined;
  }

  /** What the call came to where a hop was refused; the decision is that of the hop. */
  outcome(decision: Decision): Partial<Pick<CallResult, "outcome" | "decision" | "cancelled">> {
    if (!this.#refusal) return {};
    const { verdict: { action, rule, reason }, outcome, cancelled } = this.#refusal;
    return { outcome, cancelled, decision: { ...decision, action, rule, reason } };
  }

  #open(): Promise<WebRequests> {
    return this.#requests ??= (async () => {
      const { WebRequests } = await import("./web_hops.ts");
      return new WebRequests(this.#web, {
        tool: this.#call.tool,
        decided: this.#call.decided,
        signal: this.#call.signal,
        confirm: async (verdict) => {
          const answer = await this.#call.ask(verdict);
          if (answer !== "yes") {
            this.#refusal = { verdict, outcome: "declined", cancelled: answer === "cancel" };
          }
          return answer;
        },
        refuse: (verdict) => {
          this.#refusal = { verdict, outcome: "denied", cancelled: false };
          this.#call.refused(verdict);
        },
      });
    })();
  }
}
