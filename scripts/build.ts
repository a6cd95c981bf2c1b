/**
 * Makes a build: the program as a few files of JavaScript that start in about a quarter less time, with all packages in them.
 *
 * usage: deno task build [--out DIR]
 *
 * The folder (default: dist/polyglav) stands alone: `deno run -A DIR/main.js` needs no other file and no network.
 *
 * @module
 */
import { dirname, isAbsolute, join, toSlashes } from "../src/text/path.ts";

/** Modules that are loaded by their address and so keep their own: workers, hosts of plugins, the library of plugins. */
export const ENTRIES: readonly string[] = [
  "main.ts",
  "src/sandbox/entry.ts",
  "src/sandbox/run_entry.ts",
  "src/sandbox/page_entry.ts",
  "src/sandbox/web_entry.ts",
  "src/sandbox/plugin_worker.ts",
  "src/sandbox/plugin_files_worker.ts",
  "src/cli/_plugin_main.ts",
  "src/lib.ts",
];

/**
 * Makes a build. What is in the folder before is replaced only when the new one is complete.
 *
 * @param root the folder of main.ts
 * @param out absolute path of the build's folder
 * @throws {Error} with what the bundler said, or where the folder holds something else
 */
export async function build(root: string, out: string): Promise<void> {
  if (!isBuild(out)) throw new Error(`${out} holds something that is no build; give another --out`);
  // A name of its own: what lies beside the build is somebody else's.
  const fresh = `${out}.${crypto.randomUUID().slice(0, 8)}.new`;
  try {
    await make(root, fresh);
    remove(out);
    Deno.renameSync(fresh, out);
  } catch (error) {
    remove(fresh);
    throw error;
  }
}

/** Bundles into a folder that is not there yet. */
async function make(root: string, fresh: string): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--platform",
      "deno",
      "--code-splitting",
      "--outdir",
      fresh,
      ...ENTRIES.map((entry) => join(root, entry)),
    ],
    cwd: root,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const [stderr, status] = await Promise.all([new Response(child.stderr).text(), child.status]);
  if (!status.success) throw new Error(`Cannot build: ${stderr.trim()}`);
  const { version, unstable } = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
  Deno.writeTextFileSync(
    join(fresh, "deno.json"),
    `${JSON.stringify({ built: version, unstable, nodeModulesDir: "none" }, null, 2)}\n`,
  );
  for (const entry of ENTRIES) preload(fresh, entry.replace(/\.ts$/, ".js"));
}

/**
 * Lets an entry load the names of what it has anyway. The bundler makes a file of its own for each module that is
 * imported dynamically, even where its code is loaded already, and a narrowed worker can load no further file.
 *
 * @param folder the build's
 * @param entry path of the entry below it
 */
function preload(folder: string, entry: string): void {
  const files = new Map<string, string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    const text = Deno.readTextFileSync(file);
    files.set(file, text);
    for (const path of named(file, text, /^(?:import|export)\b[^"';()]*?"(\.[^"]+)";$/gm)) visit(path);
  };
  visit(join(folder, entry));
  const names = new Set<string>();
  for (const [file, text] of files) {
    for (const target of named(file, text, /\bimport\("(\.[^"]+\.js)"\)/g)) {
      if (files.has(target) || names.has(target)) continue;
      const passed = Deno.readTextFileSync(target);
      const loaded = named(target, passed, /"(\.[^"]+\.js)"/g).every((path) => files.has(path));
      if (loaded && onlyNames(passed)) names.add(target);
    }
  }
  if (names.size === 0) return;
  const up = "../".repeat(entry.split("/").length - 1) || "./";
  const lines = [...names].map((file) => `import "${up}${file.slice(folder.length + 1)}";\n`);
  const own = join(folder, entry);
  Deno.writeTextFileSync(own, lines.join("") + files.get(own));
}

/** The files that a file names where the pattern matches, as absolute paths. */
function named(file: string, text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, path]) => join(dirname(file), path!));
}

/** Whether a file only passes on names of others. */
function onlyNames(text: string): boolean {
  return text.replaceAll(/\/\/.*$/gm, "").replaceAll(/^(?:import|export)\b[^;()]*;$/gm, "").trim() === "";
}

/** Whether a folder is a build, or may become one. */
function isBuild(out: string): boolean {
  let names: string[];
  try {
    names = [...Deno.readDirSync(out)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
  if (names.length === 0) return true;
  try {
    return typeof JSON.parse(Deno.readTextFileSync(join(out, "deno.json"))).built === "string";
  } catch {
    return false;
  }
}

function remove(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

if (import.meta.main) {
  const root = dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname)));
  const [word, value] = Deno.args;
  if (Deno.args.length > 0 && (word !== "--out" || value === undefined || Deno.args.length > 2)) {
    console.error(`build: cannot understand "${Deno.args.join(" ")}"; usage: deno task build [--out DIR]`);
    Deno.exit(2);
  }
  const out = value === undefined
    ? join(root, "dist/polyglav")
    : isAbsolute(value)
    ? join(value)
    : join(toSlashes(Deno.cwd()), value);
  try {
    Deno.mkdirSync(dirname(out), { recursive: true });
    await build(root, out);
  } catch (error) {
    console.error(`build: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
  console.log(join(out, "main.js"));
}
