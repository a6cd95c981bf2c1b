/**
 * What a slash command is: one declaration from which dispatch, help, suggestions and completion are made.
 *
 * @module
 */
import type { CompletionItem } from "../../ui/complete.ts";
import type { Repl } from "../repl/repl.ts";

/** A slash command and what it does. */
export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line for `/help`. */
  readonly summary: string;
  /** After the name: `[NAME]`. */
  readonly usage?: string;
  /** More lines for `/help NAME`. */
  readonly details?: string;
  /**
   * Does it. Throws `PolyglavError` for what the person must hear.
   *
   * @param rest what stands after the name, trimmed
   */
  run(repl: Repl, rest: string): Promise<void> | void;
  /**
   * What may stand at the end of the words after the name.
   *
   * @param words the words before the one that is completed
   */
  complete?(
    repl: Repl,
    words: readonly string[],
  ): Promise<readonly CompletionItem[]> | readonly CompletionItem[];
}
