/**
 * IP addresses as text to numbers, and what lies behind them.
 *
 * Sources: the IPv4 and IPv6 parsers of the WHATWG URL standard; the IANA special-purpose address registries;
 * RFC 6052 (64:ff9b::/96), RFC 8215 (64:ff9b:1::/48), RFC 3056 (2002::/16), RFC 4380 (2001::/32), RFC 5214 (ISATAP).
 *
 * @module
 */

/** `public`: any host on the internet. `private`: this machine, or a network that not everyone reaches. `forbidden`: never a web page. */
export type AddressClass = "public" | "private" | "forbidden";

type Range = readonly [first: number, bits: number, kind: AddressClass];

const V4: readonly Range[] = [
  [0xa83f8110, 32, "forbidden"], // 168.63.129.16, a cloud's host services
  [0x646464c8, 32, "forbidden"], // 100.100.100.200, a cloud's metadata
  [0x00000000, 8, "forbidden"], // "this network"
  [0x0a000000, 8, "private"],
  [0x64400000, 10, "private"], // carrier-grade NAT
  [0x7f000000, 8, "private"], // loopback
  [0xa9fe0000, 16, "forbidden"], // link-local, metadata
  [0xac100000, 12, "private"],
  [0xc0000000, 24, "forbidden"], // protocol assignments, a cloud's metadata at .192
  [0xc0000200, 24, "private"], // documentation
  [0xc0586300, 24, "private"], // 6to4 relays
  [0xc0a80000, 16, "private"],
  [0xc6120000, 15, "private"], // benchmarks
  [0xc6336400, 24, "private"], // documentation
  [0xcb007100, 24, "private"], // documentation
  [0xe0000000, 4, "forbidden"], // multicast
  [0xf0000000, 4, "forbidden"], // reserved, broadcast
];

/**
 * Reads an IPv4 address as browsers and C libraries do: one to four parts, each decimal, octal (`0` first) or hex (`0x`),
 * the last one filling what is left; one dot at the end is allowed. Null for anything else.
 */
export function parseIPv4(text: string): number | null {
  const parts = text.split(".");
  if (parts.length > 1 && parts.at(-1) === "") parts.pop();
  if (parts.length > 4) return null;
  const numbers: number[] = [];
  for (const part of parts) {
    const value = /^0[xX][0-9a-fA-F]*$/.test(part)
      ? (part.length === 2 ? 0 : parseInt(part.slice(2), 16))
      : /^0[0-7]+$/.test(part)
      ? parseInt(part, 8)
      : /^(?:0|[1-9][0-9]*)$/.test(part)
      ? Number(part)
      : NaN;
    if (Number.isNaN(value)) return null;
    numbers.push(value);
  }
  const last = numbers.pop()!;
  if (numbers.some((value) => value > 255) || last >= 256 ** (4 - numbers.length)) return null;
  return numbers.reduce((sum, value, index) => sum + value * 256 ** (3 - index), last);
}

/** Reads an IPv6 address (brackets and a zone allowed) as eight 16-bit numbers; null for anything else. */
export function parseIPv6(text: string): readonly number[] | null {
  let source = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  const dotted = /^(.*:)(\d{1,3}(?:\.\d{1,3}){3})$/.exec(source);
  if (dotted) {
    const parts = dotted[2]!.split(".").map(Number);
    if (parts.some((part) => part > 255)) return null;
    const [a, b, c, d] = parts as [number, number, number, number];
    source = `${dotted[1]}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  }
  const halves = source.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half) => half === "" ? [] : half.split(":"));
  const all = [...head!, ...(tail ?? [])];
  if (all.some((group) => !/^[0-9a-fA-F]{1,4}$/.test(group))) return null;
  if (tail === undefined ? all.length !== 8 : all.length > 7) return null;
  const zeros = Array<string>(8 - all.length).fill("0");
  return [...head!, ...zeros, ...(tail ?? [])].map((group) => parseInt(group, 16));
}

/** Class of an IPv4 address given as a number. */
export function classifyIPv4(address: number): AddressClass {
  for (const [first, bits, kind] of V4) {
    const size = 2 ** (32 - bits);
    if (address >= first && address < first + size) return kind;
  }
  return "public";
}

const WORSE: Readonly<Record<AddressClass, number>> = { public: 0, private: 1, forbidden: 2 };

function worst(...kinds: AddressClass[]): AddressClass {
  return kinds.reduce((a, b) => WORSE[a] >= WORSE[b] ? a : b);
}

/** Class of an IPv6 address given as eight groups. An address that carries an IPv4 one is at least as bad as that. */
export function classifyIPv6(groups: readonly number[]): AddressClass {
  const [g0, g1, g2, g3, g4, g5, g6, g7] = groups as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const high = (g0 | g1 | g2 | g3) === 0, v4 = (a: number, b: number) => classifyIPv4(a * 65536 + b);
  if (high && (g4 | g5 | g6) === 0) return g7 === 1 ? "private" : g7 === 0 ? "forbidden" : v4(g6, g7);
  if (high && g4 === 0 && (g5 === 0xffff || g5 === 0)) return v4(g6, g7); // mapped, compatible
  if (high && g4 === 0xffff && g5 === 0) return v4(g6, g7); // translated
  if (g0 === 0x64 && g1 === 0xff9b) {
    return (g2 | g3 | g4 | g5) === 0 ? v4(g6, g7) : worst("private", v4(g6, g7));
  }
  if (g0 === 0x2002) return worst("private", v4(g1, g2)); // 6to4
  if (g0 === 0x2001 && g1 === 0) return worst("private", v4(g2, g3), v4(g6 ^ 0xffff, g7 ^ 0xffff)); // Teredo
  if (g5 === 0x5efe && (g4 & 0xfdff) === 0) return worst("private", v4(g6, g7)); // ISATAP
  if ((g0 & 0xffc0) === 0xfe80 || (g0 & 0xff00) === 0xff00) return "forbidden"; // link-local, multicast
  if (g0 === 0xfd00 && g1 === 0xec2 && (g2 | g3 | g4 | g5 | g6) === 0 && g7 === 0x254) return "forbidden";
  if (g0 === 0xfd20 && g1 === 0xce && (g2 | g3 | g4 | g5 | g6) === 0 && g7 === 0x254) return "forbidden";
  if ((g0 & 0xfe00) === 0xfc00 || (g0 & 0xffc0) === 0xfec0) return "private"; // unique local, site-local
  if ((g0 & 0xe000) !== 0x2000) return "forbidden"; // nothing else is assigned
  if (g0 === 0x2001 && (g1 < 0x200 || g1 === 0xdb8)) return "private"; // protocol assignments, documentation
  return g0 === 0x3fff && g1 < 0x1000 ? "private" : "public"; // documentation
}
