/**
 * Ring 2 for the web: the worker compares what it is asked to do with its own copy of the scope, and addresses with its own
 * list. It shares no code with the policy, which decided already.
 *
 * Source: the IANA special-purpose address registries for IPv4 and IPv6, and the addresses of cloud metadata services.
 *
 * @module
 */
import { BlockList, isIP } from "node:net";
import { ToolError } from "../errors.ts";
import type { HopScope } from "../policy/types.ts";

/** What is no public address. IPv6 is the other way round: public are the few ranges that are assigned. */
const RANGES: readonly string[] = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
  ...["192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"],
  ...["198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32"],
];
const GLOBAL = "2000::/3";
const NOT_GLOBAL: readonly string[] = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Addresses that a yes to one request never opens: link-local, multicast, reserved, metadata. */
const NEVER: readonly string[] = [
  ...["0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "224.0.0.0/3", "168.63.129.16/32", "100.100.100.200/32"],
  ...["::/128", "fe80::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128"],
];

const inner = listOf(RANGES),
  global = listOf([GLOBAL]),
  notGlobal = listOf(NOT_GLOBAL),
  never = listOf(NEVER);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split("/") as [string, string];
    list.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** What lies behind an address: `public`, `inner` (this machine, a private network) or `never` (nobody may open it by a yes). */
export function placeOf(address: string): "public" | "inner" | "never" {
  const kind = isIP(address);
  if (kind === 0) return "never";
  if (kind === 4) {
    return never.check(address, "ipv4") ? "never" : inner.check(address, "ipv4") ? "inner" : "public";
  }
  const carried = carriedIPv4(address);
  if (carried !== null) return placeOf(carried);
  if (never.check(address, "ipv6")) return "never";
  return global.check(address, "ipv6") && !notGlobal.check(address, "ipv6") ? "public" : "inner";
}

/** The IPv4 address that a mapped, compatible or NAT64 one stands for; null for any other. */
function carriedIPv4(address: string): string | null {
  const text = new URL(`http://[${address.replace(/%.*$/, "")}]/`).hostname.slice(1, -1);
  const found = /^(?:::(?:ffff:(?:0:)?)?|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text);
  if (!found) return null;
  const [high, low] = [parseInt(found[1]!, 16), parseInt(found[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/**
 * Checks one request against its scope.
 *
 * @returns the URL, parsed
 * @throws {ToolError} kind `permission`
 */
export function checkHop(scope: HopScope): URL {
  const refuse = (why: string): never => {
    throw new ToolError(`Cannot ask for ${scope.url}: ${why}`, "permission");
  };
  const url = new URL(scope.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") refuse("it is neither http nor https");
  if (url.username !== "" || url.password !== "") refuse("it carries a user name or password");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (host !== scope.host || port !== scope.port) refuse("it is not what was checked");
  if (scope.addresses.length === 0) refuse("no address was checked");
  for (const address of scope.addresses) {
    if (isIP(host) !== 0 && spelled(host) !== spelled(address)) refuse(`${address} is another address`);
    if (scope.opened === "all") continue;
    const place = placeOf(address);
    if (place === "never" || (place === "inner" && !scope.opened.includes(address))) {
      refuse(`${address} is no public address`);
    }
  }
  return url;
}

/** An address in the one way in which URLs spell it. */
function spelled(address: string): string {
  return new URL(`http://${address.includes(":") ? `[${address}]` : address}/`).hostname;
}
