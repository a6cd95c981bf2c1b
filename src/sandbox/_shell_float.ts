/**
 * Decimal numbers as C's printf writes a `long double` of 64 bits of mantissa, which is what bash uses: exact arithmetic,
 * ties to even.
 *
 * @module
 */

/** A number: its sign, and its size as a fraction; null size: infinite, or no number. */
export interface Long {
  readonly negative: boolean;
  readonly size: { readonly over: bigint; readonly under: bigint } | null;
  readonly nan: boolean;
}

/** The number that a text spells (`1.5`, `-2e10`, `inf`, `nan`); the text must be well-formed. */
export function parseLong(text: string): Long {
  const word = text.trim().toLowerCase(), negative = word.startsWith("-");
  if (word.includes("inf")) return { negative, size: null, nan: false };
  if (word.includes("nan")) return { negative, size: null, nan: true };
  const match = /^[+-]?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/.exec(word)!;
  const digits = BigInt(`${match[1]}${match[2]}` || "0");
  const power = Number(match[3] ?? 0) - match[2]!.length;
  const zero = { negative, size: { over: 0n, under: 1n }, nan: false };
  if (digits === 0n || power < -6000) return zero;
  if (power > 6000) return { negative, size: null, nan: false };
  const over = power > 0 ? digits * 10n ** BigInt(power) : digits;
  const under = power < 0 ? 10n ** BigInt(-power) : 1n;
  // The mantissa: as many bits as fit, the last one rounded.
  const shift = 64 - (over.toString(2).length - under.toString(2).length);
  let mantissa = scaled(over, under, shift), exponent = shift;
  if (mantissa >= 1n << 64n) mantissa = scaled(over, under, --exponent);
  const size = exponent > 0
    ? { over: mantissa, under: 1n << BigInt(exponent) }
    : { over: mantissa << BigInt(-exponent), under: 1n };
  return { negative, size, nan: false };
}

function scaled(over: bigint, under: bigint, shift: number): bigint {
  return shift >= 0 ? divide(over << BigInt(shift), under) : divide(over, under << BigInt(-shift));
}

/** The nearest whole number; of two, the even one. */
function divide(over: bigint, under: bigint): bigint {
  const whole = over / under, twice = (over % under) * 2n;
  return twice > under || (twice === under && whole % 2n === 1n) ? whole + 1n : whole;
}

/** The size with `places` digits after the point. */
export function fixed({ over, under }: NonNullable<Long["size"]>, places: number): string {
  const digits = divide(over * 10n ** BigInt(places), under).toString().padStart(places + 1, "0");
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The size as `d.ddd` with `places` digits after the point, and its power of ten. */
export function scientific(
  { over, under }: NonNullable<Long["size"]>,
  places: number,
): { digits: string; power: number } {
  const point = (digits: string) => places === 0 ? digits : `${digits[0]}.${digits.slice(1)}`;
  if (over === 0n) return { digits: point("0".repeat(places + 1)), power: 0 };
  let power = over.toString().length - under.toString().length;
  const at = (exponent: number): bigint => {
    const by = places - exponent;
    return by >= 0 ? divide(over * 10n ** BigInt(by), under) : divide(over, under * 10n ** BigInt(-by));
  };
  if (over < (power >= 0 ? under * 10n ** BigInt(power) : under / 10n ** BigInt(-power))) power--;
  let digits = at(power).toString();
  while (digits.length > places + 1) digits = at(++power).toString();
  while (digits.length < places + 1) digits = at(--power).toString();
  return { digits: point(digits), power };
}
