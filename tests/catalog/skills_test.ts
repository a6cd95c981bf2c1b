import assert from "node:assert/strict";
import { formatSkill, parseSkill } from "../../src/catalog/skills.ts";

const texts: readonly (readonly [text: string, description: string, content: string])[] = [
  ["Use Django 5.", "Use Django 5.", "Use Django 5."],
  ["\n\n## Head\nBody", "Head", "\n\n## Head\nBody"],
  ["", "", ""],
  ["---\ndescription: a: b\n---\nBody", "a: b", "Body"],
  ["---\r\ndescription: 'it''s'\r\n---\r\n\r\nBody", "it's", "Body"],
  ["---\ndescription: |\n  one\n  two\n---\nBody", "one\ntwo", "Body"],
  ["---\nname: x\n---\n# T", "T", "# T"],
  ["---\nnot closed", "---", "---\nnot closed"],
  ["\uFEFF---\ndescription: bom\n---\nBody", "bom", "Body"],
  ["a\n---\ndescription: no header\n---\n", "a", "a\n---\ndescription: no header\n---\n"],
  ["---\n---\nBody", "Body", "Body"],
];
for (const [text, description, content] of texts) {
  Deno.test(`skill: ${JSON.stringify(text)}`, () => {
    const parsed = parseSkill(text);
    assert.deepEqual([parsed.description, parsed.content], [description, content]);
  });
}

Deno.test("skill: what is written is read back", () => {
  for (
    const skill of [{ content: "a\n\nb" }, {
      content: "# x",
      description: 'say "hi": now',
      tags: ["a b", 'c"d'],
    }]
  ) {
    const parsed = parseSkill(formatSkill(skill, "name"));
    assert.equal(parsed.content, skill.content);
    if (skill.description) {
      assert.deepEqual([parsed.description, parsed.tags], [skill.description, skill.tags]);
    }
  }
});
