/**
 * Inside a plugin's host: this thread keeps watch and passes lines on, a worker holds the plugin. What the plugin does to
 * its thread (endless loops included) leaves this one free to end the process.
 *
 * @module
 */
import { moduleAddress } from "./_module.ts";
import { LineReader, type PluginSetup } from "./_plugin_protocol.ts";
import { OUT_OF_MEMORY } from "./plugin_process.ts";

/** Milliseconds between looks at the memory. */
const WATCH = 50;

/**
 * Runs a plugin until standard input ends.
 *
 * @param setup the argument that {@link pluginArguments} wrote, JSON
 * @param exit ends the process
 */
export async function hostPlugin(setup: string, exit: (code: number) => void): Promise<void> {
  const { memory, narrow, root, ...rest } = JSON.parse(setup) as PluginSetup;
  const files = rest.read.length + rest.write.length > 0;
  setInterval(() => {
    if (Deno.memoryUsage().rss > memory * 1024 * 1024) exit(OUT_OF_MEMORY);
  }, WATCH);
  const worker = new Worker(moduleAddress(`sandbox/${files ? "plugin_files_worker" : "plugin_worker"}.ts`), {
    type: "module",
    name: "plugin",
    deno: {
      permissions: narrow === null ? "inherit" : {
        read: [root, ...narrow.read],
        write: list(narrow.write),
        net: list(narrow.net),
        run: list(narrow.run),
        env: list(narrow.env),
        sys: false,
        ffi: false,
        import: false,
      },
    },
  });
  worker.onmessage = ({ data }) => {
    if (typeof data === "string") write(`${data}\n`);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    write(`${JSON.stringify({ failed: event.message })}\n`);
    exit(1);
  };
  worker.postMessage({ root, ...rest });
  const lines = new LineReader((line) => worker.postMessage(line), () => exit(1));
  for await (const bytes of Deno.stdin.readable) lines.push(bytes);
  exit(0);
}

/** Never called: names the workers' modules, so that a program that is loaded from elsewhere has them in its cache. */
export const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import("./plugin_files_worker.ts"),
];

function list(values: readonly string[]): string[] | false {
  return values.length > 0 ? [...values] : false;
}

const encoder = new TextEncoder();

function write(text: string): void {
  const bytes = encoder.encode(text);
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
}
