/**
 * What a call may touch: roots, consent and rules, from the guard's own copy of the scope.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import { dirname, isWithin, normalize } from "../text/path.ts";
import type { GuardScope } from "../policy/types.ts";
import { absolute, canonical, checkText, shown } from "./_canonical.ts";
import { RuleSet } from "./_match.ts";

/** Where the system shows itself as files; never opened, whatever the roots say. */
const SYSTEM: readonly string[] = Deno.build.os === "windows" ? [] : ["/proc", "/sys", "/dev"];

/** Rules by their text: those of one project are the same from call to call. */
const compiled = new Map<string, RuleSet>();

function ruleSet(rules: GuardScope["rules"], roots: readonly string[]): RuleSet {
  const key = JSON.stringify([rules, roots]);
  let set = compiled.get(key);
  if (!set) {
    if (compiled.size >= 16) compiled.clear();
    compiled.set(key, set = new RuleSet(rules, roots));
  }
  return set;
}

/** Answers for canonical paths, and makes paths canonical. */
export class ScopeCheck {
  readonly #scope: GuardScope;
  readonly #rules: readonly RuleSet[];

  /** @param scope its paths are canonical already */
  constructor(scope: GuardScope) {
    this.#scope = scope;
    const within = [scope.worktree, ...scope.roots.map((root) => root.path)];
    // Names below a place that was consented to count as names below a root do.
    const more = scope.consented.map((item) => item.path).filter((path) =>
      !within.some((root) => isWithin(path, root))
    );
    const roots = [...within, ...more];
    this.#rules = [scope.rules, ...scope.layers ?? []].map((rules) => ruleSet(rules, roots));
  }

  /**
   * The canonical path that a text leads to.
   *
   * @throws {ToolError} where it may not be accessed in this way
   */
  resolve(path: string, access: "list" | "read" | "write"): string {
    checkText(path);
    const spelled = absolute(path, this.#scope.worktree, this.#scope.home);
    refuseSystem(spelled, path);
    const real = canonical(spelled, path, (candidate) => this.#consented(candidate, "read"));
    this.require(real, access, path);
    // A link may carry a protected name itself.
    if (
      access !== "list" && spelled !== real && this.#inRoots(spelled, access) && !this.#exactly(real, access)
    ) {
      const rule = this.ruleAgainst(spelled, access);
      if (rule !== null) throw refusedBy(rule, access, path);
    }
    return real;
  }

  /** Throws where a canonical path may not be accessed in this way. @param asked as the caller wrote it, for messages */
  require(real: string, access: "list" | "read" | "write", asked: string = real): void {
    refuseSystem(real, asked);
    const doing = `Cannot ${access} ${shown(asked)}`;
    if (!this.#inRoots(real, access) && !this.#consented(real, access === "write" ? "write" : "read")) {
      const where = this.#inRoots(real, "read")
        ? "it lies where this call may only read"
        : real === asked || isWithin(asked, real)
        ? "it is outside the worktree"
        : `it leads to ${shown(real)}, outside the worktree`;
      throw new ToolError(`${doing}: ${where}`, "permission");
    }
    if (access === "list") return;
    const rule = this.ruleAgainst(real, access);
    if (rule !== null) throw refusedBy(rule, access, asked);
  }

  /**
   * The rule that keeps a canonical path from being accessed, or null. Consent lifts a rule that asks for the path that
   * it was given to; below that path it lifts this same rule and no other. A rule that denies always holds.
   */
  ruleAgainst(real: string, access: "read" | "write"): string | null {
    for (const rules of this.#rules) {
      const { action, pattern } = rules.decide(real, access);
      if (action === "allow") continue;
      const lifted = action === "ask" &&
        this.#consents(real, access).some(({ path }) =>
          path === real || rules.decide(path, access).pattern === pattern
        );
      if (!lifted) return `${JSON.stringify(pattern)} (${access}: ${action})`;
    }
    return null;
  }

  /** Whether the user said yes to this canonical path, or to one above it. */
  #consented(real: string, access: "read" | "write"): boolean {
    return this.#consents(real, access).length > 0;
  }

  #exactly(real: string, access: "read" | "write"): boolean {
    return this.#consents(real, access).some(({ path }) => path === real);
  }

  /** What the user said yes to that holds this path. Consent to write includes reading what will be changed. */
  #consents(real: string, access: "read" | "write"): GuardScope["consented"] {
    return this.#scope.consented.filter((item) =>
      (item.access === "write" || access === "read") && isWithin(real, item.path)
    );
  }

  #inRoots(real: string, access: "list" | "read" | "write"): boolean {
    return this.#scope.roots.some((root) =>
      (access !== "write" || root.access === "write") && isWithin(real, root.path)
    );
  }

  /** Name of the temporary sibling: the host's for a path outside, else a random one. */
  temporaryFor(real: string): string {
    const given = this.#scope.temporary;
    if (given !== undefined && !this.#inRoots(real, "write")) {
      return given.includes("/") ? given : `${dirname(real)}/${given}`;
    }
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return `${dirname(real)}/.polyglav-${random}.tmp`.replace("//.", "/.");
  }
}

function refusedBy(rule: string, access: string, asked: string): ToolError {
  return new ToolError(
    `Cannot ${access} ${shown(asked)}: the path rule ${rule} does not allow it`,
    "permission",
  );
}

/** Throws for a path where the system shows itself as files. @param asked as the caller wrote it */
export function refuseSystem(path: string, asked: string): void {
  for (const place of SYSTEM) {
    if (isWithin(normalize(path), place)) {
      throw new ToolError(`Cannot open ${shown(asked)}: files below ${place} are never opened`, "permission");
    }
  }
}
