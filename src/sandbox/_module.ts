/**
 * Where the modules of workers are.
 *
 * @module
 */

/**
 * Address of a module of this folder. In a compiled binary this folder's code is part of one bundle, and the workers'
 * modules are embedded beside it under their own paths.
 *
 * @param name file name, such as `entry.ts`
 */
export function moduleAddress(name: string): URL {
  return Deno.build.standalone
    ? new URL(`./src/sandbox/${name}`, Deno.mainModule)
    : new URL(`./${name}`, import.meta.url);
}
