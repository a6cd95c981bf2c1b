/**
 * Which URLs a tool may ask for: scheme, host and, where the host is an address, what lies behind it. Pure; a name's
 * addresses are classified by {@link classifyAddress} once they are known, and so is every redirect.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import type { Action } from "../tool.ts";
import { type AddressClass, classifyIPv4, classifyIPv6, parseIPv4, parseIPv6 } from "./_address.ts";

export type { AddressClass } from "./_address.ts";

const LONGEST_URL = 8192;

/** Names that cloud providers answer with credentials. */
const METADATA_NAMES = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.azure.internal",
  "metadata.oraclecloud.com",
  "metadata.platformequinix.com",
]);

/** The part of the configuration that decides about URLs. */
export type WebSettings = Settings["web"];

/** What the web rules say of a URL. `allow` is not more than the tool's own action. */
export interface UrlVerdict {
  readonly action: Action;
  /** `web.hosts`, `web.private`, or `web` for what is refused always. */
  readonly rule: string;
  readonly reason: string;
  /** The URL as it will be asked for, normalised; null where it cannot be understood. */
  readonly url: string | null;
  /** Lower case, without brackets and final dot; empty where there is none. */
  readonly host: string;
  /** The port, also where the scheme implies it; 0 where there is none. */
  readonly port: number;
  /** Class of the address, where the host is one; null for a name that must be resolved first. */
  readonly address: AddressClass | null;
}

/**
 * Classifies an IP address written in any way that something might read as one: dotted, short, decimal, octal, hex,
 * IPv6 with an IPv4 address inside. What cannot be read as an address is `forbidden`.
 */
export function classifyAddress(ip: string): AddressClass {
  return addressOf(ip) ?? "forbidden";
}

/** Class of a host that is an address, null for a name. */
function addressOf(host: string): AddressClass | null {
  if (host.includes(":")) {
    const groups = parseIPv6(host);
    return groups === null ? "forbidden" : classifyIPv6(groups);
  }
  const address = parseIPv4(host);
  return address === null ? null : classifyIPv4(address);
}

/**
 * What a class of address means: `private` asks, `forbidden` is refused, and `web.private` opens both.
 *
 * @param what the host or address, for the reason
 */
export function decideAddress(
  kind: AddressClass,
  what: string,
  settings: WebSettings,
): { readonly action: Action; readonly rule: string; readonly reason: string } {
  if (kind === "public") return { action: "allow", rule: "web", reason: `${what} is a public address` };
  if (settings.private === true) {
    return { action: "allow", rule: "web.private", reason: `web.private opens ${what}` };
  }
  return kind === "private"
    ? { action: "ask", rule: "web.private", reason: `${what} is this machine or a private network` }
    : {
      action: "deny",
      rule: "web.private",
      reason: `${what} is no address of a web page (link-local, metadata or reserved)`,
    };
}

/** Decides about one URL, before anything is resolved or asked for; call it again for every redirect. */
export function decideUrl(url: unknown, settings: WebSettings): UrlVerdict {
  const refuse = (reason: string, parsed?: URL): UrlVerdict => ({
    action: "deny",
    rule: "web",
    reason,
    url: null,
    host: parsed ? hostOf(parsed) : "",
    port: 0,
    address: null,
  });
  if (typeof url !== "string" || url.trim() === "") return refuse("a URL must be text that is not empty");
  if (url.length > LONGEST_URL) return refuse(`the URL is longer than ${LONGEST_URL} characters`);
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return refuse("it is no whole URL; write it with http:// or https://");
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
    return refuse(`only http and https are fetched, not "${parsed.protocol}"`);
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return refuse("a URL must not carry a user name or password", parsed);
  }
  const host = hostOf(parsed);
  if (host === "") return refuse("the URL names no host");
  const port = parsed.port === "" ? (parsed.protocol === "https:" ? 443 : 80) : Number(parsed.port);
  const address = addressOf(host);
  const answer = (action: Action, rule: string, reason: string): UrlVerdict => ({
    action,
    rule,
    reason,
    url: parsed.href,
    host,
    port,
    address,
  });
  if (!hostAllowed(host, port, settings.hosts)) {
    return answer("deny", "web.hosts", `${host} is not in web.hosts`);
  }
  const kind = address ?? classifyName(host);
  const verdict = decideAddress(kind, host, settings);
  if (kind === "public" && address === null) return answer("allow", "web", `${host} is a public name`);
  return answer(verdict.action, verdict.rule, verdict.reason);
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.+$/, "").toLowerCase();
}

/** What a name says by itself. It still has to be resolved, and its addresses classified. */
function classifyName(host: string): AddressClass {
  if (METADATA_NAMES.has(host)) return "forbidden";
  return /(?:^|\.)(?:localhost|local|internal|localdomain)$/.test(host) || host.endsWith(".home.arpa")
    ? "private"
    : "public";
}

/**
 * Whether `web.hosts` lets a host through. Empty: every host. `example.com` is that host alone, `*.example.com` what lies
 * below it; a port may follow, an IPv6 address
 * stands in brackets. An entry that cannot be understood lets nothing through.
 */
export function hostAllowed(host: string, port: number, hosts: readonly string[] | undefined): boolean {
  if (hosts === undefined || hosts === null) return true;
  if (!Array.isArray(hosts)) return false;
  return hosts.length === 0 || hosts.some((entry) => hostMatches(host, port, entry));
}

function hostMatches(host: string, port: number, entry: unknown): boolean {
  if (typeof entry !== "string") return false;
  const parts = /^(\*\.)?(\[[0-9a-fA-F:.]+\]|[^*\/\\@?#\s[\]:]+)(?::(\d{1,5}))?$/.exec(entry.trim());
  if (!parts || (parts[3] !== undefined && Number(parts[3]) !== port)) return false;
  const below = parts[1] !== undefined;
  let expected: string;
  try {
    expected = hostOf(new URL(`http://${parts[2]}`));
  } catch {
    return false;
  }
  if (expected === "") return false;
  return below ? host.endsWith(`.${expected}`) && addressOf(host) === null : host === expected;
}
