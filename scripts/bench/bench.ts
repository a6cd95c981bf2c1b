/**
 * Measures the performance budget, each figure as a ratio in one run. usage: deno task bench [NAME...] [--times N]
 *
 * @module
 */
import { dirname, join } from "../../src/text/path.ts";
import { compare, measure, type Measured, median } from "./_process.ts";
import type { TerminalFigures } from "./terminal.ts";
import { makeTree } from "./_tree.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted_model.ts";

const here = dirname(decodeURIComponent(new URL(import.meta.url).pathname));
const main = join(here, "../../main.ts");
const deno = Deno.execPath();
const words = [...Deno.args];
const at = words.indexOf("--times");
const times = at === -1 ? 11 : Number(words.splice(at, 2)[1]);

/** One line of the table. */
interface Figure {
  readonly what: string;
  readonly ours: string;
  readonly base: string;
  readonly ratio: number;
  readonly budget: number;
  readonly unit?: string;
}

const figures: Figure[] = [];
const ms = (value: number) => `${value.toFixed(1)} ms`;

function report(figure: Figure): void {
  figures.push(figure);
  const verdict = Number.isNaN(figure.ratio)
    ? "not measured"
    : figure.ratio <= figure.budget
    ? "ok"
    : "MISSED";
  const ratio = Number.isNaN(figure.ratio) ? "-" : `${figure.ratio.toFixed(2)}${figure.unit ?? " x"}`;
  console.log(
    `${figure.what.padEnd(52)} ${figure.ours.padStart(12)} ${figure.base.padStart(20)} ${
      ratio.padStart(10)
    }  <= ${figure.budget}${figure.unit ?? " x"}  ${verdict}`,
  );
}

function must(result: Measured): Measured {
  if (result.code !== 0) {
    throw new Error(`exit ${result.code}: ${result.stderr.slice(0, 400)}${result.stdout.slice(0, 400)}`);
  }
  return result;
}

const home = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-bench-" }));
const work = join(home, "work");
Deno.mkdirSync(work);
Deno.writeTextFileSync(join(work, "a.txt"), "one line\nanother line\n");
const env: Record<string, string> = {
  HOME: home,
  NO_COLOR: "1",
  DENO_DIR: denoDir(),
  DENO_NO_UPDATE_CHECK: "1",
};

function denoDir(): string {
  return Deno.env.get("DENO_DIR") ??
    join(Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "", ".cache"), "deno");
}

const polyglav = (...args: string[]) => [deno, "run", "-A", main, ...args];
const turn = (url: string, program = main) => [
  ...[deno, "run", "-A", program],
  ...[
    "run",
    "-p",
    "go",
    "--provider",
    "openai-compatible",
    "--base-url",
    url,
    "--model",
    "scripted",
    "--path",
    work,
  ],
];
const bare = (url: string) => [deno, "run", "-A", join(here, "bare_agent.ts"), url, "go"];

