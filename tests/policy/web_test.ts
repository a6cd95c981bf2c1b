import assert from "node:assert/strict";
import { parseIPv4, parseIPv6 } from "../../src/policy/_address.ts";
import {
  type AddressClass,
  classifyAddress,
  decideAddress,
  decideUrl,
  hostAllowed,
} from "../../src/policy/web.ts";
import type { Action } from "../../src/tool.ts";

const closed = { hosts: [], private: false }, open = { hosts: [], private: true };

const addresses: Readonly<Record<AddressClass, readonly string[]>> = {
  public: [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "172.15.255.255",
    "172.32.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "169.253.255.255",
    "169.255.0.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "134744072",
    "0x08080808",
    "010.010.010.010",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2a00:1450::1",
  ],
  private: [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.01",
    "127.0.0.1.",
    "10.0.0.1",
    "10.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.168.257",
    "100.64.0.1",
    "100.127.255.255",
    "198.18.0.1",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::127.0.0.1",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:0a00:0001::1",
    "2002:0808:0808::1",
    "2001:0:4136:e378:8000:63bf:f7f7:f7f7",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "2001:db8::1",
    "3fff::1",
    "2a00::5efe:8.8.8.8",
    "fd00:ec2::253",
  ],
  forbidden: [
    "0.0.0.0",
    "0",
    "0.1.2.3",
    "169.254.169.254",
    "169.254.0.1",
    "2852039166",
    "0xa9fea9fe",
    "0xa9.0xfe.0xa9.0xfe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::169.254.169.254",
    "2002:a9fe:a9fe::",
    "2001:0:a9fe:a9fe::",
    "2001:0:808:808:0:0:5601:5601",
    "2a00::5efe:169.254.169.254",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "ff02::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "100::1",
    "4000::1",
    "",
    "example.com",
    "256.1.1.1",
    "1.2.3.4.5",
    "1..2",
    "08.8.8.8",
    "0xg",
    "-1",
    "4294967296",
    ":::",
    "1:2:3",
    "12345::",
    "::1::",
    "::ffff:1.2.3.256",
  ],
};
for (const [kind, list] of Object.entries(addresses)) {
  for (const text of list) {
    Deno.test(`web: ${JSON.stringify(text)} is ${kind}`, () => assert.equal(classifyAddress(text), kind));
  }
}

Deno.test("web: addresses are read as a URL reads them", () => {
  for (
    const text of ["127.1", "0x7f.1", "0177.1", "2130706433", "1.2", "1.2.3", "0x", "0", "00", "1.2.3.4."]
  ) {
    const expected = new URL(`http://${text}/`).hostname.split(".").map(Number).reduce(
      (sum, part) => sum * 256 + part,
      0,
    );
    assert.equal(parseIPv4(text), expected, text);
  }
  for (const text of ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::1.2.3.4", "1:2::7:8", "ABCD::"]) {
    const host = new URL(`http://[${text}]/`).hostname;
    assert.deepEqual(parseIPv6(host), parseIPv6(text), text);
  }
});

