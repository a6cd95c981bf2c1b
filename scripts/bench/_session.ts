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

/** Writes a session of `records` records: turns in which a tool is called and the model answers. */
export async function makeLongSession(
  place: { readonly worktree: string; readonly stateDir: string; readonly name: string },
  records: number,
): Promise<void> {
  const session = await openSession({ ...place, noiseTools: [], maxToolChars: 0 });
  for (let at = 1; at < records; at += 5) {
    session.startTurn({
      model: "m",
      provider: "p",
      mode: "build",
      reasoning: "auto",
      prompt: `question ${at}`,
    });
    session.toolStart({ id: `c${at}`, tool: "file_read", input: { path: `src/file_${at}.ts` }, round: 1 });
    session.toolEnd({ id: `c${at}`, output: "1|a line of a file\n".repeat(40), is_error: false });
    session.text("text", "a paragraph of an answer, as long as most are. ".repeat(8), 2);
    session.endTurn("ok", null);
  }
  session.close();
}