const sections: Record<string, () => Promise<void>> = {
  async start() {
    const empty = join(home, "empty.ts");
    Deno.writeTextFileSync(empty, "");
    const [ours, base] = await compare([
      async () => must(await measure(polyglav("--version"), { env })).wall,
      async () => must(await measure([deno, "run", empty], { env })).wall,
    ], times);
    report({
      what: "cold start, --version / deno run of an empty file",
      ours: ms(ours!),
      base: ms(base!),
      ratio: ours! / base!,
      budget: 1.3,
    });
  },
  run: () =>
    withModel(async (model) => {
      const built = await makeBuild();
      for (
        const [steps, what, budget] of [[0, "one-answer run / bare agent", 3], [
          10,
          "ten-step job / bare agent",
          2.5,
        ]] as const
      ) {
        const run = async (program: string) =>
          must(await measure(turn(model.conversation(steps).url, program), { env })).wall;
        const [source, ours, base] = await compare([
          () => run(main),
          () => run(built),
          async () => must(await measure(bare(model.conversation(steps).url), { env, cwd: work })).wall,
        ], times);
        report({
          what: `${what}, from source`,
          ours: ms(source!),
          base: ms(base!),
          ratio: source! / base!,
          budget,
        });
        report({ what: `${what}, build`, ours: ms(ours!), base: ms(base!), ratio: ours! / base!, budget });
      }
    }),
  steps: () =>
    withModel(async (model) => {
      const ours = model.conversation(100), base = model.conversation(100);
      const result = must(await measure([...turn(ours.url), "--max-rounds", "200"], { env, memory: true }));
      must(await measure(bare(base.url), { env, cwd: work }));
      const [own, floor] = [median(ours.log.gaps.slice(10)), median(base.log.gaps.slice(10))];
      report({
        what: "harness time per tool step, warm / bare agent",
        ours: ms(own),
        base: ms(floor),
        ratio: own / floor,
        budget: 2,
      });
      report({
        what: "peak memory of the largest process, 100 steps",
        ours: `${result.peakMb.toFixed(0)} MB`,
        base: "",
        ratio: result.peakMb,
        budget: 90,
        unit: " MB",
      });
      report({
        what: "first request: system prompt and schemas",
        ours: `${ours.log.firstRequestBytes} B`,
        base: "",
        ratio: ours.log.firstRequestBytes / 1024,
        budget: 12,
        unit: " KB",
      });
      const long = model.conversation(1010);
      must(await measure([...turn(long.url), "--max-rounds", "2000"], { env }));
      const early = median(long.log.gaps.slice(5, 25)), late = median(long.log.gaps.slice(-20));
      report({
        what: "step 1,000 / step 10",
        ours: ms(late),
        base: ms(early),
        ratio: late / early,
        budget: 1.2,
      });
    }),
  async search() {
    const tree = join(home, "tree");
    makeTree(tree, { files: 20_000, bytes: 100_000_000 });
    const rg = await has("rg");
    const tool = (name: string, args: unknown) => () =>
      measure(polyglav("tool", name, JSON.stringify(args), "--path", tree), { env });
    for (
      const [what, ours, base, budget] of [
        ["grep over 20,000 files, 100 MB / rg", tool("grep", { pattern: "needle_[0-9]+" }), [
          "rg",
          "-n",
          "needle_[0-9]+",
          tree,
        ], 3.5],
        ["glob over 20,000 files / rg --files", tool("glob", { pattern: "**/*.ts" }), [
          "rg",
          "--files",
          "-g",
          "**/*.ts",
          tree,
        ], 6],
      ] as const
    ) {
      const start = async () =>
        must(await measure(polyglav("tool", "list_dir", '{"path": "."}', "--path", home), { env })).wall;
      const [own, floor, startup] = await compare([
        async () => must(await ours()).wall,
        async () => rg ? must(await measure(base, { env })).wall : NaN,
        start,
      ], Math.min(times, 7));
      report({
        what,
        ours: ms(own! - startup!),
        base: `${ms(floor!)} + ${ms(startup!)}`,
        ratio: (own! - startup!) / floor!,
        budget,
      });
    }
    console.log(
      "  (ours without the start of the program and its worker, which a list_dir of two entries takes)",
    );
  },
  async web() {
    const { stdout } = must(await measure([deno, "run", "-A", join(here, "web.ts")], { env }));
    const { convert, ours, bare } = JSON.parse(stdout);
    report({
      what: "1 MB of HTML to Markdown",
      ours: ms(convert),
      base: "",
      ratio: convert,
      budget: 300,
      unit: " ms",
    });
    report({
      what: "web_fetch of a small page, warm, beyond a bare fetch",
      ours: ms(ours),
      base: ms(bare),
      ratio: ours - bare,
      budget: 10,
      unit: " ms",
    });
  },
  async first_char() {
    const { first, bare } = await terminalFigures();
    report({
      what: "prompt to first character, beyond the raw stream",
      ours: ms(first),
      base: ms(bare),
      ratio: first - bare,
      budget: 10,
      unit: " ms",
    });
  },
  async typing() {
    const { key, calm, usual, usualCalm } = await terminalFigures();
    for (
      const [what, ours, base] of [
        ["a key while 1 MB streams in / while nothing does", usual, usualCalm],
        ["the same, slowest of 20", key, calm],
      ] as const
    ) report({ what, ours: ms(ours), base: ms(base), ratio: ours, budget: 16, unit: " ms" });
  },
  async exec() {
    const { measureExec, measureGrowth } = await import("./_exec.ts");
    for (
      const [what, confine, allowlist, budget] of [
        ["run_command over a bare start of the shell", "off", false, 5],
        ["the same under an allowlist", "off", true, 15],
        ["the same, confined", "require", false, 25],
      ] as const
    ) {
      const figures = await measureExec(work, { confine, allowlist, count: 10 * times });
      report({
        what,
        ours: figures ? ms(figures.ours) : "not here",
        base: figures ? ms(figures.bare) : "",
        ratio: figures ? figures.ours - figures.bare : NaN,
        budget,
        unit: " ms",
      });
    }
    const growth = await measureGrowth(work, 1000);
    const { before, after } = growth.handles;
    report({
      what: "1,000 commands: memory that they add, warm",
      ours: `${growth.memory.toFixed(1)} MB`,
      base: "",
      ratio: growth.memory,
      budget: 16,
      unit: " MB",
    });
    report({
      what: "1,000 commands: open handles that they add",
      ours: String(after),
      base: String(before),
      ratio: after - before,
      budget: 0,
      unit: "",
    });
  },
  resume: () =>
    withModel(async (model) => {
      const { makeLongSession } = await import("./_session.ts");
      await makeLongSession(
        { worktree: work, stateDir: join(home, ".local/state/polyglav"), name: "long" },
        5000,
      );
      let fresh = 0;
      const run = async (name: string) =>
        must(await measure([...turn(model.conversation(0).url), "--session-id", name], { env })).wall;
      const [ours, base] = await compare([() => run("long"), () => run(`new-${fresh++}`)], times);
      report({
        what: "a turn in a session of 5,000 records, beyond a new one",
        ours: ms(ours!),
        base: ms(base!),
        ratio: ours! - base!,
        budget: 300,
        unit: " ms",
      });
    }),
  async session() {
    const { measureAppends } = await import("./_session.ts");
    const { writeLongSession } = await import("./_resume.ts");
    await writeLongSession(join(home, "resume"), 5000);
    const [time] = await compare([() => resumed(join(home, "resume"))], times);
    report({
      what: "resuming a session of 5,000 records",
      ours: ms(time!),
      base: "",
      ratio: time!,
      budget: 300,
      unit: " ms",
    });
    const { early, late } = await measureAppends(join(home, "log"));
    report({
      what: "session append at record 100,000 / record 10",
      ours: `${late.toFixed(1)} us`,
      base: `${early.toFixed(1)} us`,
      ratio: late / early,
      budget: 1.2,
    });
  },
};

