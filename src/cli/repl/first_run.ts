/**
 * The first start: no key, and no Ollama on this machine.
 *
 * @module
 */
import type { ProviderError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import type { Repl } from "./repl.ts";

/** Says what to do, and offers the demo. */
export async function firstRun(repl: Repl, error: ProviderError): Promise<void> {
  const { front } = repl;
  front.print(
    [
      `${front.style.yellow("There is no model to talk to yet.")}`,
      `  With a key: ${front.style.bold("/connect")} asks for it, tries it and keeps it for you alone.`,
      `  Without one: install Ollama and run ${
        front.style.bold("ollama pull qwen3")
      }, or /connect to any server.`,
    ].join("\n"),
  );
  // Anything but the usual message says more than these lines.
  if (!error.message.startsWith("no model to talk to")) {
    front.print(front.style.dim(cleanForTerminal(error.message)));
  }
  const answer = await front.ask({
    question: "Play the demo? It needs no model: a small project in a temporary folder, and recorded words.",
    options: ["yes", "no"],
  });
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return;
  const { playDemo } = await import("./demo.ts");
  await playDemo(repl);
}
