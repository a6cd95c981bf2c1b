/**
 * Where a command may stand when `cd` comes before it: the set of possible working directories, followed through `&&`,
 * `||`, `!` and `;`. Paths of the plan are resolved against each of them.
 *
 * @module
 */
import { join } from "../text/path.ts";
import { Refusal } from "./_shell_words.ts";

const MOST = 16;

/** The directories in which a command may run; none where it is never reached. */
export class Directories {
  readonly #all: readonly string[];

  /** @param all absolute paths */
  constructor(all: readonly string[]) {
    this.#all = [...new Set(all)];
    if (this.#all.length > MOST) throw new Refusal("so many `cd`s that depend on each other");
  }

  /** All of them. */
  all(): readonly string[] {
    return this.#all;
  }

  /** The one, or null where there are several. */
  only(): string | null {
    return this.#all.length === 1 ? this.#all[0]! : null;
  }

  /** After a command that changes nothing. */
  same(): Outcome {
    return new Outcome(this, this);
  }

  /** After `exit`. */
  never(): Outcome {
    const none = new Directories([]);
    return new Outcome(none, none);
  }

  /** After `cd`: there if it succeeded, here if not. */
  change(to: string): Outcome {
    return new Outcome(new Directories(this.#all.map((directory) => join(directory, to))), this);
  }

  /** Either set. */
  with(other: Directories): Directories {
    return new Directories([...this.#all, ...other.#all]);
  }
}

/** Where one stands after a command, by its success. */
export class Outcome {
  /** @param success after exit status 0; @param failure after another */
  constructor(readonly success: Directories, readonly failure: Directories) {}

  /** After it, whatever it did. */
  either(): Directories {
    return this.success.with(this.failure);
  }

  /** `this && next`, where `next` began in {@link success}. */
  and(next: Outcome): Outcome {
    return new Outcome(next.success, this.failure.with(next.failure));
  }

  /** `this || next`, where `next` began in {@link failure}. */
  or(next: Outcome): Outcome {
    return new Outcome(this.success.with(next.success), next.failure);
  }

  /** `! this`. */
  swap(): Outcome {
    return new Outcome(this.failure, this.success);
  }
}
