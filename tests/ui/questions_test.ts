import assert from "node:assert/strict";
import { createQuestions } from "../../src/ui/questions.ts";
import type { Question } from "../../src/ui/sink.ts";
import { settle } from "./_fake_tty.ts";
import { makeDesk } from "./_questions.ts";

async function ask(
  question: Question,
  ...keys: string[]
): Promise<{ answer: string | null; output: string }> {
  using desk = makeDesk();
  const answer = createQuestions(desk)(question);
  await desk.answer(...keys);
  return { answer: await answer, output: desk.tty.output };
}

Deno.test("a question shows its context, options and asker; a number picks, other words are the answer", async () => {
  const question = {
    question: "Which \x1b[2Jone?",
    context: "Two\nlines\u202e",
    options: ["red", "blue\nvery"],
    asker: "sub_1",
  };
  const { answer, output } = await ask(question, "2\r");
  assert.equal(answer, "blue\nvery");
  for (
    const part of [
      "[sub_1] ? Which ␛[2Jone?",
      "  Two\n  lines\\u202e\n",
      "  1 red\n  2 blue↵very\n",
      "[1-2 or your own]",
    ]
  ) {
    assert.ok(output.includes(part), `${part} in ${JSON.stringify(output)}`);
  }
  assert.equal((await ask(question, "green\r")).answer, "green");
  assert.equal((await ask(question, "3\r")).answer, "3");
  assert.equal((await ask(question, "0\r")).answer, "0");
});

Deno.test("an empty line and Ctrl-D give no answer", async () => {
  assert.equal((await ask({ question: "why?" }, "\r")).answer, null);
  assert.equal((await ask({ question: "why?" }, "\x04")).answer, null);
});

Deno.test("a permission is given by yes or always alone", async () => {
  const question = { question: "May I?", permission: "web", options: ["yes please"] };
  for (
    const [typed, wanted] of [
      ["y\r", "yes"],
      ["YES\r", "yes"],
      ["always\r", "always"],
      ["no\r", "no"],
      ["\r", null],
    ] as const
  ) assert.equal((await ask(question, typed)).answer, wanted, typed);
  const { answer, output } = await ask(question, "yes or no\r", "1\r", "yesterday\r", "n\r");
  assert.equal(answer, "no");
  assert.equal(output.match(/answer "yes", "always" or "no"/g)?.length, 3);
});

Deno.test("nothing that was typed ahead answers", async () => {
  using desk = makeDesk();
  desk.tty.type("yes\r");
  await settle();
  const answer = createQuestions(desk)({ question: "May I?", permission: "web" });
  await desk.answer("no\r");
  assert.equal(await answer, "no");
  assert.deepEqual(await desk.input.readLine({ prompt: "" }), { kind: "line", text: "yes" });
});

Deno.test("Ctrl-C gives no answer and cancels what runs", async () => {
  using desk = makeDesk();
  let cancelled = 0;
  desk.input.onInterrupt(() => cancelled++);
  const answer = createQuestions(desk)({ question: "why?" });
  await settle();
  desk.tty.type("\x03");
  assert.equal(await answer, null);
  assert.equal(cancelled, 1);
});

Deno.test("a question ends with its signal, and after confirm_timeout", async () => {
  using desk = makeDesk();
  const questions = createQuestions(desk), stop = new AbortController();
  const first = questions({ question: "why?", signal: stop.signal });
  const second = questions({ question: "how?" });
  await settle(20);
  stop.abort();
  assert.equal(await first, null);
  desk.settings.confirm_timeout = 0.05;
  await desk.answer("\r");
  assert.equal(await second, null);
  assert.equal(await questions({ question: "when?" }), null);
  assert.ok(desk.tty.output.includes("(no answer in 0.05s)"));
});
