/**
 * The floor that the bench compares with: an agent with nothing but fetch, a stream reader and direct tool calls.
 * No policy, no sandbox, no session. usage: deno run -A bare_agent.ts BASE_URL PROMPT
 *
 * @module
 */
const [base, prompt] = Deno.args as [string, string];
const messages: Record<string, unknown>[] = [{ role: "user", content: prompt }];
const tools = [{
  type: "function",
  function: {
    name: "file_read",
    description: "Read a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
}];

interface Call {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

for (;;) {
  const response = await fetch(`${base}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "scripted", stream: true, messages, tools }),
  });
  let text = "", rest = "";
  const calls: Call[] = [];
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) text += delta.content;
      for (const part of delta?.tool_calls ?? []) {
        const call = calls[part.index] ??= {
          id: part.id,
          type: "function",
          function: { name: part.function.name, arguments: "" },
        };
        call.function.arguments += part.function.arguments ?? "";
      }
    }
  }
  messages.push({
    role: "assistant",
    content: text || null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  });
  if (calls.length === 0) {
    console.log(text);
    break;
  }
  for (const call of calls) {
    const { path } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: Deno.readTextFileSync(path) });
  }
}
