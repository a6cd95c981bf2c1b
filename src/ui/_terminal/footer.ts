/**
 * What a turn took, in one line.
 *
 * @module
 */
import type { Price } from "../../config/settings.ts";
import type { Usage } from "../../provider/provider.ts";

/** What is known of a turn that ended. */
export interface TurnFigures {
  readonly seconds: number;
  readonly usage: Usage | null;
  /** Of its model, where it is configured. */
  readonly price?: Price;
  /** Tokens of the conversation at the last request. */
  readonly context?: number;
  /** Tokens of the model's window; 0: unknown. */
  readonly window: number;
}

/** `(2.1s, 29,100 tokens in, 138 out, $0.02, context 12% of 200k)`, without what is not known. */
export function formatTurnFooter({ seconds, usage, price, context, window }: TurnFigures): string {
  const parts = [seconds < 60 ? `${seconds.toFixed(1)}s` : formatElapsed(seconds)];
  if (usage !== null) {
    parts.push(`${count(usage.prompt_tokens)} tokens in`, `${count(usage.completion_tokens)} out`);
    if (price) {
      parts.push(formatCost((usage.prompt_tokens * price[0] + usage.completion_tokens * price[1]) / 1e6));
    }
  }
  if (context !== undefined && window > 0) {
    parts.push(`context ${share(context, window)} of ${short(window)}`);
  }
  return `(${parts.join(", ")})`;
}

/** Dollars: `$1.25`; below a cent with four digits, `<$0.0001` below those. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return "$0.00";
  if (dollars < 0.0001) return "<$0.0001";
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : 2)}`;
}

/** Whole seconds as `12s`, `3m 05s`, `1h 02m`. */
export function formatElapsed(seconds: number): string {
  const whole = Math.floor(seconds), two = (value: number) => String(value).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor(whole / 60) % 60)}m`;
}

function share(part: number, whole: number): string {
  const percent = 100 * part / whole;
  return percent > 0 && percent < 1 ? "<1%" : `${Math.round(percent)}%`;
}

function short(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}
