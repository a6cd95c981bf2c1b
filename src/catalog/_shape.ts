/**
 * Whether what stands in a file, or was given to be saved, is a role or a team.
 *
 * @module
 */
import { nearest } from "../text/nearest.ts";
import { isName } from "./names.ts";
import type { RoleFields, Stage, TeamFields } from "./types.ts";

type Check = (value: unknown) => string | null;
type Members = Readonly<Record<string, unknown>>;

const ACTIONS = ["allow", "ask", "deny"];
const MOST_TEXT = 65_536;

const text: Check = (value) =>
  typeof value !== "string"
    ? `must be a text, not ${show(value)}`
    : value.length > MOST_TEXT
    ? `has ${value.length} characters, more than ${MOST_TEXT}`
    : null;
const texts: Check = (value) =>
  !Array.isArray(value) || value.some((item) => typeof item !== "string")
    ? `must be a list of texts, not ${show(value)}`
    : null;
const names: Check = (value) =>
  texts(value) ??
    (value as string[]).map((name) => isName(name) ? null : `holds ${show(name)}, which cannot be a name`)
      .find((problem) => problem !== null) ??
    null;
const oneOf = (...allowed: readonly string[]): Check => (value) =>
  allowed.includes(value as string) ? null : `is ${show(value)}; it must be ${allowed.join(", ")}`;

const actions = (lists: boolean): Check => (value) => {
  if (!isObject(value)) return `must be an object such as {"edit": "deny"}, not ${show(value)}`;
  for (const [key, action] of Object.entries(value)) {
    if (lists && (key === "bash_allow" || key === "bash_auto")) {
      const wrong = texts(action);
      if (wrong) return `${key} ${wrong}`;
    } else if (!ACTIONS.includes(action as string)) {
      return `${key} is ${show(action)}; it must be allow, ask or deny`;
    }
  }
  return null;
};
const askPolicy: Check = (value) =>
  fields(value, {
    permission: oneOf("auto", "human", "deny"),
    direction: oneOf("auto", "human", "lead"),
  });
const rules: Check = (value) => {
  if (!Array.isArray(value)) return `must be a list of rules, not ${show(value)}`;
  for (const rule of value) {
    const wrong = fields(rule, { path: text, access: oneOf("read", "write"), action: oneOf(...ACTIONS) }, [
      "path",
      "access",
      "action",
    ]);
    if (wrong) return `holds a rule that cannot be understood: ${wrong}`;
  }
  return null;
};

const ROLE: Readonly<Record<keyof RoleFields, Check>> = {
  description: text,
  system_prompt: text,
  model: (value) => text(value) ?? (value === "" ? "is empty" : null),
  tags: texts,
  skills: names,
  tool_permission: actions(true),
  grant_permission: actions(false),
  ask_policy: askPolicy,
  path_rules: rules,
};

const STAGE: Readonly<Record<keyof Stage, Check>> = {
  role: (value) => isName(value) ? null : `is ${show(value)}, which cannot be the name of a role`,
  mode: text,
  task_hint: text,
  handoff_note: text,
  skills: names,
};

const place: Check = (value) =>
  isName(value) || (Number.isInteger(value) && (value as number) >= 0)
    ? null
    : `is ${show(value)}; it must be a stage's role or its index from 0`;

const TEAM: Readonly<Record<keyof TeamFields, Check>> = {
  description: text,
  tags: texts,
  stages: (value) => {
    if (!Array.isArray(value)) return `must be a list of stages, not ${show(value)}`;
    if (value.length > 50) return `has ${value.length} stages, more than 50`;
    for (const [index, stage] of value.entries()) {
      const wrong = typeof stage === "string" ? STAGE.role(stage) : fields(stage, STAGE, ["role"]);
      if (wrong) return `${index + 1} ${wrong}`;
    }
    return null;
  },
  loop: (value) =>
    fields(value, {
      from: place,
      until: place,
      max_iterations: (n) =>
        Number.isInteger(n) && (n as number) >= 1 && (n as number) <= 20
          ? null
          : `is ${show(n)}; it must be a number from 1 to 20`,
      verdict: (value) => text(value) ?? (String(value).trim() === "" ? "is empty" : null),
    }, ["from", "until"]),
};

/** What is wrong with the fields of a role, as the rest of a sentence; null: nothing. */
export function roleProblem(value: unknown): string | null {
  return fields(value, ROLE);
}

/** What is wrong with the fields of a team, as the rest of a sentence; null: nothing. */
export function teamProblem(value: unknown): string | null {
  return fields(value, TEAM) ?? loopProblem(teamOf(value as Members));
}

/** A team's fields, its stages in their long form. */
export function teamOf(value: Members): TeamFields {
  const { stages } = value as { stages?: readonly (string | Stage)[] };
  return {
    ...value as TeamFields,
    ...(stages ? { stages: stages.map((stage) => typeof stage === "string" ? { role: stage } : stage) } : {}),
  };
}

/** The stages of a loop, as indexes from 0; a text says why there are none. */
export function loopStages({ stages = [], loop }: TeamFields): readonly [number, number] | string | null {
  if (!loop) return null;
  const find = (place: string | number, name: string) => {
    if (typeof place === "number") {
      return place < stages.length
        ? place
        : `loop.${name} is ${place}, and the ${stages.length} stages are counted from 0`;
    }
    const at = stages.flatMap(({ role }, index) => role === place ? [index] : []);
    if (at.length === 1) return at[0]!;
    return at.length === 0
      ? `loop.${name} is ${show(place)}, which no stage has as its role`
      : `loop.${name} is ${
        show(place)
      }, which several stages have as their role; give the stage's index, from 0`;
  };
  const from = find(loop.from, "from"), until = find(loop.until, "until");
  if (typeof from === "string") return from;
  if (typeof until === "string") return until;
  return from <= until ? [from, until] : "loop.from comes after loop.until";
}

function loopProblem(team: TeamFields): string | null {
  const found = team.stages === undefined ? null : loopStages(team);
  return typeof found === "string" ? found : null;
}

function fields(
  value: unknown,
  checks: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): string | null {
  if (!isObject(value)) return `must be an object, not ${show(value)}`;
  for (const [key, item] of Object.entries(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key]! : null;
    if (check === null) {
      const meant = nearest(key, Object.keys(checks));
      return `has ${show(key)}, which is no field of it` + (meant ? ` (did you mean ${meant}?)` : "");
    }
    const wrong = check(item);
    if (wrong) return `${key} ${wrong}`;
  }
  const missing = required.find((key) => !Object.hasOwn(value, key));
  return missing === undefined ? null : `lacks ${missing}`;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value);
  return written.length > 60 ? `${written.slice(0, 57)}...` : written;
}
