import assert from "node:assert/strict";
import { placeName } from "../../src/text/place_name.ts";

Deno.test("a folder's name has a readable part, and a part that tells equal names apart", () => {
  assert.equal(placeName("/home/me/my project.git"), "my_project_git-05fb8ad95bd0f2c9");
  assert.match(placeName("/a/shop"), /^shop-[0-9a-f]{16}$/);
  assert.notEqual(placeName("/a/shop"), placeName("/b/shop"));
  assert.match(placeName(`/${"x".repeat(300)}`), /^x{40}-[0-9a-f]{16}$/);
  assert.match(placeName("/"), /^root-[0-9a-f]{16}$/);
});
