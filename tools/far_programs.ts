/**
 * The tools that run in workers that may start programs, and what their handlers load.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { codeFormat } from "./code_format.ts";
import { codeLint } from "./code_lint.ts";
import { codeTest } from "./code_test.ts";
import { git } from "./git.ts";
import { gitCommit } from "./git_commit.ts";
import { runCommand } from "./run_command.ts";

/** Tools whose `access` includes programs. */
export const tools: readonly Tool[] = [runCommand, git, gitCommit, codeTest, codeLint, codeFormat];
