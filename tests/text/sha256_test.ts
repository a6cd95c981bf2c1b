import assert from "node:assert/strict";
import { sha256 } from "../../src/text/sha256.ts";

Deno.test("sha256 gives the example values of the standard", () => {
  const hash = (text: string): string => sha256(new TextEncoder().encode(text));
  assert.equal(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert.equal(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(
    hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  );
});

Deno.test("sha256 agrees with crypto.subtle on every length around its blocks, and on a view into a buffer", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(4096));
  for (const length of [...Array(300).keys(), 1023, 1024, 1025, 4095, 4096]) {
    const view = bytes.subarray(4096 - length);
    assert.equal(
      sha256(view),
      new Uint8Array(await crypto.subtle.digest("SHA-256", view)).toHex(),
      `${length} bytes`,
    );
  }
});

Deno.test("sha256 counts lengths beyond 32 bits of bits", async () => {
  const bytes = new Uint8Array(2 ** 29 / 8 + 1);
  assert.equal(sha256(bytes), new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex());
});
