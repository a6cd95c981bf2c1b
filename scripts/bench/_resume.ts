/**
 * What it takes to go on with a long session. As a program (usage: _resume.ts FOLDER) it opens the session that
 * {@link writeLongSession} made, rebuilds its conversation, and prints the milliseconds.
 *
 * @module
 */
import { rebuild } from "../../src/engine/context.ts";
import { openSession } from "../../src/session/store.ts";
import { join } from "../../src/text/path.ts";

/** Opens the session of a bench folder for writing. */
function open(folder: string): ReturnType<typeof openSession> {
  return openSession({
    worktree: join(folder, "work"),
    stateDir: join(folder, "state"),
    name: "long",
    noiseTools: [],
    maxToolChars: 0,
  });
}

/** Writes a session of so many records: turns of ten calls each with its result, and an answer. */
export async function writeLongSession(folder: string, records: number): Promise<void> {
  Deno.mkdirSync(join(folder, "work"), { recursive: true });
  const session = await open(folder);
  let written = 0;
  const about = { model: "m", provider: "p", mode: "build", reasoning: "auto" };
  while (written < records) {
    session.startTurn({ ...about, prompt: `go on with part ${written}` });
    for (let i = 0; i < 10; i++) {
      const id = `call_${written}_${i}`;
      session.toolStart({ id, tool: "file_read", input: { path: `src/part_${i}.ts` }, round: i });
      session.toolEnd({ id, output: "a line of a file that was read\n".repeat(20), is_error: false });
    }
    session.text("text", "an answer, as long as most are, about what was read", 11);
    session.endTurn("ok", null);
    written += 23;
  }
  session.close();
}

if (import.meta.main) {
  const started = performance.now();
  const session = await open(Deno.args[0]!);
  const { messages } = rebuild(session.object());
  const time = performance.now() - started;
  session.close();
  console.log(JSON.stringify({ time, messages: messages.length }));
}
