/**
 * The bundled tools, grouped into the bundled plugins. To add a tool: write `tools/<name>.ts`, add it to its group
 * here and to the list of the workers that run it (`far_files.ts`, `far_programs.ts`, `far_web.ts`).
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { projectInstructions } from "./_project_instructions.ts";
import { ask } from "./ask.ts";
import { catalog } from "./catalog.ts";
import { codeFormat } from "./code_format.ts";
import { codeLint } from "./code_lint.ts";
import { codeTest } from "./code_test.ts";
import { delegate } from "./delegate.ts";
import { fileEdit } from "./file_edit.ts";
import { fileRead } from "./file_read.ts";
import { fileWrite } from "./file_write.ts";
import { git } from "./git.ts";
import { gitCommit } from "./git_commit.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { handoff } from "./handoff.ts";
import { listDir } from "./list_dir.ts";
import { runCommand } from "./run_command.ts";
import { team } from "./team.ts";
import { todo } from "./todo.ts";
import { webFetch } from "./web_fetch.ts";
import { webSearch } from "./web_search.ts";

/** The bundled plugins and their tools. */
export const groups: Readonly<Record<string, readonly Tool[]>> = {
  "polyglav-core-fs": [fileRead, listDir, glob, grep],
  "polyglav-core-edit": [fileWrite, fileEdit],
  "polyglav-core-exec": [runCommand],
  "polyglav-core-git": [git, gitCommit],
  "polyglav-core-dev": [codeTest, codeLint, codeFormat],
  "polyglav-core-web": [webSearch, webFetch],
  "polyglav-core": [delegate, team, ask, catalog, handoff, todo],
};

/** Tools that the program itself uses; never shown to a model. */
export const internalTools: readonly Tool[] = [projectInstructions];

/** Every tool that a worker can run. */
export const tools: readonly Tool[] = [...Object.values(groups).flat(), ...internalTools];
