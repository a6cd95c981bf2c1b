/**
 * @module
 */
import { EXIT, PolyglavError } from "../errors.ts";

/** Why a session cannot be opened. */
export type SessionErrorKind =
  /** Another process writes it. */
  | "locked"
  /** What stands on disk cannot be relied on; `--trust` resumes it all the same. */
  | "untrusted"
  /** There is no such session. */
  | "missing"
  /** A link or a special file stands where a session file belongs. */
  | "unsafe"
  /** Reading or writing failed. */
  | "io";

/** A session cannot be opened, read or written (exit 1). */
export class SessionError extends PolyglavError {
  /** Why. */
  readonly kind: SessionErrorKind;
  /** @param message one line; @param kind why */
  constructor(message: string, kind: SessionErrorKind, options?: ErrorOptions) {
    super(message, EXIT.failed, options);
    this.kind = kind;
  }
}
