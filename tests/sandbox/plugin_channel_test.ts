import assert from "node:assert/strict";
import type { CeilingFlags } from "../../src/policy/compile.ts";
import type { PluginConnection, PluginEvents, PluginLink } from "../../src/sandbox/_plugin_protocol.ts";
import { ChannelLink, openPluginChannel, withChannel } from "../../src/sandbox/plugin_channel.ts";
import { makeWorktree } from "../helpers/worktree.ts";

/** A link whose hosts echo, and end when they hear "bye". */
function echoes(): PluginLink & { readonly log: string[] } {
  const log: string[] = [];
  return {
    log,
    start(plugin: string, events: PluginEvents): PluginConnection {
      log.push(`start ${plugin}`);
      return {
        send(line) {
          log.push(`line ${line}`);
          if (line === "bye") events.onEnd("it said bye");
          else void events.onLine(`${plugin}: ${line}`);
        },
        end: () => void log.push(`end ${plugin}`),
      };
    },
    close: () => void log.push("close"),
  };
}

const until = async (done: () => boolean) => {
  for (let i = 0; i < 400 && !done(); i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.ok(done());
};

const WAYS = Deno.build.os === "windows" ? [true] : [false, true];

for (const tcp of WAYS) {
  const way = tcp ? "a port" : "a Unix socket";

  Deno.test(`over ${way} the program starts hosts by name, and lines go both ways untouched`, async () => {
    using tree = makeWorktree();
    const link = echoes(), channel = openPluginChannel(link, tree.root, tcp);
    const program = new ChannelLink(channel.note);
    const heard: string[] = [];
    const events = (name: string): PluginEvents => ({
      onLine: (line) => void heard.push(`${name} ${line}`),
      onEnd: (reason) => void heard.push(`${name} ended: ${reason}`),
    });
    const one = program.start("alpha", events("1")), two = program.start("beta", events("2"));
    const odd = `{"hello": "not for the launcher"} \u2028 é "quotes" \\`;
    one.send(odd);
    two.send("x".repeat(300_000));
    two.send("bye");
    await until(() => heard.length === 3);
    assert.ok(heard.includes(`1 alpha: ${odd}`));
    assert.ok(heard.includes(`2 beta: ${"x".repeat(300_000)}`));
    assert.ok(heard.includes("2 ended: it said bye"));
    one.end();
    await until(() => link.log.includes("end alpha"));
    program.close();
    await until(() => link.log.includes("close"));
    channel.close();
  });

  Deno.test(`over ${way} nobody is served who does not know the secret, and nobody beside the program`, async () => {
    using tree = makeWorktree();
    const link = echoes(), channel = openPluginChannel(link, tree.root, tcp);
    const { address } = channel.note;
    const connect = () =>
      "path" in address
        ? Deno.connect({ transport: "unix", path: address.path }) as Promise<unknown> as Promise<Deno.Conn>
        : Deno.connect(address);
    const say = async (...lines: string[]) => {
      const connection = await connect();
      await connection.write(new TextEncoder().encode(lines.join("\n") + "\n")).catch(() => {});
      assert.equal(await connection.read(new Uint8Array(10)).catch(() => null), null, "it was hung up on");
      connection.close();
    };
    const start = JSON.stringify({ start: "alpha", run: 1 });
    await say(start);
    await say(JSON.stringify({ hello: "guess" }), start);
    await say(JSON.stringify({ hello: "" }), start);
    await say("nonsense");
    await say("x".repeat(100_000));
    assert.equal(link.log.length, 0);
    const waiting = await connect();
    const program = new ChannelLink(channel.note);
    await program.connect();
    program.start("alpha", { onLine: () => {}, onEnd: () => {} });
    await until(() => link.log.includes("start alpha"));
    assert.equal(
      await waiting.read(new Uint8Array(10)).catch(() => null),
      null,
      "who came before is hung up on",
    );
    await assert.rejects(async () => {
      const late = await connect();
      await late.write(new TextEncoder().encode(JSON.stringify({ hello: channel.note.secret }) + "\n"));
      if (await late.read(new Uint8Array(10)) === null) throw new Error("it was hung up on");
    });
    program.close();
    channel.close();
    assert.equal(JSON.stringify(link.log).split("start ").length, 2, "one host was started");
  });
}

Deno.test("hosts end with the program", async () => {
  using tree = makeWorktree();
  const link = echoes(), channel = openPluginChannel(link, tree.root);
  const program = new ChannelLink(channel.note);
  let ended = "";
  program.start("alpha", { onLine: () => {}, onEnd: (reason) => ended = reason });
  await until(() => link.log.includes("start alpha"));
  program.close();
  await until(() => link.log.includes("end alpha") && link.log.includes("close"));
  await until(() => ended !== "");
  assert.match(ended, /launcher has ended/);
  channel.close();
});

Deno.test("a launcher that is gone is told to every host's user", async () => {
  using tree = makeWorktree();
  const channel = openPluginChannel(echoes(), tree.root);
  channel.close();
  const program = new ChannelLink(channel.note);
  await program.connect();
  const reason = await new Promise<string>((resolve) =>
    program.start("alpha", { onLine: () => {}, onEnd: resolve })
  );
  assert.match(reason, /the launcher cannot be reached/);
});

Deno.test("the socket lies in the private folder", { ignore: Deno.build.os === "windows" }, () => {
  using tree = makeWorktree();
  const channel = openPluginChannel(echoes(), tree.root);
  assert.deepEqual(channel.note.address, { path: `${tree.root}/p` });
  assert.ok(Deno.statSync(`${tree.root}/p`).isSocket);
  channel.close();
});

const CEILING: CeilingFlags = {
  read: [],
  denyRead: [],
  write: [],
  denyWrite: [],
  net: ["example.com:443"],
  denyNet: [],
  run: [],
  env: [],
  sys: [],
};

Deno.test("the ceiling lets the program reach the channel and nothing else", () => {
  const unix = { address: { path: "/tmp/x/p" }, secret: "" };
  assert.deepEqual(withChannel(CEILING, unix).net, ["example.com:443", "unix:/tmp/x/p"]);
  assert.equal(withChannel({ ...CEILING, net: true }, unix).net, true);
  const tcp = { address: { hostname: "127.9.8.7", port: 4711 }, secret: "" };
  assert.deepEqual(withChannel(CEILING, tcp).net, ["example.com:443", "127.9.8.7:4711"]);
});

Deno.test("one address is cut out of denied ranges, and only that one", () => {
  const tcp = { address: { hostname: "127.9.8.7", port: 4711 }, secret: "" };
  const { denyNet } = withChannel(
    { ...CEILING, net: true, denyNet: ["10.0.0.0/8", "127.0.0.0/8", "[::1]"] },
    tcp,
  );
  assert.ok(denyNet.includes("10.0.0.0/8") && denyNet.includes("[::1]"));
  assert.ok(!denyNet.includes("127.0.0.0/8"));
  const number = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const denies = (address: string) =>
    denyNet.filter((range) => range.includes("/")).filter((range) => {
      const [base, bits] = range.split("/") as [string, string];
      return Math.floor(number(address) / 2 ** (32 - Number(bits))) ===
        Math.floor(number(base) / 2 ** (32 - Number(bits)));
    }).length;
  assert.equal(denies("127.9.8.7"), 0);
  for (const address of ["127.0.0.1", "127.9.8.6", "127.9.8.8", "127.255.255.255", "127.9.9.7", "10.1.1.1"]) {
    assert.equal(denies(address), 1, address);
  }
  assert.equal(denies("128.0.0.0"), 0);
});