Deno.test("web: what is not an address is not read as one", () => {
  for (
    const text of [
      "",
      ".",
      "a",
      "1.2.3.4.5",
      "1.2.3.256",
      "256.1",
      "1.16777216",
      "4294967296",
      "0x1ffffffff",
      " 1",
      "1 ",
      "+1",
      "1e3",
    ]
  ) {
    assert.equal(parseIPv4(text), null, text);
  }
  for (
    const text of ["", ":", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1::2", "g::", "1.2.3.4", "::1.2.3"]
  ) {
    assert.equal(parseIPv6(text), null, text);
  }
});

const urls: readonly (readonly [url: unknown, action: Action])[] = [
  ["https://example.com/", "allow"],
  ["http://example.com:8080/a?b#c", "allow"],
  ["HTTPS://EXAMPLE.COM", "allow"],
  ["https://b\u00fccher.example/", "allow"],
  ["http://example.com./", "allow"],
  ["  https://example.com  ", "allow"],
  ["http://127.0.0.1/", "ask"],
  ["http://127.1/", "ask"],
  ["http://2130706433/", "ask"],
  ["http://0x7f000001/", "ask"],
  ["http://0177.0.0.1/", "ask"],
  ["http://[::1]:8080/", "ask"],
  ["http://[::ffff:127.0.0.1]/", "ask"],
  ["http://\u2460\u2461\u2466.0.0.1/", "ask"], // circled digits become 127
  ["http://127\u30020\u30020\u30021/", "ask"], // ideographic full stops
  ["http://127.0.0.1./", "ask"],
  ["http://localhost/", "ask"],
  ["http://LOCALHOST./", "ask"],
  ["http://a.localhost/", "ask"],
  ["http://printer.local/", "ask"],
  ["http://db.internal/", "ask"],
  ["http://router.home.arpa/", "ask"],
  ["http://10.0.0.1/", "ask"],
  ["http://192.168.0.1:9200/", "ask"],
  ["http://100.64.1.1/", "ask"],
  ["http://169.254.169.254/latest/meta-data/", "deny"],
  ["http://[fd00:ec2::254]/latest/", "deny"],
  ["http://169.254.169.254:80/", "deny"],
  ["http://2852039166/", "deny"],
  ["http://[::ffff:a9fe:a9fe]/", "deny"],
  ["http://metadata.google.internal/computeMetadata/v1/", "deny"],
  ["http://METADATA.google.internal./", "deny"],
  ["http://0.0.0.0/", "deny"],
  ["http://0/", "deny"],
  ["http://[::]/", "deny"],
  ["http://[fe80::1]/", "deny"],
  ["http://224.0.0.1/", "deny"],
  ["http://255.255.255.255/", "deny"],
  ["http://user@example.com/", "deny"],
  ["http://user:pass@example.com/", "deny"],
  ["http://:pass@example.com/", "deny"],
  ["http://example.com@127.0.0.1/", "deny"],
  ["http://user@169.254.169.254/", "deny"],
  ["file:///etc/passwd", "deny"],
  ["FILE://localhost/etc/passwd", "deny"],
  ["file:/etc/passwd", "deny"],
  ["ftp://example.com/", "deny"],
  ["gopher://example.com/", "deny"],
  ["data:text/plain,x", "deny"],
  ["javascript:alert(1)", "deny"],
  ["blob:https://example.com/x", "deny"],
  ["view-source:https://example.com", "deny"],
  ["ws://example.com/", "deny"],
  ["npm:openai", "deny"],
  ["/etc/passwd", "deny"],
  ["//example.com/", "deny"],
  ["example.com", "deny"],
  ["http://", "deny"],
  ["http:///", "deny"],
  ["http://exa mple.com/", "deny"],
  ["http://256.256.256.256/", "deny"],
  ["http://[::1/", "deny"],
  ["", "deny"],
  [" ", "deny"],
  [null, "deny"],
  [undefined, "deny"],
  [5, "deny"],
  [{ href: "https://example.com" }, "deny"],
  ["https://example.com/" + "a".repeat(9000), "deny"],
];
for (const [url, action] of urls) {
  Deno.test(`web: ${(JSON.stringify(url) ?? "undefined").slice(0, 60)} -> ${action}`, () => {
    const verdict = decideUrl(url, closed);
    assert.equal(verdict.action, action, verdict.reason);
    assert.match(verdict.reason, /^[^\n]+$/);
    if (action !== "deny") assert.equal(new URL(verdict.url!).href, verdict.url);
  });
}

Deno.test("web: web.private opens addresses, and nothing else", () => {
  for (
    const url of [
      "http://127.0.0.1/",
      "http://10.0.0.1/",
      "http://169.254.169.254/",
      "http://metadata.google.internal/",
    ]
  ) {
    assert.equal(decideUrl(url, open).action, "allow", url);
  }
  for (const url of ["file:///etc/passwd", "http://u@localhost/", "x"]) {
    assert.equal(decideUrl(url, open).action, "deny", url);
  }
  assert.equal(decideUrl("http://127.0.0.1/", { hosts: [], private: "true" as never }).action, "ask");
});

Deno.test("web: host, port and class are told", () => {
  const { host, port, address } = decideUrl("https://EXAMPLE.com./x", closed);
  assert.deepEqual({ host, port, address }, { host: "example.com", port: 443, address: null });
  const literal = decideUrl("http://[::1]:81/", closed);
  assert.deepEqual([literal.host, literal.port, literal.address], ["::1", 81, "private"]);
});

const hosts: readonly (readonly [host: string, port: number, entries: unknown, allowed: boolean])[] = [
  ["example.com", 443, [], true],
  ["example.com", 443, undefined, true],
  ["example.com", 443, ["example.com"], true],
  ["example.com", 443, ["EXAMPLE.com"], true],
  ["example.com", 443, ["example.com."], true],
  ["www.example.com", 443, ["example.com"], false],
  ["www.example.com", 443, ["*.example.com"], true],
  ["a.b.example.com", 443, ["*.example.com"], true],
  ["example.com", 443, ["*.example.com"], false],
  ["evilexample.com", 443, ["*.example.com", "example.com"], false],
  ["example.com.evil.org", 443, ["*.example.com", "example.com"], false],
  ["xn--bcher-kva.example", 443, ["b\u00fccher.example"], true],
  ["example.com", 443, ["example.com:443"], true],
  ["example.com", 80, ["example.com:443"], false],
  ["example.com", 8443, ["example.com:8443"], true],
  ["::1", 80, ["[::1]"], true],
  ["::1", 81, ["[::1]:81"], true],
  ["::1", 80, ["[::1]:81"], false],
  ["127.0.0.1", 80, ["127.0.0.1"], true],
  ["127.0.0.1", 80, ["2130706433"], true],
  ["127.0.0.1", 80, ["*.0.0.1"], false],
  ["example.com", 443, ["*"], false],
  ["example.com", 443, ["*.com*"], false],
  ["example.com", 443, ["ex*mple.com"], false],
  ["example.com", 443, ["https://example.com"], false],
  ["example.com", 443, ["user@example.com"], false],
  ["example.com", 443, ["", " ", "*.", 5, null], false],
  ["example.com", 443, "example.com", false],
];
for (const [host, port, entries, allowed] of hosts) {
  Deno.test(`web.hosts: ${host}:${port} under ${JSON.stringify(entries)} is ${allowed ? "let through" : "refused"}`, () => {
    assert.equal(hostAllowed(host, port, entries as string[]), allowed);
  });
}

Deno.test("web.hosts: a listed private host still asks, an unlisted public one is denied", () => {
  const listed = { hosts: ["localhost", "example.com"], private: false };
  assert.equal(decideUrl("http://localhost:3000/", listed).action, "ask");
  assert.equal(decideUrl("https://example.com/", listed).action, "allow");
  const verdict = decideUrl("https://other.org/", listed);
  assert.deepEqual([verdict.action, verdict.rule], ["deny", "web.hosts"]);
});

Deno.test("web: an address that a name resolved to is judged by its class", () => {
  assert.equal(decideAddress("public", "a", closed).action, "allow");
  assert.equal(decideAddress("private", "a", closed).action, "ask");
  assert.equal(decideAddress("forbidden", "a", closed).action, "deny");
  assert.equal(decideAddress("forbidden", "a", open).action, "allow");
});
