/**
 * How a request gets to the server and what it means when it does not: headers, redirects, time limits, errors. The
 * key goes to the configured origin alone, and never into a message.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { ProviderEvent } from "./provider.ts";

/** Where requests go. */
export interface Endpoint {
  /** Base URL, normalized; see `normalizeBaseUrl`. */
  readonly baseUrl: string;
  /** Null: no Authorization header is sent. */
  readonly apiKey: string | null;
}

/** The `error` event of a provider. */
export type ErrorEvent = Extract<ProviderEvent, { type: "error" }>;

/** Bytes of an error's body that are read. */
const MAX_ERROR_BODY = 64 * 1024;
/** Characters of a server's message that are passed on. */
const MAX_MESSAGE = 600;
const MAX_REDIRECTS = 3;

/** URL of a path below the base URL; a query of the base URL is kept. */
export function urlOf(baseUrl: string, path: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/$/, "") + path;
  return url.href;
}

/**
 * Sends a request. Redirects are followed within the origin where they keep the method; anything else is an error:
 * the key must not go to another host.
 *
 * @throws whatever fetch throws, and {@link RedirectError}
 */
export async function send(
  endpoint: Endpoint,
  path: string,
  init: { readonly method: "GET" | "POST"; readonly body?: BodyInit; readonly signal: AbortSignal },
): Promise<Response> {
  const headers: Record<string, string> = { "user-agent": "polyglav" };
  if (init.body !== undefined) {
    headers["content-type"] = "application/json";
    headers.accept = "text/event-stream, application/json";
  }
  if (endpoint.apiKey !== null) headers.authorization = `Bearer ${endpoint.apiKey}`;
  let url = urlOf(endpoint.baseUrl, path);
  for (let hops = 0;; hops++) {
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    const target = redirectTarget(url, response);
    const keeps = init.method === "GET" || response.status === 307 || response.status === 308;
    if (!target || new URL(target).origin !== new URL(url).origin || !keeps || hops >= MAX_REDIRECTS) {
      throw new RedirectError(response.status, target ? new URL(target).origin : null);
    }
    url = target;
  }
}

function redirectTarget(url: string, response: Response): string | null {
  try {
    return new URL(response.headers.get("location") ?? "", url).href;
  } catch {
    return null;
  }
}

/** A redirect that is not followed. */
export class RedirectError extends Error {
  readonly status: number;
  /** @param status HTTP status; @param origin where it leads to */
  constructor(status: number, origin: string | null) {
    super(
      `the server redirects (${status}) to ${origin ?? "nowhere"}, which is not followed; ` +
        `set base_url to the address that answers`,
    );
    this.status = status;
  }
}

