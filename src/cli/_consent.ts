/**
 * The rules that a person makes while answering a question, over the live policy and the user's own configuration.
 *
 * @module
 */
import { setKey, userConfigFile } from "../config/edit.ts";
import { entryOf, keysOf } from "../config/keys.ts";
import type { LoadedConfig } from "../config/load.ts";
import { globalConfigFile, type UserPaths } from "../config/paths.ts";
import type { ConsentCall, ModeSpec, Settings } from "../config/settings.ts";
import { PolyglavError } from "../errors.ts";
import { argumentsText, outsidePaths } from "../policy/consent.ts";
import { explain } from "../policy/explain.ts";
import type { LivePolicy } from "../policy/live.ts";
import { offeredPrefixes } from "../policy/prefixes.ts";
import { checkCommand } from "../policy/shell_command.ts";
import { type PolicyInput, ToolPolicy } from "../policy/tool_policy.ts";
import type { Json } from "../tool.ts";
import type { ConsentChoice, ConsentRules } from "../ui/consent.ts";
import type { ConfirmRequest } from "../ui/sink.ts";

/** Most characters of the arguments of a call that is remembered. */
const LARGEST_CALL = 2000;

/** What the rules are made over; a `Host` is one. */
export interface ConsentPlace {
  readonly policy: LivePolicy;
  /** Canonical. */
  readonly worktree: string;
  readonly paths: UserPaths;
  readonly loaded: Pick<LoadedConfig, "origin">;
}

/** Something that is added to a list of the configuration. */
interface Rule {
  readonly covers: ConsentChoice["covers"];
  readonly what: string;
  /** The list's dotted key. */
  readonly key: string;
  readonly add: readonly Json[];
}

/** Makes the rules. They are about the calls of the agent that the person talks to: sub-agents have policies of their own. */
export function createConsentRules(place: ConsentPlace): ConsentRules {
  const offered = new WeakMap<ConsentChoice, Rule>();
  const choices = (request: ConfirmRequest): readonly ConsentChoice[] =>
    rulesFor(request, place.policy.input).flatMap((rule) =>
      (["session", "project"] as const).filter((lasts) => lasts === "session" || lastsHere(rule.key, place))
        .map((lasts): ConsentChoice => {
          const choice: ConsentChoice = {
            covers: rule.covers,
            lasts,
            label: `${rule.what}, ${lasts === "session" ? "this session" : "in this project from now on"}`,
            rule: `${rule.key} += ${rule.add.map((value) => JSON.stringify(value)).join(", ")}`,
          };
          offered.set(choice, rule);
          return choice;
        })
    );
  return {
    choices,
    async remember(request, choice) {
      const rule = offered.get(choice) ?? offered.get(
        choices(request).find(({ covers, lasts, rule }) =>
          covers === choice.covers && lasts === choice.lasts && rule === choice.rule
        ) ?? choice,
      );
      if (!rule) throw new PolyglavError("this call can no longer be remembered in that way");
      if (choice.lasts === "project") save(rule, place);
      await place.policy.change((settings) => withRule(settings, rule));
    },
    explain: ({ decision, tool }) => explain(decision, tool).split("\n"),
  };
}

/** The rules that would let the call run, narrowest first. Each is tried on a policy of its own before it is offered. */
function rulesFor({ tool, args, decision, asker }: ConfirmRequest, input: PolicyInput): Rule[] {
  const { lifts } = decision;
  if (asker !== undefined || decision.action !== "ask" || !lifts) return [];
  const rules: Rule[] = [];
  if (lifts.exact && argumentsText(args).length <= LARGEST_CALL) {
    const paths = outsidePaths(decision.paths);
    const call: ConsentCall = { tool: tool.name, arguments: args, ...(paths.length > 0 ? { paths } : {}) };
    const add = [JSON.parse(JSON.stringify(call)) as Json];
    rules.push({ covers: "exact", what: "exactly this call", key: "consent.calls", add });
  }
  if (lifts.tool) {
    const prefixes = prefixRule(tool.commandArg === undefined ? null : args[tool.commandArg], input);
    if (prefixes) rules.push(prefixes);
    rules.push({
      covers: "tool",
      what: `every call of ${tool.name}`,
      key: "consent.tools",
      add: [tool.name],
    });
  }
  return rules.filter((rule) => {
    const settings = withRule(input.settings, rule);
    try {
      const tried = new ToolPolicy({ ...input, settings, checkCommand: input.checkCommand ?? checkCommand });
      return tried.resolve(tool, { ...args }).action === "allow";
    } catch {
      return false;
    }
  });
}

