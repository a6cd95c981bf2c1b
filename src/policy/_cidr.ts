/**
 * IPv4 ranges as text, for `--deny-net`.
 *
 * @module
 */

/** A range: first address as a number, and its prefix length. */
export type Cidr = readonly [first: number, bits: number];

/** `10.0.0.0/8` of a range; a single address stands without the length. */
export function cidrText([first, bits]: Cidr): string {
  const text = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join(".");
  return bits === 32 ? text : `${text}/${bits}`;
}

/** The ranges that cover `range` but for one address: at most 32 of them, in ascending order. */
export function without(range: Cidr, address: number): Cidr[] {
  const [first, bits] = range, size = 2 ** (32 - bits);
  if (address < first || address >= first + size) return [range];
  if (bits === 32) return [];
  const half: Cidr = [first, bits + 1], other: Cidr = [first + size / 2, bits + 1];
  return [...without(half, address), ...without(other, address)];
}
