/**
 * A worktree on disk for tests: `<tmp>/work` (the worktree), `<tmp>/outside`, `<tmp>/home`.
 *
 * @module
 */
import { dirname, join } from "../../src/text/path.ts";

/** What stands on disk. */
export interface TestTree extends Disposable {
  /** Canonical path of the temporary root. */
  readonly root: string;
  /** Canonical path of the worktree. */
  readonly work: string;
  /** A folder beside the worktree that nothing may reach. */
  readonly outside: string;
  /** An empty home. */
  readonly home: string;
  /** Content of a file below the root (`work/a.txt`), or null. */
  read(path: string): string | null;
  /** Writes a file below the root and makes its parents. */
  write(path: string, content: string | Uint8Array): void;
}

/** Files by path below the worktree, files outside, and links (link below the worktree → target text). */
export interface TreeSpec {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly outside?: Readonly<Record<string, string | Uint8Array>>;
  readonly links?: Readonly<Record<string, string>>;
}

/** Makes a tree; dispose it with `using tree = makeWorktree({...})`. */
export function makeWorktree(spec: TreeSpec = {}): TestTree {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-" }));
  const tree: TestTree = {
    root,
    work: join(root, "work"),
    outside: join(root, "outside"),
    home: join(root, "home"),
    read(path) {
      try {
        return Deno.readTextFileSync(join(root, path));
      } catch {
        return null;
      }
    },
    write(path, content) {
      const file = join(root, path);
      Deno.mkdirSync(dirname(file), { recursive: true });
      if (typeof content === "string") Deno.writeTextFileSync(file, content);
      else Deno.writeFileSync(file, content);
    },
    [Symbol.dispose]() {
      Deno.removeSync(root, { recursive: true });
    },
  };
  for (const directory of [tree.work, tree.outside, tree.home]) Deno.mkdirSync(directory);
  for (const [path, content] of Object.entries(spec.files ?? {})) tree.write(`work/${path}`, content);
  for (const [path, content] of Object.entries(spec.outside ?? {})) tree.write(`outside/${path}`, content);
  for (const [link, target] of Object.entries(spec.links ?? {})) {
    const file = join(tree.work, link);
    Deno.mkdirSync(dirname(file), { recursive: true });
    Deno.symlinkSync(target, file);
  }
  return tree;
}
