/**
 * Teams: stages in order, each with the results of those before, and a review loop.
 *
 * @module
 */
import { loopStages } from "../catalog/catalog.ts";
import type { Stage, Team } from "../catalog/types.ts";
import { ToolError } from "../errors.ts";
import type { HostCallOptions } from "../tool.ts";
import { failureOf, type PortMaker, runSub, type SubResult } from "./delegation.ts";
import type { Head, Shared } from "./heads.ts";
import { stageBrief, type StageResult } from "./prompts.ts";
import { passes } from "./verdicts.ts";

/** What a team is to do. */
export interface TeamTask {
  readonly name: string;
  readonly task: string;
  readonly skills?: readonly string[];
  readonly resume?: string;
  readonly context?: "continue" | "compact" | "new";
}

const ITERATIONS = 3;
const VERDICT = "VERDICT:";

/** The `team` operation. @throws {ToolError} where a team cannot run or a stage failed */
export async function runTeam(
  shared: Shared,
  head: Head,
  task: TeamTask,
  options: HostCallOptions,
  port: PortMaker,
): Promise<string> {
  const team = shared.catalog.find("team", task.name);
  if (!team) throw new ToolError(shared.catalog.unknown("team", task.name), "not_found");
  check(shared, head, team);
  if (task.task.trim() === "") throw new ToolError("the task is empty", "invalid_arguments");
  return await new TeamRun(shared, head, team, task, options, port).run();
}

/** Everything that can be known before the first stage costs anything. */
function check(shared: Shared, head: Head, team: Team): void {
  const fail = (why: string): never => {
    throw new ToolError(`team "${team.name}" failed: ${why}`);
  };
  if (team.stages.length === 0) throw new ToolError(`team "${team.name}" has no stages`);
  if (head.teams.includes(team.name)) {
    fail(`Team cycle detected: ${[...head.teams, team.name].join(" -> ")}`);
  }
  const { max_team_depth, modes } = head.parts.settings;
  if (max_team_depth > 0 && head.teams.length >= max_team_depth) {
    fail(`Team nesting limit reached (${max_team_depth}): ${team.name}`);
  }
  for (const [index, { role, mode }] of team.stages.entries()) {
    if (!shared.catalog.find("role", role)) {
      fail(`Unknown role: ${role} (stage ${index + 1}); ${shared.catalog.unknown("role", role)}`);
    }
    if (mode !== undefined && !Object.hasOwn(modes, mode)) {
      fail(`stage ${index + 1} wants the mode "${mode}", and there are ${Object.keys(modes).join(", ")}`);
    }
  }
  const loop = loopStages(team);
  if (typeof loop === "string") fail(loop);
}

class TeamRun {
  readonly #results: StageResult[] = [];
  readonly #reduced = new Set<string>();
  #ran = 0;
  #note = "";

  constructor(
    readonly shared: Shared,
    readonly head: Head,
    readonly team: Team,
    readonly task: TeamTask,
    readonly options: HostCallOptions,
    readonly port: PortMaker,
  ) {}

  async run(): Promise<string> {
    const { team } = this, loop = loopStages(team) as readonly [number, number] | null;
    const [from, until] = loop ?? [Infinity, -1];
    for (let index = 0; index < team.stages.length; index++) {
      if (index === from) {
        await this.#review(from, until);
        index = until;
      } else await this.#stage(index, {});
    }
    const last = this.#results.find(({ number }) => number === team.stages.length)?.content;
    const text = last?.trim() ? last : `(no final text; ${this.#ran} stage(s) ran)`;
    const reduced = this.#reduced.size > 0
      ? ` (reduced permissions for: ${[...this.#reduced].join(", ")})`
      : "";
    return `[team ${team.name}] ${text}${this.#note}${reduced}`;
  }

  /** Stages `from` to `until` until the last of them passes the work. */
  async #review(from: number, until: number): Promise<void> {
    const { max_iterations = ITERATIONS, verdict = VERDICT } = this.team.loop!;
    let findings: string | null = null, before: StageResult[] = [];
    for (let iteration = 1; iteration <= max_iterations; iteration++) {
      const round: StageResult[] = [];
      for (let index = from; index <= until; index++) {
        round.push(
          await this.#stage(index, {
            iteration,
            // The first stage of a later round goes on from what the round before made.
            results: index === from ? before.slice(0, -1) : [...round],
            findings: index === from ? findings : null,
            verdict: index === until ? verdict : null,
          }),
        );
      }
      const said = round.at(-1)!.content;
      if (passes(said, verdict)) return;
      findings = said ?? "(the reviewer said nothing)";
      before = round;
    }
    this.#note = ` (review loop: not passed after ${max_iterations} iteration${
      max_iterations === 1 ? "" : "s"
    })`;
  }

  async #stage(
    index: number,
    loop: { iteration?: number } & Partial<NonNullable<Parameters<typeof stageBrief>[0]["loop"]>>,
  ): Promise<StageResult> {
    const { team, task } = this, stage = team.stages[index]!, number = index + 1;
    const inLoop = loop.iteration !== undefined;
    const from = inLoop ? loopStages(team) as readonly [number, number] : null;
    const brief = stageBrief({
      team,
      task: task.task,
      stage,
      results: this.#results.filter((result) => result.number <= (from ? from[0] : index)),
      number,
      before: index === 0 ? null : team.stages[index - 1]!,
      ...(inLoop
        ? {
          loop: {
            iteration: loop.iteration!,
            results: loop.results ?? [],
            findings: loop.findings ?? null,
            verdict: loop.verdict ?? null,
          },
        }
        : {}),
    });
    this.options.progress?.(`stage ${number} of ${team.stages.length}: ${stage.role}`);
    const sub = await this.#runStage(stage, brief, number);
    this.#ran++;
    if (sub.reduced.length > 0) this.#reduced.add(stage.role);
    if (sub.result.status !== "ok" && sub.result.status !== "truncated") {
      throw new ToolError(
        `team "${team.name}" failed: stage ${number} (${stage.role}, session ${sub.session}): ${
          failureOf(sub.result)
        }; to go on there, delegate to ${stage.role} with resume "${sub.session}"`,
      );
    }
    const result: StageResult = { number, session: sub.session, content: sub.result.content };
    const at = this.#results.findIndex((each) => each.number === number);
    if (at >= 0) this.#results[at] = result;
    else this.#results.push(result);
    return result;
  }

  async #runStage(stage: Stage, brief: string, number: number): Promise<SubResult> {
    const { team, task, head, shared } = this, first = this.#ran === 0;
    try {
      return await runSub(
        shared,
        head,
        {
          role: stage.role,
          task: brief,
          mode: stage.mode,
          skills: [...stage.skills ?? [], ...task.skills ?? []],
          teams: [...head.teams, team.name],
          ...(first ? { resume: task.resume, context: task.context } : {}),
        },
        this.options,
        this.port,
      );
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      throw new ToolError(
        `team "${team.name}" failed: stage ${number} (${stage.role}): ${error.message}`,
        error.kind,
      );
    }
  }
}
