/**
 * The host's side of a tool's web requests: every hop is decided, resolved and decided again, compiled to a worker that
 * reaches nothing else, and a redirect begins the same anew.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { PolicyInput } from "../policy/tool_policy.ts";
import type { HopScope } from "../policy/types.ts";
import {
  compileHop,
  decideAddresses,
  decideHop,
  type HopOrigin,
  type HopVerdict,
} from "../policy/web_hop.ts";
import type { HopAnswer, HopRequest, Sandbox } from "../sandbox/pool.ts";
import type { FetchRequest, FetchResponse, Tool } from "../tool.ts";
import { type Resolver, systemResolver } from "./_resolve.ts";

export { type Resolver, systemResolver } from "./_resolve.ts";

/** A service that tools may use by name. */
export interface WebService {
  /** Its address; what a tool asks for is added to it. Ends with `/`. */
  readonly base: string;
  /** Headers with the user's key, sent to this origin alone. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Redirects that are followed. */
export const MOST_REDIRECTS = 5;
/** Milliseconds; the sizes are bytes. */
export const LIMITS = {
  firstByte: 15_000,
  total: 30_000,
  wire: 10_000_000,
  body: 20_000_000,
} as const;
/** Requests that one call may make. */
const MOST_REQUESTS = 50;

/** What web requests need of the host. */
export interface WebHost {
  readonly policyInput: PolicyInput;
  readonly sandbox: Pick<Sandbox, "hop">;
  /** Default: the system's. */
  readonly resolve?: Resolver;
  /** A service by name. Rejects with a `PolyglavError` where it lacks something (a key); null: there is none. */
  readonly service?: (name: string) => Promise<WebService | null>;
  /** A seam for tests. Default {@link LIMITS}. */
  readonly limits?: Readonly<Record<keyof typeof LIMITS, number>>;
}

/** The call on whose behalf a request is made. */
export interface WebCall {
  readonly tool: Tool;
  /** The URL that was decided with the call, and whether somebody said yes to it. */
  readonly decided: { readonly url: unknown; readonly consented: boolean };
  /** Asks about a hop, and records decision and outcome. */
  confirm(verdict: HopVerdict): Promise<"yes" | "no" | "cancel" | "nobody">;
  /** Records a hop that is refused. */
  refuse(verdict: HopVerdict): void;
  readonly signal?: AbortSignal;
}

/** Makes the requests of one call. */
export class WebRequests {
  readonly #host: WebHost;
  readonly #call: WebCall;
  readonly #limits: Readonly<Record<keyof typeof LIMITS, number>>;
  /** What a name resolved to in this call: consent is to these addresses. */
  readonly #addresses = new Map<string, readonly string[]>();
  /** `host:port` that somebody said yes to. */
  readonly #consented = new Set<string>();
  #requests = 0;

  /** @param host the parts; @param call on whose behalf */
  constructor(host: WebHost, call: WebCall) {
    this.#host = host;
    this.#call = call;
    this.#limits = host.limits ?? LIMITS;
    const { url, consented } = call.decided;
    if (consented && typeof url === "string") {
      const verdict = decideHop(url, host.policyInput);
      if (verdict.action === "ask") this.#consented.add(keyOf(verdict));
    }
  }

  /**
   * Makes a request and follows its redirects.
   *
   * @throws {ToolError} see `ToolContext.fetch`
   */
  async fetch(request: FetchRequest): Promise<FetchResponse> {
    if (++this.#requests > MOST_REQUESTS) {
      throw new ToolError(`one call makes at most ${MOST_REQUESTS} web requests`);
    }
    const service = await this.#service(request), clock = new Clock(this.#limits.total);
    let url = this.#first(request, service), from: string | undefined;
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const home = service !== null && originOf(url) === originOf(service.base);
      const origin: HopOrigin = { configured: home, from };
      const scope = await this.#decide(url, origin, clock);
      const answer = await this.#ask(scope, request, service, { home, first: hops === 0 }, clock);
      if (!isRedirect(answer) || answer.location === null) {
        return { url: scope.url, status: answer.status, type: answer.type, body: answer.body };
      }
      from = scope.url;
      url = target(answer.location, from);
    }
    throw new ToolError(`${shown(request.url)} redirects more than ${MOST_REDIRECTS} times`);
  }

