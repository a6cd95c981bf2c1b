/**
 * Files as taking back changes reaches them: by canonical paths that must still lead to themselves, opened and checked as
 * the guard does it.
 *
 * @module
 */
import * as fs from "node:fs";
import { ToolError } from "../errors.ts";
import { dirname } from "../text/path.ts";
import { realPath, shown } from "./_canonical.ts";
import { identityAt, openChecked, readRest, SwappedError } from "./_open.ts";
import { refuseSystem } from "./_scope.ts";
import { writeBytes } from "./_write.ts";

/** What a path holds. */
export interface HeldFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mode: number;
}

/** Most bytes of a file that is read. */
const LARGEST = 64 << 20;

/** Reads, writes and removes regular files at canonical paths. All throw {@link ToolError}. */
export const undoFiles: {
  read(path: string): HeldFile | null;
  write(path: string, bytes: Uint8Array, mode: number | null, expected: Uint8Array | null): void;
  remove(path: string, expected: Uint8Array, above: number): void;
} = {
  read(path) {
    place(path);
    if (identityAt(path) === null) return null;
    const file = openChecked(path, "read");
    try {
      if (file.size > LARGEST) throw new ToolError(`Cannot read ${shown(path)}: it is too large`);
      const bytes = readRest(file.descriptor, file.size, LARGEST);
      return { bytes, mode: file.mode };
    } finally {
      file.close();
    }
  },
  write(path, bytes, mode, expected) {
    place(path);
    const random = crypto.randomUUID().slice(0, 13);
    const options = expected === null ? { exclusive: true } : { expected };
    writeBytes(path, bytes, options, `${dirname(path)}/.polyglav-${random}.tmp`.replace("//.", "/."));
    if (mode === null || Deno.build.os === "windows") return;
    const file = openChecked(path, "read");
    try {
      if (file.mode !== mode) fs.fchmodSync(file.descriptor, mode & 0o1777);
    } finally {
      file.close();
    }
  },
  remove(path, expected, above) {
    place(path);
    const file = openChecked(path, "read");
    try {
      const bytes = readRest(file.descriptor, file.size, LARGEST);
      if (bytes.length !== expected.length || bytes.some((byte, i) => byte !== expected[i])) {
        throw new ToolError(`Cannot remove ${shown(path)}: it changed meanwhile`);
      }
      place(path);
      if (identityAt(path) !== file.identity) {
        throw new SwappedError(`Cannot remove ${shown(path)}: it was replaced`);
      }
      Deno.removeSync(path);
    } finally {
      file.close();
    }
    for (let directory = dirname(path), i = 0; i < above; directory = dirname(directory), i++) {
      try {
        Deno.removeSync(directory);
      } catch {
        return; // it holds something else
      }
    }
  },
};

/** Throws where the path, as far as it exists, leads elsewhere than to itself. */
function place(path: string): void {
  refuseSystem(path, path);
  for (let at = path;; at = dirname(at)) {
    if (identityAt(at) === null && dirname(at) !== at) continue;
    if (realPath(at) !== at) {
      throw new SwappedError(`Cannot touch ${shown(path)}: a link stands in its place now`);
    }
    return;
  }
}
