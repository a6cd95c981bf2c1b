/**
 * A worker with few permissions that runs exec.ts, as entry.ts does.
 *
 * @module
 */
import { exec, type ExecSettings } from "../../src/sandbox/exec.ts";

const port = globalThis as unknown as {
  postMessage(message: unknown): void;
  onmessage: (event: { data: { argv: string[]; settings: ExecSettings; abortAfter?: number } }) => void;
};

port.onmessage = async ({ data: { argv, settings, abortAfter } }) => {
  const abort = new AbortController();
  if (abortAfter !== undefined) setTimeout(() => abort.abort(), abortAfter);
  try {
    const result = await exec(argv, {
      ...settings,
      signal: abort.signal,
      onSpawn: (pid) => port.postMessage({ pid }),
    });
    port.postMessage({ result });
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
};
