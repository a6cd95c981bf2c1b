/**
 * Bytes to text: UTF-8 (invalid bytes replaced), and UTF-16 where a byte order mark says so.
 *
 * @module
 */

/** The encodings that files are read in. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** The encoding that a byte order mark names; UTF-8 without one. UTF-32 is not text here (it holds NUL bytes). */
export function encodingOf(bytes: Uint8Array): Encoding {
  if (bytes[0] === 0xff && bytes[1] === 0xfe && !(bytes[2] === 0 && bytes[3] === 0)) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return "utf-8";
}

/** Whether bytes (the beginning of a file will do) are something other than text: they hold a NUL and no UTF-16 mark. */
export function isBinary(bytes: Uint8Array): boolean {
  return encodingOf(bytes) === "utf-8" && bytes.indexOf(0) !== -1;
}

/** The text of a whole file, its byte order mark left out. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** The bytes of a text in an encoding, without a byte order mark. */
export function encodeText(text: string, encoding: Encoding): Uint8Array {
  if (encoding === "utf-8") return new TextEncoder().encode(text);
  const bytes = new Uint8Array(text.length * 2), view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), encoding === "utf-16le");
  return bytes;
}
