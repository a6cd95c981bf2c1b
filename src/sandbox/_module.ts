/**
 * Where the modules are that are loaded by their address: those of workers and of plugins' hosts.
 *
 * @module
 */

/**
 * Address of a module of the program. In a compiled binary and in a build (`deno task build`) most code is in a few
 * files, and these modules lie beside them under their own paths.
 *
 * @param path path below `src/`, such as `sandbox/entry.ts`
 */
export function moduleAddress(path: string): URL {
  if (Deno.build.standalone) return new URL(`./src/${path}`, Deno.mainModule);
  const here = import.meta.url;
  if (here.endsWith(".ts")) return new URL(`../${path}`, here);
  const root = new URL(/\/src\/sandbox\/[^/]*$/.test(here) ? "../../" : "./", here);
  return new URL(`./src/${path.replace(/\.ts$/, ".js")}`, root);
}
