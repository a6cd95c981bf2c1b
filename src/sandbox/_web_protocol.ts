/**
 * What the host and the worker of one hop say to each other. Plain data that structured clone carries.
 *
 * @module
 */
import type { HopScope } from "../policy/types.ts";
import type { Failure } from "./_protocol.ts";

/** One request. The scope says whom it goes to. */
export interface HopRequest {
  readonly method: "GET" | "POST";
  /** Sent as they are, beside `Host`, `User-Agent` and `Accept-Encoding`, which the worker sets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds. */
  readonly firstByteTimeout: number;
  /** Milliseconds until the whole body must be there. */
  readonly timeout: number;
  /** Most bytes of the body as it is sent. */
  readonly maxWire: number;
  /** Most bytes of the body after decompression. */
  readonly maxBody: number;
}

/** What one hop answered. A redirect comes without its body. */
export interface HopAnswer {
  readonly status: number;
  readonly statusText: string;
  /** The `Content-Type` header, or empty. */
  readonly type: string;
  /** The `Location` header of a redirect, as text; null where there is none. */
  readonly location: string | null;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Host to worker. */
export type ToWeb =
  | { readonly type: "hop"; readonly id: number; readonly scope: HopScope; readonly request: HopRequest }
  | { readonly type: "abort"; readonly id: number };

/** Worker to host. */
export type FromWeb =
  | { readonly type: "ready" }
  | { readonly type: "crashed"; readonly reason: string }
  | { readonly type: "done"; readonly id: number; readonly ok: true; readonly answer: HopAnswer }
  | { readonly type: "done"; readonly id: number; readonly ok: false; readonly failure: Failure };
