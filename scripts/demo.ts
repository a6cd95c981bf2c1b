/**
 * The main job, shown: copies the small project of tests/fixtures/shop into a temporary folder and runs the real
 * program there with a recorded model. Only the model's words are recorded; every tool call is decided, sandboxed,
 * executed and recorded as in any run.
 *
 * @module
 */
import { dirname, join } from "../src/text/path.ts";

const root = dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname)));
const fixtures = join(root, "tests/fixtures");

function copy(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const entry of Deno.readDirSync(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory) copy(source, target);
    else Deno.copyFileSync(source, target);
  }
}

async function polyglav(...args: string[]): Promise<number> {
  console.log(`\n$ polyglav ${args.map((word) => /[\s{}"']/.test(word) ? `'${word}'` : word).join(" ")}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(root, "main.ts"), ...args, "--path", project],
    env: { XDG_STATE_HOME: join(temporary, "state"), XDG_CONFIG_HOME: join(temporary, "config") },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  return (await child.status).code;
}

const temporary = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-demo-" }));
const project = join(temporary, "shop");
let code = 1;
try {
  copy(join(fixtures, "shop"), project);
  Deno.mkdirSync(join(temporary, "private"));
  Deno.writeTextFileSync(join(temporary, "private/salaries.txt"), "nobody's business\n");
  const before = Deno.readTextFileSync(join(project, "src/cart.ts"));
  console.log(
    "A copy of tests/fixtures/shop, and beside it private/salaries.txt, which is none of the agent's business.",
  );
  code = await polyglav(
    ...[
      "run",
      "--prompt",
      "The total of a cart ignores how many of an item were ordered. Fix it and note it in CHANGELOG.md.",
    ],
    ...[
      "--replay",
      join(fixtures, "shop.replay.jsonl"),
      "--session-id",
      "demo",
      "--output",
      "text",
      "--verbose",
    ],
  );
  if (code === 0) code = await polyglav("sessions", "verify", "demo");
  if (code === 0) code = await polyglav("sessions", "show", "demo");
  const after = Deno.readTextFileSync(join(project, "src/cart.ts"));
  if (code === 0 && before === after) {
    console.error("demo: the run ended well, but src/cart.ts is as it was");
    code = 1;
  }
} finally {
  Deno.removeSync(temporary, { recursive: true });
}
Deno.exit(code);
