/**
 * Checks that a parsed command line accounts for its whole text: the tree's words and operators, written out in order
 * with blanks between them, must be the source. What a parser dropped (a comment), moved or invented shows here.
 *
 * @module
 */
import type { Script, Statement } from "unbash";
import { Refusal } from "./_shell_words.ts";

type Node = Statement["command"];

/** Reads tokens off the source. */
class Cursor {
  #at = 0;
  constructor(readonly source: string) {}

  blanks(): void {
    while (this.source[this.#at] === " " || this.source[this.#at] === "\t") this.#at++;
  }

  /** Expects `token` next, after blanks. */
  take(token: string): void {
    this.blanks();
    this.glued(token);
  }

  /** Expects `token` right here. */
  glued(token: string): void {
    if (token === "" || !this.source.startsWith(token, this.#at)) throw new Refusal(this.#rest());
    this.#at += token.length;
  }

  /** Takes `token` if it stands here, after blanks. */
  maybe(token: string): boolean {
    this.blanks();
    if (!this.source.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  end(): void {
    this.blanks();
    if (this.#at < this.source.length) throw new Refusal(this.#rest());
  }

  #rest(): string {
    const rest = this.source.slice(this.#at, this.#at + 40);
    return rest.startsWith("#") ? "a comment" : `text that is no part of a command (\`${rest}\`)`;
  }
}

/**
 * Compares a tree of simple commands with its source.
 *
 * @throws {Refusal} where they differ
 */
export function accountForSource(script: Script, source: string): void {
  const cursor = new Cursor(source);
  script.commands.forEach((statement, i) => {
    takeNode(statement.command, cursor);
    if (statement.background) cursor.take("&");
    else if (i < script.commands.length - 1) cursor.take(";");
    else cursor.maybe(";");
  });
  cursor.end();
}

function takeNode(node: Node, cursor: Cursor): void {
  if (node.type === "AndOr") {
    node.commands.forEach((part, i) => {
      if (i > 0) cursor.take(node.operators[i - 1] ?? "");
      takeNode(part, cursor);
    });
  } else if (node.type === "Pipeline") {
    for (const _ of node.prefixes) cursor.take("!");
    node.commands.forEach((part, i) => {
      if (i > 0) cursor.take(node.operators[i - 1] ?? "");
      takeNode(part, cursor);
    });
  } else if (node.type === "Command") {
    const all = [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix];
    for (const item of all) {
      if (item.type === "Redirect") {
        cursor.blanks();
        if (item.descriptor?.type === "FileDescriptor") cursor.glued(String(item.descriptor.value));
        cursor.glued(item.operator);
        if (item.target) cursor.take(item.target.text);
      } else if (item.type === "Word") cursor.take(item.text);
      else throw new Refusal(`the construct \`${item.type}\``);
    }
  } else throw new Refusal(`the construct \`${node.type}\``);
}
