/**
 * The worker's side of web requests.
 *
 * @module
 */
import { messageOf, PolyglavError, ToolError } from "../errors.ts";
import { checkHop } from "./_web_guard.ts";
import { requestHop } from "./_web_request.ts";
import type { Failure } from "./_protocol.ts";
import type { FromWeb, ToWeb } from "./_web_protocol.ts";

interface Port {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: { data: ToWeb }) => void): void;
}

/** Answers the host's requests. */
export function serveHops(): void {
  const port = globalThis as unknown as Port;
  const post = (message: FromWeb, transfer?: Transferable[]) => port.postMessage(message, transfer);
  const running = new Map<number, AbortController>();
  // Deno reports a refused connection as an error that nobody can catch.
  const crash = (event: Event, thrown: unknown) => {
    event.preventDefault();
    post({ type: "crashed", reason: failureOf(thrown).message });
  };
  addEventListener("error", (event) => crash(event, event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => crash(event, event.reason));
  port.addEventListener("message", ({ data }) => {
    if (data.type === "abort") {
      running.get(data.id)?.abort();
      return;
    }
    const { id, scope, request } = data, controller = new AbortController();
    running.set(id, controller);
    void (async () => {
      try {
        const answer = await requestHop(checkHop(scope), scope.addresses, request, controller.signal);
        post({ type: "done", id, ok: true, answer }, [answer.body.buffer]);
      } catch (error) {
        post({ type: "done", id, ok: false, failure: failureOf(error) });
      } finally {
        running.delete(id);
      }
    })();
  });
  post({ type: "ready" });
}

function failureOf(error: unknown): Failure {
  const kind = error instanceof ToolError
    ? error.kind
    : error instanceof Deno.errors.NotCapable
    ? "permission"
    : "execution";
  const message = messageOf(error);
  return { kind, message: error instanceof PolyglavError ? message : `the request failed: ${message}` };
}
