/**
 * The services that tools use by name: where they are and which key they take. Keys come from the environment or from
 * `providers.json`, and no tool sees them.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { ToolError } from "../errors.ts";
import { KEY_FILE, readKeys } from "../provider/detect.ts";
import { addressOf, PRESETS } from "../provider/presets.ts";
import type { WebService } from "../registry/web_hops.ts";
import { join } from "../text/path.ts";

/** What {@link serviceOf} works with. */
export interface ServiceInput {
  readonly settings: Pick<Settings, "search">;
  readonly env: (name: string) => string | undefined;
  readonly configDir: string;
}

/** Keyed services: address, variable, and the header that takes the key. */
const KEYED: Readonly<
  Record<string, { base: string; variable: string; header: (key: string) => Record<string, string> }>
> = {
  brave: {
    base: "https://api.search.brave.com/",
    variable: "BRAVE_API_KEY",
    header: (key) => ({ "x-subscription-token": key }),
  },
  tavily: {
    base: "https://api.tavily.com/",
    variable: "TAVILY_API_KEY",
    header: (key) => ({ authorization: `Bearer ${key}` }),
  },
};

/**
 * A service by its name; null for an unknown one.
 *
 * @throws {ToolError} where it lacks its address or key: says what to set
 */
export function serviceOf(name: string, { settings, env, configDir }: ServiceInput): WebService | null {
  if (name !== "search") return null;
  const { provider, url } = settings.search;
  if (provider === "duckduckgo") return { base: "https://lite.duckduckgo.com/", headers: {} };
  if (provider === "searxng") return { base: searxng(url), headers: {} };
  const keyed = Object.hasOwn(KEYED, provider) ? KEYED[provider] : undefined;
  if (!keyed) return null;
  const key = env(keyed.variable)?.trim() || readKeys(configDir)[provider]?.trim();
  if (!key) {
    throw new ToolError(
      `search.provider ${provider} needs a key: set ${keyed.variable}, or put {"${provider}": {"api_key": "…"}} into ${
        join(configDir, KEY_FILE)
      }`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ToolError(
      `the key of ${provider} holds blanks or other characters that no key has; set it anew`,
    );
  }
  return { base: keyed.base, headers: keyed.header(key) };
}

function searxng(url: string): string {
  if (url === "") {
    throw new ToolError(
      "search.provider searxng needs an instance: polyglav config set --global search.url https://searx.example.org",
    );
  }
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw new ToolError(
      `search.url ${JSON.stringify(url)} is no whole URL; write it with http:// or https://`,
    );
  }
  if (!/^https?:$/.test(parsed.protocol) || parsed.username !== "" || parsed.password !== "") {
    throw new ToolError(`search.url must be an http or https URL without user name and password`);
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/*$/, "/")}`;
}

/**
 * Hosts and addresses of the user's own servers, which the ceiling must not close although they may lie in a private
 * network: the model's and the search service's. Names that are no well-known provider's are resolved.
 *
 * @param provider where the model is
 */
export async function ownServers(
  settings: Settings,
  provider: { readonly host: string } | null,
): Promise<string[]> {
  const hosts = new Set<string>(),
    known = new Set(PRESETS.filter((p) => p.baseUrl !== "").map((p) => addressOf(p.baseUrl).host));
  if (provider && !known.has(provider.host)) hosts.add(provider.host);
  if (settings.search.provider === "searxng") {
    try {
      hosts.add(new URL(settings.search.url).hostname.replace(/^\[|\]$/g, ""));
    } catch {
      // The search says what is wrong with it.
    }
  }
  const own: string[] = [];
  for (const host of hosts) {
    own.push(host);
    if (/^[\d.]+$/.test(host) || host.includes(":") || host === "localhost") continue;
    const { systemResolver } = await import("../registry/web_hops.ts");
    own.push(...await systemResolver(host).catch(() => []));
  }
  return own;
}
