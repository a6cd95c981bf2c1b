/**
 * SHA-256 of bytes in memory, synchronous. Source: FIPS 180-4, sections 4.2.2, 5.1.1 and 6.2.
 *
 * `crypto.subtle` is asynchronous and `node:crypto` costs 40 ms of start-up; a record has to be hashed before the
 * call that appends it returns. For more than some kilobytes `crypto.subtle.digest` is faster.
 *
 * @module
 */

// The fractional parts of the cube and square roots of the first primes (FIPS 180-4, 4.2.2 and 5.3.3).
const roundConstants = new Int32Array(64);
const initial = new Int32Array(8);

function fraction(x: number): number {
  return ((x - Math.floor(x)) * 2 ** 32) | 0;
}

for (let candidate = 2, count = 0; count < 64; candidate++) {
  let prime = true;
  for (let divisor = 2; divisor * divisor <= candidate; divisor++) {
    if (candidate % divisor === 0) prime = false;
  }
  if (!prime) continue;
  if (count < 8) initial[count] = fraction(Math.sqrt(candidate));
  roundConstants[count++] = fraction(Math.cbrt(candidate));
}

const schedule = new Int32Array(64);
const state = new Int32Array(8);
const padded = new Uint8Array(128);
const paddedView = new DataView(padded.buffer);

function compress(bytes: Uint8Array, offset: number): void {
  const w = schedule, k = roundConstants, s = state;
  for (let i = 0; i < 16; i++, offset += 4) {
    w[i] = (bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) |
      bytes[offset + 3]!;
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!, y = w[i - 2]!;
    const s0 = (x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ (x >>> 3);
    const s1 = (y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ (y >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  let a = s[0]!, b = s[1]!, c = s[2]!, d = s[3]!, e = s[4]!, f = s[5]!, g = s[6]!, h = s[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = (e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
    const s0 = (a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g, g = f, f = e, e = (d + t1) | 0, d = c, c = b, b = a, a = (t1 + t2) | 0;
  }
  s[0] = s[0]! + a, s[1] = s[1]! + b, s[2] = s[2]! + c, s[3] = s[3]! + d;
  s[4] = s[4]! + e, s[5] = s[5]! + f, s[6] = s[6]! + g, s[7] = s[7]! + h;
}

/**
 * The SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
 *
 * @example
 * ```ts
 * import { sha256 } from "./sha256.ts";
 *
 * sha256(new TextEncoder().encode("abc")); // ba7816bf…f20015ad
 * ```
 */
export function sha256(bytes: Uint8Array): string {
  state.set(initial);
  const whole = bytes.length - bytes.length % 64, rest = bytes.length - whole;
  for (let offset = 0; offset < whole; offset += 64) compress(bytes, offset);
  padded.fill(0);
  padded.set(bytes.subarray(whole));
  padded[rest] = 0x80;
  const end = rest < 56 ? 64 : 128;
  paddedView.setUint32(end - 8, Math.floor(bytes.length / 2 ** 29));
  paddedView.setUint32(end - 4, bytes.length * 8 % 2 ** 32);
  compress(padded, 0);
  if (end === 128) compress(padded, 64);
  let hex = "";
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, "0");
  return hex;
}
