/**
 * What questions are asked with in tests.
 *
 * @module
 */
import type { ConsentChoice, ConsentRules } from "../../src/ui/consent.ts";
import { Input } from "../../src/ui/input.ts";
import type { ConfirmRequest } from "../../src/ui/sink.ts";
import { createStyle, type Style } from "../../src/ui/style.ts";
import { defineTool, type Tool } from "../../src/tool.ts";
import { FakeTty, settle } from "./_fake_tty.ts";

/** Longer than the quiet time before a question. */
export const QUIET = 330;

/** A terminal with its reader, and rules that are kept here. */
export interface Desk extends Disposable {
  readonly tty: FakeTty;
  readonly input: Input;
  readonly style: Style;
  readonly settings: { glyph_params: boolean; confirm_timeout: number };
  readonly rules: ConsentRules & {
    readonly kept: ConsentChoice[];
    offered: ConsentChoice[];
    refuses: boolean;
  };
  /** Waits until the question takes keys, then types. */
  answer(...keys: string[]): Promise<void>;
}

/** Sets one up. */
export function makeDesk(columns: number = 80): Desk {
  const tty = new FakeTty({ columns }), input = new Input(tty);
  input.start();
  const rules: Desk["rules"] = {
    kept: [],
    refuses: false,
    offered: [
      {
        covers: "exact",
        lasts: "session",
        label: "exactly this, this session",
        rule: 'run_command "git push"',
      },
      {
        covers: "prefix",
        lasts: "project",
        label: "git push …, this project",
        rule: 'tool_permission.bash_auto += "git push"',
      },
    ],
    choices: () => rules.offered,
    remember(_request, choice) {
      if (rules.refuses) return Promise.reject(new Error("the file is read-only"));
      rules.kept.push(choice);
      return Promise.resolve();
    },
    explain: () => ["tool_permission.bash: ask", "\x1b[2Jmode build: nothing"],
  };
  return {
    tty,
    input,
    style: createStyle(false),
    settings: { glyph_params: true, confirm_timeout: 0 },
    rules,
    async answer(...keys) {
      await settle(QUIET);
      for (const key of keys) {
        tty.type(key);
        await settle(5);
      }
    },
    [Symbol.dispose]: () => input.close(),
  };
}

const property = { type: "string", description: "a text" } as const;

/** A tool that takes a command line. */
export const runTool: Tool = defineTool({
  name: "run_command",
  description: "Runs.",
  access: ["run"],
  commandArg: "command",
  keyArg: "command",
  parameters: { type: "object", properties: { command: property, cwd: property }, required: ["command"] },
  execute: () => "",
});

/** A tool that replaces text in a file. */
export const editTool: Tool = defineTool({
  name: "file_edit",
  description: "Edits.",
  access: ["read", "write"],
  pathArg: "path",
  keyArg: "path",
  parameters: {
    type: "object",
    properties: { path: property, old: property, new: property },
    required: ["path", "old", "new"],
  },
  execute: () => "",
});

/** A call that is asked about. */
export function requestOf(
  tool: Tool,
  args: Record<string, unknown>,
  more: Partial<Omit<ConfirmRequest, "decision">> & {
    readonly decision?: Partial<ConfirmRequest["decision"]>;
  } = {},
): ConfirmRequest {
  return {
    tool,
    args,
    preview: () => Promise.resolve(""),
    ...more,
    decision: {
      action: "ask",
      rule: "tool_permission.bash",
      reason: "ask",
      trail: [],
      paths: [],
      ...more.decision,
    },
  };
}
