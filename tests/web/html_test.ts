import assert from "node:assert/strict";
import { htmlToMarkdown } from "../../tools/_html.ts";

const BASE = "https://docs.example.com/guide/page.html";

const cases: readonly (readonly [what: string, html: string, wanted: string])[] = [
  ["headings", "<h1>A</h1><h2>B <small>c</small></h2><h6>D<br>E</h6>", "# A\n\n## B c\n\n###### D E"],
  ["the title, unless the page begins with it", "<title> T\n x </title><p>a", "# T x\n\na"],
  ["a title that is the first heading", "<title>A</title><h1>A</h1><p>b", "# A\n\nb"],
  ["paragraphs and breaks", "<p>a\n  b<br>c</p><p>d</p>e<div>f</div>", "a b\nc\n\nd\n\ne\n\nf"],
  [
    "links: relative, rooted, with a query, protocol-relative",
    '<a href="x">1</a> <a href="/y">2</a> <a href="?z=1&amp;w=2">3</a> <a href="//o.example/">4</a>',
    "[1](https://docs.example.com/guide/x) [2](https://docs.example.com/y) " +
    "[3](https://docs.example.com/guide/page.html?z=1&w=2) [4](https://o.example/)",
  ],
  ["links with brackets in them", '<a href="/a_(b)">x</a>', "[x](https://docs.example.com/a_%28b%29)"],
  [
    "links to nowhere are text",
    '<a href="javascript:x()">a</a> <a href="#top">b</a> <a>c</a> <a href="http://[">d</a> <a href="/e"></a>',
    "a b c d",
  ],
  ["a base", '<base href="/other/"><a href="x">1</a>', "[1](https://docs.example.com/other/x)"],
  [
    "a link around blocks",
    '<a href="/x"><h3>T</h3><p>text</p></a>',
    "### [T](https://docs.example.com/x)\n\n[text](https://docs.example.com/x)",
  ],
  ["marks", "<b>bold</b> <em> it </em><del>gone</del> <code>a_b</code>", "**bold** *it* ~~gone~~ `a_b`"],
  [
    "marks that cross and are never closed",
    "<p><b>a <i>b</b> c</i></p><p><b>d</p>e",
    "**a *b*** c\n\n**d**\n\ne",
  ],
  ["empty marks", "<b></b><i> </i>x", "x"],
  [
    "images",
    '<img src="i.png" alt="A  [b]"><img src="x.png"><img src="data:x" alt="C">',
    "![A b](https://docs.example.com/guide/i.png)C",
  ],
  [
    "lists",
    "<ul><li>a<li>b<ul><li>c</ul><li><p>d</p><p>e</p></ul><ol start=3><li>x<li value=7>y<li>z</ol>",
    "- a\n- b\n  - c\n- d\n\n  e\n\n3. x\n7. y\n8. z",
  ],
  ["code in a list", "<ol><li>Run:<pre>a\n  b</pre></li></ol>", "1. Run:\n\n   ```\n   a\n     b\n   ```"],
  ["definitions", "<dl><dt>Term<dd>what it is</dl>", "**Term**\n\n- what it is"],
  ["quotes", "<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>", "> a\n\n> b\n\n> > c"],
  ["a rule", "a<hr>b", "a\n\n---\n\nb"],
  [
    "code with its language",
    '<pre><code class="language-ts">a &lt; b\n\n  c</code></pre>',
    "```ts\na < b\n\n  c\n```",
  ],
  ["code of lines in elements", "<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"],
  ["code with fences", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
  [
    "highlighted code",
    '<div class="highlight-source-shell"><pre><span class="k">ls</span> -l<br>pwd</pre></div>',
    "```\nls -l\npwd\n```",
  ],
  [
    "tables",
    "<table><caption>Cap</caption><thead><tr><th>A<th>B</thead><tr><td>1|2<td><p>x</p><p>y</p><tr><td colspan=2>z</table>",
    "Cap\n\n| A | B |\n| --- | --- |\n| 1\\|2 | x y |\n| z |  |",
  ],
  [
    "tables that lay out a page",
    "<table><tr><td><table><tr><td>a<td>b</table><td>side</table>",
    "| a | b |\n| --- | --- |\n\nside",
  ],
  [
    "code beside line numbers",
    '<table><tr><td class="gutter"><pre>1\n2</pre><td class="code"><pre>a\nb</pre></table>',
    "```\na\nb\n```",
  ],
  [
    "navigation, scripts and what is hidden are gone",
    "<nav>n</nav><script>s</script><style>t</style><noscript>o</noscript><template>p</template><svg><title>q</title></svg>" +
    '<div hidden>h</div><p aria-hidden="true">i</p><p style="color:red; display : none">j</p><button>k</button>' +
    '<div role="navigation">l</div><iframe>m</iframe><p>text</p>',
    "text",
  ],
  [
    "the main part alone, its header included",
    "<header>site</header><aside>ads</aside><main><header><h1>H</h1></header><p>" + "text ".repeat(60) +
    "</p></main><footer>foot</footer>",
    "# H\n\n" + "text ".repeat(60).trim(),
  ],
  [
    "margins are left out without a main part",
    `<header>site</header><p>${"text ".repeat(60)}</p><footer>foot</footer>`,
    "text ".repeat(60).trim(),
  ],
  ["a page that is nothing but margins", "<footer><p>only this</p></footer>", "only this"],
  [
    "a page that is nothing but navigation",
    '<nav><a href="/a">A</a></nav>',
    "[A](https://docs.example.com/a)",
  ],
  ["entities", "&lt;tag&gt; &amp;amp; &eacute;&#x1F600;&nbsp;x&unknown;", "<tag> &amp; é😀 x&unknown;"],
  ["white space", "  a \t\n <span> b</span><span> </span>c ", "a b c"],
  ["a head that is never closed", "<html><head><title>T</title><meta x><body><p>a", "# T\n\na"],
  ["tags in capitals, attributes without quotes", "<P>a<A HREF=/x>b</A>", "a[b](https://docs.example.com/x)"],
  ["elements with odd names", "<constructor>a</constructor><toString>b<valueOf>c", "abc"],
  ["nothing", "", ""],
  ["text", "just text", "just text"],
  ["broken", "<p>a<b>c</p></div></b><li>d<", "a**c**\n\n- d<"],
];

for (const [what, html, wanted] of cases) {
  Deno.test(`html: ${what}`, () => assert.equal(htmlToMarkdown(html, BASE), wanted));
}

Deno.test("html: a page of documentation", () => {
  const page =
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>walk &#8212; Files 3.2</title></head><body>
<div class="related" role="navigation" aria-label="Related"><h3>Navigation</h3><ul><li><a href="../genindex.html">index</a></li></ul></div>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main">
<section id="walk"><h1>walk<a class="headerlink" href="#walk" title="Link to this heading">¶</a></h1>
<p>Walks a tree. See <a class="reference internal" href="glob.html#glob"><code class="docutils literal">glob()</code></a>.</p>
<dl class="py function"><dt class="sig" id="f">files.walk(<em>top</em>)</dt><dd><p>Yields names.</p></dd></dl>
<div class="highlight-python notranslate"><div class="highlight"><pre><span></span><span class="kn">import</span> files
<span class="k">for</span> name <span class="ow">in</span> files.walk(<span class="s2">"."</span>):
    print(name)
</pre></div></div></section></div></div></div>
<div class="sphinxsidebar" role="navigation"><h3>Contents</h3></div></div>
<div class="footer" role="contentinfo">Copyright</div></body></html>`;
  assert.equal(
    htmlToMarkdown(page, "https://docs.example.com/lib/walk.html"),
    `# walk — Files 3.2

# walk

Walks a tree. See [\`glob()\`](https://docs.example.com/lib/glob.html#glob).

**files.walk(*top*)**

- Yields names.

\`\`\`
import files
for name in files.walk("."):
    print(name)
\`\`\``,
  );
});

Deno.test("html: pages made to break a converter end, and soon", () => {
  const deep = (tag: string, n: number) => `<${tag}>`.repeat(n) + "x";
  for (
    const html of [
      ...["div", "b", "blockquote", "ul><li", "table><tr><td", "a href=x", "pre", "nav", "dl><dt"].map((
        tag,
      ) => deep(tag, 60_000)),
      "<div>".repeat(30_000) + "</span>".repeat(30_000),
      "<p " + "a=1 ".repeat(100_000),
      "<".repeat(300_000),
      "&".repeat(300_000),
      "<!--".repeat(100_000),
      "<p>" + " ".repeat(500_000) + "x",
      "<pre>" + "``` ".repeat(100_000),
      "<td>x".repeat(50_000),
      "<table>" + "<tr><td colspan=99999999>x".repeat(5_000),
      `<base href="${"x".repeat(100_000)}"><a href=y>z`,
      "<title>".repeat(10_000),
      "\u0000\ufffe<\u0000p>\ud800",
    ]
  ) {
    const text = htmlToMarkdown(html, BASE);
    assert.ok(text.length <= 20 * html.length + 1000);
  }
});

Deno.test("html: what is written is never longer than a small multiple of the page, whatever links it has", () => {
  const text = htmlToMarkdown('<a href="x">y</a> '.repeat(5_000), BASE);
  assert.equal(text.match(/\]\(/g)?.length, 5_000);
});
