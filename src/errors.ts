/**
 * The errors of polyglav. Each class fixes the exit code that the command line ends with when the error
 * reaches it, and each message is one line: what was wrong, with the value, and what to do instead.
 *
 * @module
 */

/** Exit codes of the program, as documented by `--help` and README.md. */
export const EXIT = {
  /** Done. */
  ok: 0,
  /** The turn or the tool failed; a denied `polyglav tool` call included. */
  failed: 1,
  /** Usage or configuration. */
  usage: 2,
  /** With `--strict`: the turn ended well, but a call was denied. */
  denied: 3,
  /** What a replayed recording expects and what happened differ. */
  drift: 4,
  /** Cancelled (Ctrl-C). */
  cancelled: 130,
} as const;

/** Base of every error that polyglav raises on purpose; anything else that reaches the top is a bug. */
export class PolyglavError extends Error {
  /** The exit code that the command line ends with. */
  readonly exitCode: number;
  /**
   * Makes the error.
   *
   * @param message one line for a person
   * @param exitCode see {@link EXIT}
   */
  constructor(message: string, exitCode: number = EXIT.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.exitCode = exitCode;
  }
}

/** The command line cannot be understood (exit 2). */
export class UsageError extends PolyglavError {
  /**
   * Makes the error.
   *
   * @param message one line that names the argument and says what is expected
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}

/** A configuration file or value cannot be understood (exit 2). */
export class ConfigError extends PolyglavError {
  /**
   * Makes the error.
   *
   * @param message one line that names file, key, what stands there and what is expected
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message, EXIT.usage, options);
  }
}

/** The policy or the sandbox refused a call (exit 1). */
export class PolicyDenied extends PolyglavError {
  /** The rule that decided, as `policy explain` names it. */
  readonly rule: string;
  /**
   * Makes the error.
   *
   * @param message one line
   * @param rule the rule that decided
   */
  constructor(message: string, rule: string, options?: ErrorOptions) {
    super(message, EXIT.failed, options);
    this.rule = rule;
  }
}

/** A request to a model's provider failed for good (exit 1). */
export class ProviderError extends PolyglavError {
  /** HTTP status, or 0 where there was none (a reset connection, a broken stream). */
  readonly code: number;
  /**
   * Makes the error.
   *
   * @param message one line
   * @param code HTTP status or 0
   */
  constructor(message: string, code = 0, options?: ErrorOptions) {
    super(message, EXIT.failed, options);
    this.code = code;
  }
}

/** What went wrong in a tool. */
export type ToolErrorKind = "execution" | "invalid_arguments" | "permission" | "not_found" | "timeout";

/** A tool failed; the model gets `Error: <message>` as its result. */
export class ToolError extends PolyglavError {
  /** What went wrong. */
  readonly kind: ToolErrorKind;
  /**
   * Makes the error.
   *
   * @param message one line without the leading `Error: `
   * @param kind what went wrong
   */
  constructor(message: string, kind: ToolErrorKind = "execution", options?: ErrorOptions) {
    super(message, EXIT.failed, options);
    this.kind = kind;
  }
}

/** The text of anything that was thrown, on one line, for messages. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, " ").trim() || "unknown error";
}