function prefixRule(command: unknown, input: PolicyInput): Rule | null {
  if (typeof command !== "string") return null;
  const key = autoKey(input.settings, input.mode), { worktree, env, shell, home } = input;
  const add = offeredPrefixes(command, [...listAt(input.settings, key) as string[]], {
    worktree,
    cwd: worktree,
    env,
    shell,
    home,
  });
  if (!add) return null;
  const what = `commands that begin with ${add.map((prefix) => JSON.stringify(prefix)).join(" and ")}`;
  return { covers: "prefix", what, key, add };
}

/** Where `bash_auto` stands that is in force in a mode. */
function autoKey({ modes }: Settings, mode: string): string {
  const own = modes[mode]?.tool_permission?.bash_auto ?? [];
  return own.length > 0 ? `modes.${mode}.tool_permission.bash_auto` : "tool_permission.bash_auto";
}

/** Whether what the user's own file says counts: nothing that comes after it replaces the list. */
function lastsHere(key: string, { loaded }: ConsentPlace): boolean {
  const origin = loaded.origin(key);
  return origin !== "project" && origin !== "flag";
}

function listAt(settings: Settings, key: string): readonly Json[] {
  let at: unknown = settings;
  for (const part of key.split(".")) at = (at as Record<string, unknown> | undefined)?.[part];
  return (at ?? []) as readonly Json[];
}

/** The settings with the rule in them; the lists that it is not about stay the same objects. */
function withRule(settings: Settings, { key, add }: Rule): Settings {
  const list = joined(listAt(settings, key), add);
  if (key === "consent.calls") {
    return {
      ...settings,
      consent: { ...settings.consent, calls: list as unknown as readonly ConsentCall[] },
    };
  }
  if (key === "consent.tools") {
    return { ...settings, consent: { ...settings.consent, tools: list as readonly string[] } };
  }
  const bash_auto = list as readonly string[];
  if (key === "tool_permission.bash_auto") {
    return { ...settings, tool_permission: bare(settings.tool_permission, { bash_auto }) };
  }
  const mode = key.split(".")[1]!, spec: ModeSpec = settings.modes[mode] ?? {};
  const changed = { ...spec, tool_permission: bare(spec.tool_permission ?? {}, { bash_auto }) };
  return { ...settings, modes: bare(settings.modes, { [mode]: changed }) };
}

/** Both in one object without a prototype, as groups that take any name are. */
function bare<T extends object>(group: T, more: Partial<T>): T {
  return Object.assign(Object.create(null), group, more);
}

/** Saves the rule in the user's own file about this project, beside what the user's files say already. */
function save({ key, add }: Rule, { paths, worktree }: ConsentPlace): void {
  const file = userConfigFile(paths, worktree);
  const said = [file.path, globalConfigFile(paths)].map((path) =>
    keysOf(path).find(([name]) => name === key)?.[1]
  );
  const before = (said[0] ?? said[1] ?? []) as readonly Json[];
  setKey(file, key, entryOf(key), joined(before, add) as Json);
}

function joined(list: readonly Json[], add: readonly Json[]): Json[] {
  const known = new Set(list.map(argumentsText));
  return [...list, ...add.filter((value) => !known.has(argumentsText(value)))];
}
