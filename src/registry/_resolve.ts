/**
 * Names to addresses, as the system does it (hosts file included).
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";

/** Resolves a host name to IP addresses as text, best first. Throws `ToolError` where there are none. */
export type Resolver = (host: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** Milliseconds. */
const TIMEOUT = 8_000;

/** The system's resolver. Loaded when first needed: it brings the Node layer with it. */
export const systemResolver: Resolver = async (host, signal) => {
  const { lookup } = await import("node:dns");
  return await new Promise((resolve, reject) => {
    const give = (error: ToolError) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      reject(error);
    };
    const cancel = () => give(new ToolError("The request was cancelled"));
    const timer = setTimeout(
      () => give(new ToolError(`${host} could not be resolved within ${TIMEOUT / 1000} s`, "timeout")),
      TIMEOUT,
    );
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      lookup(host, { all: true, verbatim: true }, (error, found) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        // An address with a zone belongs to one network card; no page is there.
        const addresses = [...new Set((found ?? []).map(({ address }) => address))].filter((text) =>
          !text.includes("%")
        );
        if (error || addresses.length === 0) {
          reject(new ToolError(`${host} could not be resolved${reason(error)}`, "not_found"));
        } else resolve(addresses);
      });
    } catch (error) {
      give(new ToolError(`${host} could not be resolved: ${messageOf(error)}`, "not_found"));
    }
  });
};

function reason(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === "ENOTFOUND") return ": there is no such name";
  return typeof code === "string" ? ` (${code})` : "";
}
