/**
 * What the prompt needs of the terminal. The parts behind it are in src/ui; tests put their own in their place.
 *
 * @module
 */
import type { Completer } from "../../ui/complete.ts";
import type { LineHistory, ReadResult } from "../../ui/input.ts";
import type { Question, UiSink } from "../../ui/sink.ts";
import type { Style } from "../../ui/style.ts";

/** The terminal as the prompt uses it. */
export interface Front {
  /** Width at this moment. */
  readonly columns: number;
  readonly style: Style;
  /** Where turns are shown, and who is asked about calls. */
  readonly sink: UiSink;
  /** Writes text that is clean already; a newline is added where it ends without one. */
  print(text: string): void;
  /** Writes a warning, which need not be clean. */
  warn(message: string): void;
  /** Reads the next line at the prompt. */
  readLine(
    options: { readonly prompt: string; readonly history?: LineHistory; readonly complete?: Completer },
  ): Promise<ReadResult>;
  /** Asks for a line of text, null where none was given. */
  line(prompt: string, initial?: string): Promise<string | null>;
  /** Reads a secret: nothing is shown, recalled or kept. Null where none was given. */
  secret(prompt: string): Promise<string | null>;
  /** Asks a question in the form of an agent's. */
  ask(question: Question): Promise<string | null>;
  /** Calls back at Ctrl-C while no line is read. @returns stops it */
  onInterrupt(listener: () => void): () => void;
  /** Sets the window's title; empty: as it was. */
  title(text: string): void;
  /** Rings the bell, where that is wanted. */
  bell(): void;
  /** Gives the terminal back. */
  close(): void;
}
