/**
 * What can go wrong with a request.
 *
 * @module
 */
import { PolyglavError } from "../errors.ts";

/** A `reason` request failed. */
export class ReasonError extends PolyglavError {
  /**
   * `NoTools`: the request holds no tool, and nothing was asked. `Generation`: asking the model failed; the error that
   * `generate` would have thrown is the `cause`.
   */
  readonly kind: "NoTools" | "Generation";

  /**
   * Makes the error.
   *
   * @param message one line
   * @param kind what went wrong
   */
  constructor(message: string, kind: "NoTools" | "Generation", options?: ErrorOptions) {
    super(message, undefined, options);
    this.kind = kind;
  }
}
