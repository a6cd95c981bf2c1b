/**
 * The tools that run in workers with files and nothing else, and what their handlers load.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { projectInstructions } from "./_project_instructions.ts";
import { fileEdit } from "./file_edit.ts";
import { fileRead } from "./file_read.ts";
import { fileWrite } from "./file_write.ts";
import { glob } from "./glob.ts";
import { grep } from "./grep.ts";
import { listDir } from "./list_dir.ts";

/** Tools whose `access` is files alone. */
export const tools: readonly Tool[] = [
  fileRead,
  listDir,
  glob,
  grep,
  fileWrite,
  fileEdit,
  projectInstructions,
];
