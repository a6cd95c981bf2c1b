/**
 * The live line: what is going on now.
 *
 * @module
 */
import { formatElapsed } from "./footer.ts";

/** A call that runs. */
export interface Running {
  /** Its activity line. */
  readonly label: string;
  /** Milliseconds, as of `performance.now()`. */
  readonly since: number;
  /** The last line that it said, clean. */
  progress: string;
}

/** What the live line is made of. Times are those of `performance.now()`. */
export interface Status {
  /** Counts up by one for each drawing. */
  readonly frame: number;
  readonly running: readonly Running[];
  /** What tools do may be shown. */
  readonly visible: boolean;
  /** What is going on where nothing runs, and since when. */
  readonly otherwise: string;
  readonly since: number;
  readonly now: number;
}

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";

/** `⠹ 12s $ Run npm test (+1 more) · 14 of 80 passed`. Not cut yet. */
export function statusLine({ frame, running, visible, otherwise, since, now }: Status): string {
  const spinner = FRAMES[frame % FRAMES.length]!;
  const said = running.findLast((each) => each.progress !== "") ?? running.at(-1);
  if (said === undefined) return `${spinner} ${elapsed(since, now)} ${otherwise}`;
  const time = elapsed(Math.min(...running.map((each) => each.since)), now);
  const others = running.length > 1 ? ` (+${running.length - 1} more)` : "";
  if (!visible) return `${spinner} ${time} Working${others}`;
  return `${spinner} ${time} ${said.label}${others}${said.progress === "" ? "" : ` · ${said.progress}`}`;
}

function elapsed(since: number, now: number): string {
  return formatElapsed((now - since) / 1000);
}
