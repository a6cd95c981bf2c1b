/**
 * What the web tools cost: the conversion of a large page, and a fetch beside a bare one. A process of its own, so that
 * nothing is warm that would not be. Prints one JSON object, in milliseconds.
 *
 * @module
 */
import { defaults } from "../../src/config/schema.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { htmlToMarkdown } from "../../tools/_html.ts";
import { webFetch } from "../../tools/web_fetch.ts";
import { median } from "./_process.ts";

/** What is measured, as medians in milliseconds. */
export interface WebFigures {
  /** 1 MB of HTML to Markdown. */
  readonly convert: number;
  /** A small page by web_fetch, warm. */
  readonly ours: number;
  /** The same page by `fetch`, warm. */
  readonly bare: number;
}

/** A page of documentation with about this many characters. */
export function largePage(size: number): string {
  let body = "";
  for (let i = 1; body.length < size; i++) {
    body += `<section id="s${i}" class="section"><h2><a class="anchor" href="#s${i}">Section ${i}</a></h2>
<p class="lead">This is <b>paragraph</b> ${i} with <a href="/docs/page-${i}.html?x=1&amp;y=2">a link</a>, <code>some_code()</code>
and <em>emphasis</em> &mdash; and words enough to look like an article that somebody reads.</p>
<ul><li>First <i>one</i></li><li>Second<ul><li>nested &lt;tag&gt;</li></ul></li><li><p>Third</p></li></ul>
<pre><code class="language-js">function f${i}(a, b) {\n  return a &lt; b;\n}\n</code></pre>
<table><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody><tr><td>a${i}</td><td>${i}</td></tr></tbody></table></section>\n`;
  }
  return `<!doctype html><title>Large</title><nav><a href="/">Home</a></nav><main>${body}</main>`;
}

if (import.meta.main) {
  const worktree = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-" }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("<h1>Small</h1><p>page", { headers: { "content-type": "text/html" } }),
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const policyInput = {
    settings: { ...defaults(), web: { hosts: [], private: true } },
    mode: "build",
    worktree,
    home: worktree,
    configDir: worktree,
    shell: "/bin/sh",
    env: {},
  };
  const sandbox = new Sandbox({ worktree });
  const dispatcher = new Dispatcher({
    registry: new ToolRegistry().register(webFetch),
    policy: new ToolPolicy(policyInput),
    policyInput,
    sandbox,
    childEnv: {},
  });
  const timed = async (work: () => unknown, times: number, warm: number) => {
    const all: number[] = [];
    for (let i = 0; i < times + warm; i++) {
      const began = performance.now();
      await work();
      if (i >= warm) all.push(performance.now() - began);
    }
    return median(all);
  };
  const page = largePage(1_000_000);
  const figures: WebFigures = {
    convert: await timed(() => htmlToMarkdown(page, "https://docs.example.com/"), 5, 0),
    bare: await timed(async () => await (await fetch(url)).text(), 50, 5),
    ours: await timed(
      async () => {
        const { isError, content } = await dispatcher.call("web_fetch", { url }, {
          confirm: () => Promise.resolve("nobody"),
        });
        if (isError) throw new Error(content);
      },
      50,
      5,
    ),
  };
  console.log(JSON.stringify(figures));
  sandbox.close();
  await server.shutdown();
  Deno.removeSync(worktree, { recursive: true });
}
