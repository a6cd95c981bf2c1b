/**
 * Runs the examples of the doc comments: `deno test --doc` under the project's own options but `noUnusedLocals`, since
 * Deno imports all that a module exports into each of its examples.
 *
 * @module
 */
import { dirname, join } from "../src/text/path.ts";

const root = dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname)));
const config = JSON.parse(Deno.readTextFileSync(join(root, "deno.json")));
const directory = Deno.makeTempDirSync({ prefix: "polyglav-" });
const own = Object.entries(config.exports as Record<string, string>).map(([name, file]) =>
  [join(config.name, name), new URL(`../${file}`, import.meta.url).href] as const
);
Deno.writeTextFileSync(
  join(directory, "deno.json"),
  JSON.stringify({
    unstable: config.unstable,
    nodeModulesDir: config.nodeModulesDir,
    imports: { ...config.imports, ...Object.fromEntries(own) },
    compilerOptions: { ...config.compilerOptions, noUnusedLocals: false },
  }),
);

/** Modules with examples; arguments name others. */
const files = Deno.args.length > 0 ? Deno.args : [
  "src/lib.ts",
  "src/tool.ts",
  "src/toolset.ts",
  "src/sandbox/open_workspace.ts",
  "src/llm/",
  "src/plugins/",
  "tools/README.md",
  "README.md",
];
try {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--doc",
      "-A",
      "--no-lock",
      "--config",
      join(directory, "deno.json"),
      ...files.map((file) => join(root, file)),
    ],
    cwd: root,
  }).spawn();
  Deno.exitCode = (await child.status).code;
} finally {
  Deno.removeSync(directory, { recursive: true });
}
