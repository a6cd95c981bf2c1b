/**
 * Reading yes, no and PASS in what people and models write, strictly: what is not plainly a yes is none.
 *
 * @module
 */

/** What an answer to a request for a permission says. */
export type Consent = "once" | "always" | "no" | "unclear";

/**
 * Reads an answer. `yes` and `y` as the first word say yes, `always` (alone, or right after the yes) says it for good;
 * `no` and `n` say no. All else is unclear, which nobody takes for a yes.
 */
export function readConsent(answer: string): Consent {
  const text = answer.trim().toLowerCase().replace(/^["'`*_]+/, "");
  if (/^always[\s."'`*_!]*$/.test(text)) return "always";
  if (/^no?(?![\p{L}\p{N}_'’-])/u.test(text)) return "no";
  const yes = /^y(?:es)?(?![\p{L}\p{N}_'’]|-\p{L})/u.exec(text);
  if (!yes) return "unclear";
  const rest = text.slice(yes[0].length).trim();
  // "yes?", "yes or no", "yes/no" decide nothing.
  if (/^(\?|\/|or\b|and no\b)/.test(rest)) return "unclear";
  return /^[\s,;:."'`*_-]*always[\s."'`*_!]*$/.test(rest) ? "always" : "once";
}

/** The words before the verdict: a marker that names the outcome itself (`VERDICT: PASS`) stands for what is before it. */
export function markerOf(verdict: string): string {
  return verdict.trim().replace(/\s+pass$/i, "");
}

/**
 * Whether a reviewer passes the work: the last line that is not empty has the verdict once, ends with `PASS`, and
 * nothing but whole sentences stands before it. A quoted instruction passes nothing.
 */
export function passes(text: string | null, verdict: string): boolean {
  const last = (text ?? "").split("\n").map((line) => line.trim()).filter((line) => line !== "").at(-1) ?? "";
  // Emphasis is no quotation.
  const line = last.replace(/^#+\s*/, "").replace(/[*_`]+/g, "").trim();
  const mark = markerOf(verdict.replace(/[*_`]+/g, "")).toLowerCase(), lower = line.toLowerCase();
  const at = lower.indexOf(mark);
  if (at < 0 || lower.indexOf(mark, at + 1) >= 0) return false;
  if (!/^\s*pass\s*[.!]?$/i.test(line.slice(at + mark.length))) return false;
  return /(^|[.!?;:)])\s*$/.test(line.slice(0, at));
}