/** Takes keys out of a text. */
export function redact(text: string, apiKey: string | null): string {
  const clean = apiKey !== null && apiKey.length >= 4 ? text.replaceAll(apiKey, "[key]") : text;
  return clean.replace(/\b(Bearer)\s+[^\s"',]{4,}/gi, "$1 [key]");
}

/** One line for a person out of whatever a server said. */
export function oneLine(text: string, apiKey: string | null): string {
  const line = redact(text.toWellFormed(), apiKey).replace(/\p{Cc}+/gu, " ").replace(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE).toWellFormed()}…` : line;
}

/** The error event of a response that is no success; reads its body. */
export async function responseError(response: Response, endpoint: Endpoint): Promise<ErrorEvent> {
  const text = await readText(response, MAX_ERROR_BODY);
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch { /* HTML or plain text */ }
  const said = bodyMessage(body) ?? (/^\s*</.test(text) ? "" : text);
  const message = oneLine(said, endpoint.apiKey) ||
    `HTTP ${response.status} ${oneLine(response.statusText, endpoint.apiKey)}`.trim();
  const retryAfter = parseRetryAfter(response.headers.get("retry-after"), Date.now());
  return {
    type: "error",
    code: response.status,
    message,
    retryable: isRetryable(response.status) && !isFinal(body),
    ...(retryAfter === null ? {} : { retryAfter }),
  };
}

/** The error event of an error object inside of a stream or of a JSON answer. */
export function bodyError(error: unknown, endpoint: Endpoint): ErrorEvent {
  const said = bodyMessage({ error }) ?? "the server reported an error without a message";
  const { code, status, type } = (typeof error === "object" && error !== null ? error : {}) as Record<
    string,
    unknown
  >;
  const number = [code, status].map(Number).find((n) => Number.isInteger(n) && n >= 400 && n <= 599) ?? 0;
  const words = `${type ?? ""} ${code ?? ""} ${number === 0 ? said : ""}`;
  const passing = /overload|rate.?limit|server_error|internal|timeout|timed.out|unavailable|try again/i.test(
    words,
  );
  return {
    type: "error",
    code: number,
    message: oneLine(said, endpoint.apiKey),
    retryable: (isRetryable(number) || (number === 0 && passing)) && !isFinal({ error }),
  };
}

/** The error event of what fetch or reading a body threw. */
export function thrownError(error: unknown, endpoint: Endpoint): ErrorEvent {
  const { host } = new URL(endpoint.baseUrl);
  const name = error instanceof Error ? error.name : "";
  if (error instanceof RedirectError) {
    return {
      type: "error",
      code: error.status,
      message: oneLine(error.message, endpoint.apiKey),
      retryable: false,
    };
  }
  if (name === "NotCapable" || name === "PermissionDenied") {
    const message = `network access to ${host} is not allowed by this run's permissions`;
    return { type: "error", code: 0, message, retryable: false };
  }
  const text = causeOf(error);
  return {
    type: "error",
    code: 0,
    message: oneLine(`cannot reach ${host}: ${text}`, endpoint.apiKey),
    retryable: !/certificate|invalid url|invalid header|not allowed|blocked/i.test(text),
  };
}

/**
 * What is behind "fetch failed" and "error sending request for url (…): client error (Connect): tcp connect error:
 * Connection refused (os error 111)", without the URL, which the user knows.
 */
function causeOf(error: unknown): string {
  let deepest = error;
  while (deepest instanceof Error && deepest.cause instanceof Error) deepest = deepest.cause;
  return messageOf(deepest)
    .replace(/^error sending request for url \([^)]*\):?\s*/, "")
    .replace(/^(client error \(\w+\):\s*|tcp connect error:\s*)+/, "") || messageOf(error);
}

/** Whether a status is worth another try. */
export function isRetryable(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}

/** A 429 that waiting does not cure. */
function isFinal(body: unknown): boolean {
  const error = (body as { error?: { code?: unknown; type?: unknown } } | null)?.error;
  return /insufficient_quota|billing/.test(`${error?.code ?? ""} ${error?.type ?? ""}`);
}

/** The message in an error's body, wherever servers put it. */
function bodyMessage(body: unknown): string | null {
  const first = Array.isArray(body) ? body[0] : body;
  if (typeof first !== "object" || first === null) return null;
  const { error, message, detail } = first as Record<string, unknown>;
  for (const value of [(error as { message?: unknown } | null)?.message, error, message, detail]) {
    if (typeof value === "string" && value.trim() !== "") return value;
    if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
      try {
        return JSON.stringify(value);
      } catch {
        return null;
      }
    }
  }
  return null;
}

/** Seconds of a Retry-After header, which is a number of them or a date; null: none. */
export function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null || value.trim() === "") return null;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

/** Text of a body up to a number of bytes; never throws. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  if (!response.body) return "";
  const reader = response.body.getReader(), decoder = new TextDecoder();
  let text = "", bytes = 0;
  try {
    while (bytes < maxBytes) {
      const { value, done } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      text += decoder.decode(value, { stream: true });
    }
    await reader.cancel();
  } catch { /* what came is what there is */ }
  return text;
}
