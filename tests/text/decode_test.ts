import assert from "node:assert/strict";
import { decodeText, encodeText, encodingOf, isBinary } from "../../src/text/decode.ts";

Deno.test("UTF-8 is the default, and its byte order mark is no text", () => {
  assert.equal(decodeText(new TextEncoder().encode("é😀")), "é😀");
  assert.equal(decodeText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), "a");
  assert.equal(decodeText(Uint8Array.of(0x61, 0xff, 0x62)), "a\ufffdb");
});

Deno.test("UTF-16 is read where its mark stands", () => {
  assert.equal(decodeText(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0xe9, 0)), "aé");
  assert.equal(decodeText(Uint8Array.of(0xfe, 0xff, 0, 0x61, 0, 0xe9)), "aé");
  assert.equal(encodingOf(Uint8Array.of(0xff, 0xfe, 0, 0)), "utf-8");
});

Deno.test("a NUL makes a file binary, except in UTF-16", () => {
  assert.equal(isBinary(Uint8Array.of(0x61, 0, 0x62)), true);
  assert.equal(isBinary(Uint8Array.of(0xff, 0xfe, 0x61, 0)), false);
  assert.equal(isBinary(Uint8Array.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0)), true);
  assert.equal(isBinary(new Uint8Array()), false);
});

Deno.test("encodeText is what decodeText reads", () => {
  const text = "aé😀\r\n";
  for (
    const [encoding, mark] of [["utf-16le", [0xff, 0xfe]], ["utf-16be", [0xfe, 0xff]], ["utf-8", []]] as const
  ) {
    assert.equal(decodeText(Uint8Array.of(...mark, ...encodeText(text, encoding))), text);
  }
});
