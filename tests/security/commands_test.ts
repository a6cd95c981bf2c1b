import assert from "node:assert/strict";
import { loadConfig } from "../../src/config/load.ts";
import { userPaths } from "../../src/config/paths.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import { type CallResult, Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { tools } from "../../tools/mod.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { snapshot } from "./_layers.ts";

const ignore = Deno.build.os === "windows";
const LIST = ["ls", "echo", "cat", "git log"];
/** What a checker that fails altogether would believe to be listed. */
const EVERYTHING = [
  "touch",
  "rm",
  "sh -c",
  "env touch",
  "cp",
  "tee",
  "/usr/bin/touch",
  "./evil",
  "evil",
  "find . -exec",
  "mkfifo",
  "kill",
];

interface Layer {
  readonly name: string;
  /** Every decision is yes, and the checker lets everything through. */
  readonly blind: boolean;
  /** Workers have all permissions. */
  readonly inherit: boolean;
}

const LAYERS: readonly Layer[] = [
  { name: "policy that lets everything through, workers compiled", blind: true, inherit: false },
  { name: "policy real, workers with everything", blind: false, inherit: true },
];

function caller(tree: TestTree, layer: Layer, flags: Record<string, unknown> = {}) {
  const paths = userPaths((name) => name === "HOME" ? tree.home : undefined);
  const { settings } = loadConfig({
    worktree: tree.work,
    paths,
    trust: false,
    flags: { "tool_permission.bash": "allow", "tool_permission.bash_allow": LIST, ...flags },
  });
  const env = { PATH: `${tree.work}/bin:/usr/bin:/bin`, HOME: tree.home };
  const policyInput: PolicyInput = {
    settings,
    mode: settings.mode,
    worktree: tree.work,
    home: tree.home,
    configDir: paths.config,
    stateDir: paths.state,
    shell: "/bin/sh",
    env,
    checkCommand: (command, context) =>
      checkCommand(command, layer.blind ? { ...context, prefixes: [...LIST, ...EVERYTHING] } : context),
    open: layer.blind,
  };
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  const sandbox = new Sandbox({ worktree: tree.work, inherit: layer.inherit });
  const policy = new ToolPolicy(policyInput);
  const dispatcher = new Dispatcher({ registry, policy, policyInput, sandbox, childEnv: env });
  return {
    run: (command: string): Promise<CallResult> =>
      dispatcher.call("run_command", { command }, { confirm: () => Promise.resolve("nobody") }),
    [Symbol.dispose]: () => sandbox.close(),
  };
}

const ATTACKS: readonly string[] = [
  "touch pwned",
  "ls && touch pwned",
  "ls; rm keep.txt",
  "sh -c 'touch pwned'",
  "ls | tee pwned",
  "env touch pwned",
  "/usr/bin/touch pwned",
  "./evil",
  "evil",
  "find . -exec touch pwned ;",
  "cp keep.txt pwned",
  "mkfifo pwned",
  "echo x > ../outside/pwned",
  "echo x > link/pwned",
  "echo x > dangling",
  "echo x > .git/config",
  "echo x > .polyglav/config.json",
  "echo x > .env",
  "ls >> .env",
  "ls | tee .env",
  "cat < ../outside/secret.txt",
  "cd link && ls",
  "cd .. && ls",
  "ls & touch pwned",
  "false || touch pwned",
];

for (const layer of LAYERS) {
  Deno.test({
    name: `commands beyond the allowlist do nothing [${layer.name}]`,
    ignore,
    async fn() {
      using tree = makeWorktree({
        files: {
          "keep.txt": "K\n",
          "evil": "#!/bin/sh\ntouch pwned\n",
          "bin/evil": "#!/bin/sh\ntouch pwned\n",
          ".git/config": "",
          ".env": "S=1\n",
          ".polyglav/config.json": "{}",
        },
        outside: { "secret.txt": "SECRET-0f9d\n" },
        links: { link: "../outside", dangling: "../outside/pwned" },
      });
      Deno.chmodSync(`${tree.work}/evil`, 0o755);
      Deno.chmodSync(`${tree.work}/bin/evil`, 0o755);
      using calls = caller(tree, layer);
      const before = snapshot(tree.root);
      for (const command of ATTACKS) {
        const { content, isError, failed } = await calls.run(command);
        assert.ok(isError || failed, `was let through: ${command}: ${content}`);
        assert.ok(
          !content.includes("SECRET-0f9d") && !/secret\.txt$/m.test(content),
          `${command}: ${content}`,
        );
        assert.deepEqual(snapshot(tree.root), before, command);
      }
      // The layer is no wall: what is listed runs.
      assert.match((await calls.run("ls | cat")).content, /exit 0\n[^]*keep\.txt/);
    },
  });

  Deno.test({
    name: `with edit denied no redirection writes [${layer.name}]`,
    ignore,
    async fn() {
      using tree = makeWorktree({ files: { "keep.txt": "K\n" } });
      using calls = caller(tree, layer, { "tool_permission.edit": "deny" });
      for (const command of ["echo x > f", "echo x >> keep.txt", "ls > f", "cat keep.txt | cat > f"]) {
        const { isError, failed } = await calls.run(command);
        assert.ok(isError || failed, command);
        assert.equal(tree.read("work/f"), null, command);
        assert.equal(tree.read("work/keep.txt"), "K\n");
      }
    },
  });
}
