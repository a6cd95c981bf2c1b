/**
 * Version ranges, as package managers write them. Source: semver.org, and the ranges of node-semver without prereleases.
 *
 * @module
 */

type Version = readonly [number, number, number];

/** A version's three numbers, or null for anything else. */
export function parseVersion(text: string): Version | null {
  const found = /^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+][0-9A-Za-z.+-]+)?$/.exec(text.trim());
  return found ? [Number(found[1]), Number(found[2]), Number(found[3])] : null;
}

/** Whether a version lies in a range (`^1.2`, `~1.2.3`, `>=1 <3`, `1.x`, `*`, alternatives by `||`); null: it is no range. */
export function inRange(version: string, range: string): boolean | null {
  const given = parseVersion(version);
  if (!given || range.trim() === "") return null;
  let any = false;
  for (const alternative of range.split("||")) {
    const tests = alternative.trim().replace(/(>=|<=|>|<|=|\^|~)\s+/g, "$1").split(/\s+/).map(parseTest);
    if (tests.includes(null)) return null;
    if (tests.every((test) => test!(given))) any = true;
  }
  return any;
}

function parseTest(text: string): ((version: Version) => boolean) | null {
  const found = /^(>=|<=|>|<|=|\^|~)?v?(\d{1,6}|[xX*])(?:\.(\d{1,6}|[xX*]))?(?:\.(\d{1,6}|[xX*]))?$/.exec(
    text,
  );
  if (!found) return null;
  const parts = [found[2], found[3], found[4]].map((part) =>
    part === undefined || /[xX*]/.test(part) ? null : Number(part)
  );
  const wild = parts.indexOf(null), exact = wild === -1 ? 3 : wild;
  const low = parts.map((part, i) => i < exact ? part ?? 0 : 0) as unknown as Version;
  const operator = found[1] ?? (exact < 3 ? "~" : "=");
  // The first version after everything that the written parts cover.
  const after = (fixed: number): Version | null =>
    fixed === 0
      ? null
      : low.map((part, i) => i < fixed - 1 ? part : i === fixed - 1 ? part + 1 : 0) as unknown as Version;
  const below = (bound: Version | null) => (v: Version) => bound === null || compare(v, bound) < 0;
  const from = (v: Version) => compare(v, low) >= 0;
  switch (operator) {
    case ">=":
      return from;
    case "<":
      return (v) => compare(v, low) < 0;
    case "<=":
      return below(after(exact));
    case ">": {
      const next = after(exact);
      return (v) => next !== null && compare(v, next) >= 0;
    }
    case "=":
      return (v) => from(v) && below(after(exact))(v);
    case "~":
      return (v) => from(v) && below(after(Math.min(exact, 2)))(v);
    default: {
      // ^: what changes the first part that is not zero is out.
      const first = low.findIndex((part, i) => part !== 0 || i >= exact - 1);
      return (v) =>
        from(v) && below(after(Math.min(first + 1, Math.max(exact, 1))))(v) && exact > 0 || exact === 0;
    }
  }
}

function compare(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}
