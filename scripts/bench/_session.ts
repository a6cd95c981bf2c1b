/**
 * What an append to a session's log costs, early and late.
 *
 * @module
 */
import { openSession } from "../../src/session/store.ts";
import { join } from "../../src/text/path.ts";
import { median } from "./_process.ts";

/** Median microseconds of one append at about record 10 (of a log that is warm) and at record 100,000. */
export async function measureAppends(
  folder: string,
): Promise<{ readonly early: number; readonly late: number }> {
  const worktree = join(folder, "work");
  Deno.mkdirSync(worktree, { recursive: true });
  const open = (name: string) =>
    openSession({ worktree, stateDir: join(folder, "state"), name, noiseTools: [], maxToolChars: 0 });
  const append = (session: Awaited<ReturnType<typeof open>>, times: number) => {
    const seen: number[] = [];
    for (let i = 0; i < times; i++) {
      const started = performance.now();
      session.text("text", "a line of an answer, as long as most are", 1);
      seen.push((performance.now() - started) * 1000);
    }
    return seen;
  };
  const about = { model: "m", provider: "p", mode: "build", reasoning: "auto", prompt: "go" };
  const long = await open("long");
  long.startTurn(about);
  append(long, 100_000);
  const late = median(append(long, 200));
  long.close();
  // Fresh logs, so that each append is among the first ten records while the code is as warm as above.
  const early: number[] = [];
  for (let i = 0; i < 20; i++) {
    const short = await open(`short-${i}`);
    short.startTurn(about);
    early.push(...append(short, 10));
    short.close();
  }
  return { early: median(early), late };
}
