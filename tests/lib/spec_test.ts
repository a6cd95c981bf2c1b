/**
 * The examples of the typed tools specification, in its order, in TypeScript: the same behaviour, defaults and errors.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  Llm,
  Message,
  type Message as ChatMessage,
  ReasonError,
  scriptedProvider,
} from "../../src/llm/mod.ts";
import { type Plugin, Server, ToolsPlugin } from "../../src/plugins/mod.ts";
import {
  defineTool,
  openWorkspace,
  tool,
  ToolError,
  ToolRegistry,
  toolset,
  type Workspace,
} from "../../src/lib.ts";
import { makeWorktree } from "../helpers/worktree.ts";

// 1. A tool

const search = defineTool({
  name: "search",
  description: "Search for documents matching a query.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", description: "The search query string." },
      limit: { type: "integer", description: "Maximum number of results to return.", default: 10 },
    },
    required: ["query"],
  },
  execute: ({ query, limit }) => `Found results for: ${query} (limit ${limit})`,
});

// 2. Optional parameters

const fetchUrl = defineTool({
  name: "fetch_url",
  description: "Fetch a web page.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", description: "The URL to fetch." },
      timeout_secs: { type: "integer", description: "Request timeout in seconds.", default: 30 },
      follow_redirects: { type: "boolean", description: "Whether to follow redirects.", default: true },
    },
    required: ["url"],
  },
  execute: ({ url, timeout_secs, follow_redirects }) => `Fetched ${url} ${timeout_secs} ${follow_redirects}`,
});

Deno.test("parameters with a default are optional and filled in", async () => {
  const registry = new ToolRegistry().register(search).register(fetchUrl);
  const [first, second] = registry.definitions();
  assert.equal(first!.description, "Search for documents matching a query.");
  assert.equal(first!.parameters.properties.query!.description, "The search query string.");
  assert.deepEqual(first!.parameters.required, ["query"]);
  assert.deepEqual(second!.parameters.required, ["url"]);
  assert.equal(await registry.execute("search", { query: "x" }), "Found results for: x (limit 10)");
  assert.equal(await registry.execute("fetch_url", { url: "u" }), "Fetched u 30 true");
  assert.equal(
    await registry.execute("fetch_url", { url: "u", timeout_secs: 5, follow_redirects: false }),
    "Fetched u 5 false",
  );
});

// 3. ToolRegistry

function configureRegistry(registry: ToolRegistry): void {
  registry.register(search);
  registry.register(fetchUrl);
}

Deno.test("a registry is configured once; a duplicate name is an error", () => {
  const registry = new ToolRegistry();
  configureRegistry(registry);
  assert.deepEqual(registry.definitions().map(({ name }) => name), ["search", "fetch_url"]);
  assert.throws(
    () => configureRegistry(registry),
    /"search" of application: the name already belongs to "search"/,
  );
});

// 4. Registering tools in a plugin

class SearchPlugin implements Plugin {
  readonly id = "myapp::search";
  readonly version = "0.1.0";
  readonly dependencies = [ToolsPlugin];

  build(server: Server): void {
    server.resource(ToolRegistry).register(search, this.id);
  }
}

Deno.test("a plugin registers its tools after the plugin that makes the registry", async () => {
  const server = await new Server().add(new SearchPlugin(), new ToolsPlugin()).start();
  assert.equal(
    await server.resource(ToolRegistry).execute("search", '{"query": "rust"}'),
    "Found results for: rust (limit 10)",
  );
  await assert.rejects(
    new Server().add(new SearchPlugin()).start(),
    /needs polyglav::tools, which was not added/,
  );
});

// 5. Toolsets. Not the naive join of the example, but files through the guard.

const path = (description: string) =>
  ({
    type: "object",
    properties: { path: { type: "string", description } },
    required: ["path"],
  }) as const;

@toolset
class FileTools {
  constructor(readonly files: Workspace) {}

  @tool({
    description: "List files in a directory.",
    parameters: path("Directory path relative to the working directory."),
  })
  listFiles({ path }: { path: string }): string {
    return this.files.readDirectory(path).map(({ name }) => name).sort().join("\n");
  }

  @tool({
    description: "Read the contents of a file.",
    parameters: path("File path relative to the working directory."),
  })
  readFile({ path }: { path: string }): string {
    return new TextDecoder().decode(this.files.readFile(path));
  }
}

// 6. Registering a toolset

function registerFileTools(registry: ToolRegistry, directory: string): void {
  registry.registerToolset(new FileTools(openWorkspace(directory)));
}

Deno.test("a toolset's methods are tools over shared state, and stay in their folder", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "one", "sub/b.txt": "two" },
    outside: { "secret.txt": "SECRET" },
    links: { way: "../outside" },
  });
  const registry = new ToolRegistry();
  registerFileTools(registry, tree.work);
  assert.deepEqual(registry.list().map(({ name }) => name), ["list_files", "read_file"]);
  assert.equal(await registry.execute("list_files", { path: "." }), "a.txt\nsub\nway");
  assert.equal(await registry.execute("read_file", { path: "sub/b.txt" }), "two");
  for (const path of ["../outside/secret.txt", "way/secret.txt", `${tree.outside}/secret.txt`]) {
    await assert.rejects(registry.execute("read_file", { path }), (e: ToolError) => e.kind === "permission");
  }
  await assert.rejects(
    registry.execute("read_file", { path: "no" }),
    (e: ToolError) => e.kind === "not_found",
  );
});

Deno.test("the naive join of the example leads out of its folder", () => {
  using tree = makeWorktree({ outside: { "secret.txt": "SECRET" }, links: { way: "../outside" } });
  for (const path of ["../outside/secret.txt", "way/secret.txt"]) {
    assert.equal(Deno.readTextFileSync(`${tree.work}/${path}`), "SECRET", "what not to do");
  }
});

// 7. Wiring tools into LLM calls

async function callWithTools(llm: Llm, registry: ToolRegistry): Promise<string> {
  const response = await llm
    .builder()
    .withRegistry(registry)
    .system("You are a helpful assistant with access to tools.")
    .user("Find documents about Rust concurrency.")
    .generate();
  return response.text();
}

Deno.test("a request carries all tools of the registry", async () => {
  const registry = new ToolRegistry();
  configureRegistry(registry);
  const provider = scriptedProvider([{ text: "Here they are." }]);
  assert.equal(await callWithTools(new Llm(provider), registry), "Here they are.");
  assert.deepEqual(provider.requests[0]!.tools, registry.definitions());
});

// 8. Executing tool calls

async function executeToolCalls(llm: Llm, registry: ToolRegistry, messages: ChatMessage[]): Promise<void> {
  const response = await llm
    .builder()
    .withRegistry(registry)
    .system("You are a helpful assistant.")
    .messages(messages)
    .generate();
  if (response.hasToolCalls()) {
    messages.push(Message.assistantFromBlocks(response.content));
    for (const call of response.toolCalls()) {
      let content;
      try {
        content = await registry.execute(call.function.name, call.function.arguments);
      } catch (error) {
        content = `Error: ${(error as Error).message}`;
      }
      messages.push(Message.toolResult(call.id, content));
    }
  }
}

Deno.test("calls are executed and their results appended, failures as Error: …", async () => {
  const registry = new ToolRegistry();
  configureRegistry(registry);
  const provider = scriptedProvider([{
    calls: [
      { id: "1", name: "search", arguments: { query: "a" } },
      { id: "2", name: "search", arguments: {} },
      { id: "3", name: "no_such" },
    ],
  }]);
  const messages = [Message.user("go")];
  await executeToolCalls(new Llm(provider), registry, messages);
  assert.deepEqual(messages.map(({ role }) => role), ["user", "assistant", "tool", "tool", "tool"]);
  assert.equal(messages[2]!.content, "Found results for: a (limit 10)");
  assert.match(messages[3]!.content!, /^Error: search: parameter "query" is missing/);
  assert.match(messages[4]!.content!, /^Error: unknown tool "no_such"\. Available tools: search, fetch_url/);
});

// 9. Per-call context and permissions

const whoAmI = defineTool({
  name: "who_am_i",
  description: "Say who is asking.",
  requires: ["identity"],
  parameters: { type: "object", properties: {} },
  execute: (_args, { extras }) => `You are ${extras!.identity}.`,
});

Deno.test("a tool that declares a context is run with it, and plain execute says what is missing", async () => {
  const registry = new ToolRegistry().register(whoAmI);
  assert.equal(await registry.executeWith("who_am_i", {}, { identity: "Ada" }), "You are Ada.");
  await assert.rejects(registry.execute("who_am_i", {}), /tool "who_am_i" needs the context "identity"/);
});

// 10. The reason extension

async function singleShot(llm: Llm, registry: ToolRegistry): Promise<string> {
  const response = await llm
    .builder()
    .withRegistry(registry)
    .user("What files are in the current directory?")
    .reason();
  return response.hasToolCalls() ? response.toolCalls()[0]!.function.name : response.text();
}

Deno.test("reason asks only with tools, and wraps failures", async () => {
  const provider = scriptedProvider([{ text: "None." }, { calls: [{ name: "search" }] }, { error: "down" }]);
  const llm = new Llm(provider), registry = new ToolRegistry().register(search);
  const kind = (kind: string) => (error: unknown) => error instanceof ReasonError && error.kind === kind;
  await assert.rejects(singleShot(llm, new ToolRegistry()), kind("NoTools"));
  assert.equal(provider.requests.length, 0);
  assert.equal(await singleShot(llm, registry), "None.");
  assert.equal(await singleShot(llm, registry), "search");
  await assert.rejects(singleShot(llm, registry), kind("Generation"));
});

// The kinds of ToolError

Deno.test("a ToolError keeps its kind, and anything else that is thrown becomes an execution error", async () => {
  for (const kind of ["execution", "invalid_arguments", "permission", "not_found", "timeout"] as const) {
    const registry = new ToolRegistry().register(defineTool({
      name: "fails",
      description: "Fails.",
      parameters: { type: "object", properties: {} },
      execute: () => {
        throw new ToolError("it went wrong", kind);
      },
    }));
    await assert.rejects(
      registry.execute("fails"),
      (error: ToolError) => error.kind === kind && error.message === "it went wrong",
    );
  }
  const registry = new ToolRegistry().register(defineTool({
    name: "breaks",
    description: "Breaks.",
    parameters: { type: "object", properties: {} },
    execute: () => JSON.parse("{"),
  }));
  await assert.rejects(
    registry.execute("breaks"),
    (error: ToolError) => error.kind === "execution" && error.message.startsWith("breaks failed: "),
  );
});

// A whole agent

async function react(llm: Llm, registry: ToolRegistry, prompt: string, rounds = 10): Promise<string> {
  const history = [Message.user(prompt)];
  for (let round = 0; round < rounds; round++) {
    const response = await llm.builder()
      .withRegistry(registry)
      .system("Think, act with the tools, look at the results, and answer when you know.")
      .messages(history)
      .reason();
    if (!response.hasToolCalls()) return response.text();
    history.push(Message.assistantFromBlocks(response.content));
    for (const { id, function: call } of response.toolCalls()) {
      const result = await registry.execute(call.name, call.arguments)
        .catch((error: ToolError) => `Error: ${error.message}`);
      history.push(Message.toolResult(id, result));
    }
  }
  throw new Error(`no answer after ${rounds} rounds`);
}

Deno.test("a ReAct loop finds its way through failures to an answer", async () => {
  using tree = makeWorktree({ files: { "notes/plan.txt": "ship on Friday" } });
  const registry = new ToolRegistry();
  registerFileTools(registry, tree.work);
  const provider = scriptedProvider(({ messages }, index) => {
    const last = messages.at(-1)!.content ?? "";
    if (index === 0) {
      return { text: "I look.", calls: [{ name: "read_file", arguments: { path: "plan.txt" } }] };
    }
    if (index === 1) {
      assert.match(last, /^Error: .*plan\.txt/);
      return { calls: [{ name: "list_files", arguments: { path: "notes" } }] };
    }
    if (index === 2) return { calls: [{ name: "read_file", arguments: { path: `notes/${last}` } }] };
    return { text: `The plan: ${last}` };
  });
  assert.equal(await react(new Llm(provider), registry, "What is the plan?"), "The plan: ship on Friday");
  assert.equal(provider.requests.length, 4);
  await assert.rejects(
    react(
      new Llm(scriptedProvider(() => ({ calls: [{ name: "list_files", arguments: { path: "." } }] }))),
      registry,
      "x",
      3,
    ),
    /no answer after 3 rounds/,
  );
});