  async #service({ service, body }: FetchRequest): Promise<WebService | null> {
    if (service === undefined) {
      if (body !== undefined) throw new ToolError("only a service takes a body", "permission");
      return null;
    }
    if (!this.#call.tool.services?.includes(service)) {
      throw new ToolError(`${this.#call.tool.name} does not declare the service "${service}"`, "permission");
    }
    const found = await this.#host.service?.(service) ?? null;
    if (!found) throw new ToolError(`this host knows no service "${service}"`, "not_found");
    return found;
  }

  #first({ url }: FetchRequest, service: WebService | null): string {
    if (service === null) return url;
    const whole = service.base + url;
    if (originOf(whole) !== originOf(service.base)) {
      throw new ToolError(`"${url}" leads away from the service`, "permission");
    }
    return whole;
  }

  /** Decides about URL and addresses; asks where that is to be asked. */
  async #decide(url: string, origin: HopOrigin, clock: Clock): Promise<HopScope> {
    const { policyInput, resolve = systemResolver } = this.#host;
    const verdict = decideHop(url, policyInput, origin);
    if (verdict.action === "deny" || verdict.url === null) this.#refused(verdict);
    const key = keyOf(verdict);
    if (verdict.action === "ask") await this.#consent(key, verdict, clock);
    let addresses = verdict.address !== null ? [verdict.host] : this.#addresses.get(verdict.host);
    if (!addresses) {
      addresses = await clock.within(resolve(verdict.host, this.#call.signal), verdict.host);
      this.#addresses.set(verdict.host, addresses);
    }
    const found = decideAddresses(verdict, addresses, policyInput, origin);
    if (found.action === "deny") this.#refused(found);
    if (found.action === "ask") await this.#consent(key, found, clock);
    return compileHop(verdict.url!, addresses, policyInput, this.#consented.has(key), origin);
  }

  async #consent(key: string, verdict: HopVerdict, clock: Clock): Promise<void> {
    if (this.#consented.has(key)) return;
    const answer = await clock.pause(this.#call.confirm(verdict));
    if (answer !== "yes") {
      const what = answer === "nobody" ? "needs approval and nobody is here to give it" : "was declined";
      throw new ToolError(
        `${this.#call.tool.name} ${what}: ${verdict.reason} [${verdict.rule}]`,
        "permission",
      );
    }
    this.#consented.add(key);
  }

  #refused(verdict: HopVerdict): never {
    this.#call.refuse(verdict);
    throw new ToolError(`${verdict.reason} [${verdict.rule}]`, "permission");
  }

  #ask(
    scope: HopScope,
    request: FetchRequest,
    service: WebService | null,
    hop: { readonly home: boolean; readonly first: boolean },
    clock: Clock,
  ): Promise<HopAnswer> {
    const { firstByte, wire, body: maxBody } = this.#limits;
    const body = hop.first ? request.body : undefined, left = clock.left();
    const asked: HopRequest = {
      method: body === undefined ? "GET" : "POST",
      headers: {
        accept: request.accept ?? "*/*",
        ...(body === undefined ? {} : { "content-type": body.type }),
        ...(hop.home ? service!.headers : {}),
      },
      ...(body === undefined ? {} : { body: body.text }),
      firstByteTimeout: Math.min(firstByte, left),
      timeout: left,
      maxWire: wire,
      maxBody,
    };
    return this.#host.sandbox.hop(scope, asked, { signal: this.#call.signal });
  }
}

/** The time that a request has, without what people take to answer. */
class Clock {
  readonly #total: number;
  #end: number;

  constructor(total: number) {
    this.#total = total;
    this.#end = performance.now() + total;
  }

  left(): number {
    const left = this.#end - performance.now();
    if (left <= 0) throw this.#late();
    return left;
  }

  async pause<T>(work: Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work;
    } finally {
      this.#end += performance.now() - began;
    }
  }

  async within<T>(work: Promise<T>, what: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#late(what)), this.left());
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #late(what = "the request"): ToolError {
    return new ToolError(`${what} did not finish within ${Math.round(this.#total / 100) / 10} s`, "timeout");
  }
}

function isRedirect({ status }: HopAnswer): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function target(location: string, from: string): string {
  try {
    const url = new URL(location, from);
    url.hash = "";
    return url.href;
  } catch {
    // What the server wrote instead stays out of a message that is read as ours.
    throw new ToolError(`${shown(from)} redirects to what is no URL (${location.length} characters)`);
  }
}

function keyOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host} ${port}`;
}

function originOf(url: string): string | null {
  try {
    return new URL(url).origin;
  } catch {
    return null;
  }
}

function shown(url: string): string {
  return url.length > 200 ? `${url.slice(0, 200)}…` : url;
}