let terminal: Promise<TerminalFigures> | null = null;

/** Measured once for both sections. */
function terminalFigures(): Promise<TerminalFigures> {
  return terminal ??= measure([deno, "run", "-A", join(here, "terminal.ts")], { env })
    .then((result) => JSON.parse(must(result).stdout));
}

async function resumed(folder: string): Promise<number> {
  const { stdout } = must(await measure([deno, "run", "-A", join(here, "_resume.ts"), folder], { env }));
  return JSON.parse(stdout).time;
}

async function withModel(run: (model: ScriptedModel) => Promise<void>): Promise<void> {
  await using model = startScriptedModel();
  await run(model);
}

/** The program as `deno task build` makes it; its main module. */
async function makeBuild(): Promise<string> {
  const { build } = await import("../build.ts");
  await build(dirname(main), join(home, "built"));
  return join(home, "built/main.js");
}

async function has(program: string): Promise<boolean> {
  try {
    return (await measure([program, "--version"])).code === 0;
  } catch {
    return false;
  }
}

console.log(
  `${"what".padEnd(52)} ${"polyglav".padStart(12)} ${"compared with".padStart(20)} ${
    "ratio".padStart(10)
  }  budget   (medians of ${times})`,
);
const unknown = words.find((word) => !Object.hasOwn(sections, word));
if (unknown !== undefined) {
  console.error(
    `bench: there is no section "${unknown}"; the sections are ${Object.keys(sections).join(", ")}`,
  );
  Deno.exit(2);
}
try {
  for (const [name, section] of Object.entries(sections)) {
    if (words.length === 0 || words.includes(name)) await section();
  }
} finally {
  Deno.removeSync(home, { recursive: true });
}
const missed = figures.filter((f) => f.ratio > f.budget);
console.log(
  missed.length === 0
    ? "every budget that was measured is met"
    : `missed: ${missed.map((f) => f.what).join("; ")}`,
);
