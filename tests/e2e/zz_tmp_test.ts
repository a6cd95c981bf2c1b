import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { makeWorktree } from "../helpers/worktree.ts";
Deno.test("x", async () => {
  using tree = makeWorktree({ files: { "a.txt": "a\n" } });
  tree.write("home/.config/polyglav/config.json", JSON.stringify({ stream_retry_delay: 5 }));
  await using server = startModel([{ content: "hi" }, { status: 500, error: "busy" }, { status: 401, error: "nope" }, {content:"ok"}]);
  await using hang = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => new Promise(() => {}));
  await using repl = await openRepl(tree, server, { args: ["--session-id", "cur"], rows: 50 });
  await repl.say("hello");
  await repl.line("retry");
  await repl.waitFor(/trying again/);
  await repl.key("C-c");
  await repl.waitFor(/\(cancelled\)/);
  await repl.ready();
  await repl.say("unauthorized");
  for (const l of ["/sessions delete cur --yes", "/sessions delete cur", "/session", "still there?", "/history 1", "/roles new", "/roles new x", "/asks don't", "/asks 99", "/asks 99 yes", "/todo", "/todo add", "/tool", "/tool file_read", "/tool file_read {}", "/tool file_read nothere", "/context", "/plugins show nope", "/plugins enable nope", "/trust --list", "/policy nope", "/policy explain file_read {\"path\":\"a.txt\"}", "/diff x", "/undo x", "/export /nope/x.md", "/export .polyglav/sessions/x.md", "/skills show nope", "/teams nope", "/model", "/model no such model", "/provider", "/focus x", "/session bad/name", "/session new", "/print", "/HELP version", "/h", "/q?", "/ex", "/models zzz", "!", "@", "//", "/", "/config get nope", "/config model", "/unattended", "/compact"]) {
    await repl.say(l);
  }
  await repl.line(`/provider openai-compatible http://127.0.0.1:${hang.addr.port}/v1`);
  await new Promise((r) => setTimeout(r, 700));
  await repl.key("C-c");
  await new Promise((r) => setTimeout(r, 700));
  Deno.writeTextFileSync("/tmp/zz.txt", await repl.scrollback());
});
