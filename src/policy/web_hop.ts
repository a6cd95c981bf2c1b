/**
 * One request of the web, decided: a URL, then the addresses that its host has, then what the worker that asks for it may
 * reach. Pure; resolving is done by whoever calls.
 *
 * @module
 */
import { policyCore } from "./_core.ts";
import { actionAt } from "./modes.ts";
import { PolicyDenied } from "../errors.ts";
import type { Action } from "../tool.ts";
import { NO_PERMISSIONS } from "./compile.ts";
import type { PolicyInput } from "./tool_policy.ts";
import type { HopScope } from "./types.ts";
import { classifyAddress, decideAddress, decideUrl, type UrlVerdict } from "./web.ts";

/** Most addresses of one host that are tried. */
const MOST_ADDRESSES = 4;

/** What is decided about one hop, or one address of it. */
export interface HopVerdict {
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
}

/** How a hop came about. */
export interface HopOrigin {
  /** The user configured this very host (a search service): `web.hosts` and `web.private` do not apply to it. */
  readonly configured?: boolean;
  /** The URL that redirected here. */
  readonly from?: string;
}

/** Decides about the URL of a hop, before anything is resolved. */
export function decideHop(url: string, input: PolicyInput, origin: HopOrigin = {}): UrlVerdict {
  const { web } = input.settings;
  const verdict = decideUrl(url, origin.configured ? { hosts: [], private: true } : web);
  const reason = origin.from === undefined
    ? verdict.reason
    : `${shortUrl(origin.from)} redirects to ${shortUrl(url)}: ${verdict.reason}`;
  if (input.open && verdict.url !== null) return { ...verdict, action: "allow", rule: "open" };
  return { ...verdict, reason };
}

/**
 * Decides about the addresses of a hop's host. One that may be asked is enough: the request goes to none that may not.
 *
 * @param addresses IP addresses as text; what cannot be read is forbidden
 */
export function decideAddresses(
  verdict: UrlVerdict,
  addresses: readonly string[],
  input: PolicyInput,
  origin: HopOrigin = {},
): HopVerdict {
  if (input.open) return { action: "allow", rule: "open", reason: "the policy is open (test seam)" };
  if (addresses.length === 0) {
    return { action: "deny", rule: "web", reason: `${verdict.host} has no address` };
  }
  const rank = { allow: 0, ask: 1, deny: 2 };
  const verdicts = addresses.map((address) => {
    const what = address === verdict.host ? address : `${verdict.host} (${address})`;
    return decideAddress(classifyAddress(address), what, settingsOf(input, origin));
  });
  const best = verdicts.reduce((a, b) => rank[a.action] <= rank[b.action] ? a : b);
  if (origin.from === undefined) return best;
  return {
    ...best,
    reason: `${shortUrl(origin.from)} redirects to ${shortUrl(verdict.url ?? "")}: ${best.reason}`,
  };
}

/**
 * What the worker of one hop may reach. Every rule is looked at anew: a decision that says yes opens nothing here.
 *
 * @param consented somebody said yes to this host and its addresses: private ones are opened, forbidden ones never
 * @throws {PolicyDenied} where nothing of it may be reached
 */
export function compileHop(
  url: string,
  addresses: readonly string[],
  input: PolicyInput,
  consented: boolean,
  origin: HopOrigin = {},
): HopScope {
  if (actionAt(policyCore(input).effective.permission, "web") === "deny") {
    throw new PolicyDenied("web is deny, so nothing reaches the network", "tool_permission.web");
  }
  const web = settingsOf(input, origin), verdict = decideUrl(url, web);
  if (verdict.url === null || verdict.action === "deny") throw new PolicyDenied(verdict.reason, verdict.rule);
  const judged = addresses.map((address) => {
    const kind = classifyAddress(address);
    return { address, kind, ...decideAddress(kind, address, web) };
  });
  const open = judged.filter(({ action }) => action === "allow" || (action === "ask" && consented));
  if (open.length === 0) {
    const first = judged[0];
    throw new PolicyDenied(
      first ? `${verdict.host}: ${first.reason}` : `${verdict.host} has no address`,
      first?.rule ?? "web",
    );
  }
  // A public address comes before one that somebody had to say yes to.
  const chosen = [
    ...open.filter(({ kind }) => kind === "public"),
    ...open.filter(({ kind }) => kind !== "public"),
  ].slice(0, MOST_ADDRESSES);
  return {
    permissions: { ...NO_PERMISSIONS, net: chosen.map(({ address }) => hostPort(address, verdict.port)) },
    url: verdict.url,
    host: verdict.host,
    port: verdict.port,
    addresses: chosen.map(({ address }) => address),
    opened: web.private === true
      ? "all"
      : chosen.filter(({ kind }) => kind !== "public").map(({ address }) => address),
  };
}

function settingsOf(input: PolicyInput, origin: HopOrigin): PolicyInput["settings"]["web"] {
  return origin.configured ? { hosts: [], private: true } : input.settings.web;
}

function hostPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A URL for a message: without what may be long or secret. */
function shortUrl(url: string): string {
  const plain = url.replace(/[?#].*$/s, "");
  return plain.length > 120 ? `${plain.slice(0, 120)}…` : plain;
}
