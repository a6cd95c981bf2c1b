/**
 * `polyglav policy`: what each tool may do here, the flags that the policy compiles to, and why a call is decided as it is.
 *
 * @module
 */
import { EXIT, ToolError } from "../errors.ts";
import { compileCall, standingPermissions } from "../policy/compile.ts";
import { explain, explanation } from "../policy/explain.ts";
import { cleanArguments, parseArguments } from "../registry/arguments.ts";
import { providerAddress, readKeys } from "../provider/detect.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import type { Command, Invocation } from "./_command.ts";
import { ceilingOf, type Host, ownServers, POLICY_OPTIONS, prepare } from "./_host.ts";

const FORMATS = ["text", "json", "flags"] as const;

/** The command. */
export const command: Command = {
  name: "policy",
  summary: "Shows what each tool may do here, and explains decisions.",
  details:
    "--output flags prints the Deno permission flags that a headless run in this project starts itself with, one\n" +
    "a line: paste them into a CI recipe, or bake them into a binary (scripts/compile.ts --policy).",
  options: {
    ...POLICY_OPTIONS,
    yes: { type: "boolean", short: "y", help: "with --output flags: what --yes may allow as well" },
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: FORMATS,
      help: "text (default), json, or Deno's flags",
    },
  },
  examples: [
    ["policy", "each tool's action and the rule behind it"],
    ["policy --mode plan", "the same in plan mode"],
    ["policy --output flags", "the permission flags of a headless run"],
    [
      `policy explain file_write '{"path": ".git/hooks/pre-commit", "content": ""}'`,
      "which rules were looked at, and which decided",
    ],
  ],
  subcommands: [{
    name: "explain",
    summary: "Explains the decision for one call, without running it.",
    usage: "NAME [JSON]",
    positionals: [1, 2],
    options: {
      ...POLICY_OPTIONS,
      output: {
        type: "string",
        short: "o",
        value: "FORMAT",
        choices: ["text", "json"],
        help: "text (default) or json",
      },
    },
    examples: [
      [`policy explain file_read '{"path": "../notes.txt"}'`, "a path outside the project asks"],
      [`policy explain run_command '{"command": "git status && rm -rf x"}'`, "the verdict of each segment"],
    ],
    run: runExplain,
  }],
  run: runPolicy,
};

async function runPolicy({ values, io }: Invocation): Promise<number> {
  const host = await prepare(values, io);
  const rows = host.registry.list().map((tool) => ({ tool, ...host.policy.allowed(tool) }));
  const flags = await ceiling(host, values.yes === true);
  if (values.output === "flags") {
    io.out(`${flags.join("\n")}\n`);
    return 0;
  }
  if (values.output === "json") {
    const tools = rows.map(({ tool, action, rule, reason }) => ({
      name: tool.name,
      action,
      rule,
      reason,
      permission: tool.permission,
      access: tool.access,
    }));
    io.out(
      `${
        JSON.stringify(
          { mode: host.policy.mode, worktree: host.worktree, trusted: host.loaded.trusted, tools, flags },
          null,
          2,
        )
      }\n`,
    );
    return 0;
  }
  const width = Math.max(...rows.map(({ tool }) => tool.name.length));
  io.out(`mode ${host.policy.mode}, worktree ${host.worktree}\n\n`);
  for (const { tool, action, reason } of rows) {
    io.out(`${tool.name.padEnd(width)}  ${action.padEnd(5)}  ${reason}\n`);
  }
  io.out(
    `\nA path outside the worktree asks; nobody answers in a headless run, so it is denied there unless --yes is given.\n`,
  );
  io.out(`A headless run starts itself under these permissions (--output flags prints them alone):\n`);
  for (const flag of flags) io.out(`  ${flag}\n`);
  return 0;
}

async function ceiling(host: Host, yes: boolean): Promise<string[]> {
  const { ceilingArguments } = await import("../sandbox/flags.ts");
  const address = providerAddress(host.settings, host.io.env, readKeys(host.paths.config));
  const own = await ownServers(host, address);
  const flags: CeilingFlags = ceilingOf(host, { yes, providerAddress: address, ownServers: own });
  return ceilingArguments(flags, [host.worktree]);
}

async function runExplain({ values, positionals, io }: Invocation): Promise<number> {
  const [name, json = "{}"] = positionals;
  const host = await prepare(values, io);
  await host.catalog.load();
  const found = host.registry.find(name!);
  if (!found) throw new ToolError(host.registry.unknown(name!), "not_found");
  const { tool, preset } = found;
  const args = cleanArguments(tool, { ...preset, ...parseArguments(json) });
  const decision = host.policy.resolve(tool, args);
  const permissions = decision.action === "deny" || tool.access.length === 0 || tool.plugin !== undefined
    ? null
    : compileCall(tool, decision, host.policyInput, decision.action === "ask").permissions;
  const programs = tool.access.includes("run") ? standingPermissions(tool, host.policyInput).run : [];
  if (values.output === "json") {
    io.out(`${JSON.stringify(explanation(decision, tool, permissions, programs), null, 2)}\n`);
  } else {
    io.out(`${explain(decision, tool, permissions, programs)}\n`);
  }
  return EXIT.ok;
}
