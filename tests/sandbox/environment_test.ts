import assert from "node:assert/strict";
import {
  acceptsAddition,
  childEnvironment,
  looksSecret,
  PASSED,
  SETTINGS,
} from "../../src/sandbox/environment.ts";

const windows = Deno.build.os === "windows";
const PATH = windows ? "C:\\Windows" : "/usr/bin:/bin";

Deno.test("a child gets the basics and the settings, nothing else", () => {
  const env = childEnvironment({
    PATH,
    HOME: "/home/u",
    LANG: "C.UTF-8",
    LC_TIME: "de_DE",
    TZ: "UTC",
    TERM: "xterm",
    FOO: "bar",
  });
  assert.deepEqual(env, { PATH, HOME: "/home/u", LANG: "C.UTF-8", LC_TIME: "de_DE", TZ: "UTC", ...SETTINGS });
  assert.equal(SETTINGS.TERM, "dumb");
});

Deno.test("no key, token or secret passes, whatever it is called", () => {
  const source = {
    PATH,
    OPENAI_API_KEY: "sk-1",
    ANTHROPIC_API_KEY: "x",
    GITHUB_TOKEN: "x",
    GH_TOKEN: "x",
    AWS_ACCESS_KEY_ID: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    AWS_PROFILE: "x",
    NPM_TOKEN: "x",
    DATABASE_URL: "postgres://u:p@h/d",
    MY_PASSWORD: "x",
    SSH_AUTH_SOCK: "/tmp/agent",
    DBUS_SESSION_BUS_ADDRESS: "unix:path=/run/bus",
    DOCKER_HOST: "unix:///x",
    POLYGLAV_TRUST: "1",
    POLYGLAV_DEBUG: "1",
    DENO_DIR: "/x",
    DENO_AUTH_TOKENS: "x",
    ANYTHING: "x",
  };
  assert.deepEqual(childEnvironment(source), { PATH, ...SETTINGS });
});

Deno.test("variables that load or start other code do not come from outside", () => {
  const names = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PERL5OPT",
    "PERL5LIB",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_COUNT",
    "GIT_DIR",
    "EDITOR",
    "VISUAL",
    "LESSOPEN",
    "BASH_FUNC_ls%%",
    "IFS",
    "RUSTC_WRAPPER",
    "GCONV_PATH",
  ];
  const env = childEnvironment(Object.fromEntries(names.map((name) => [name, "/evil"])));
  assert.deepEqual(env, { ...SETTINGS });
});

Deno.test({ name: "PATH keeps absolute entries alone", ignore: windows }, () => {
  assert.equal(childEnvironment({ PATH: ".:/usr/bin::bin:./x:~/bin:/bin:" }).PATH, "/usr/bin:/bin");
});

Deno.test("a PATH that looks odd is kept: without it nothing runs", () => {
  const path = windows ? "C:\\sk-learn-environment-1234567890" : "/opt/sk-learn-environment-1234567890/bin";
  assert.equal(childEnvironment({ PATH: path }).PATH, path);
});

Deno.test("exec.env adds and overrides, but not what is ours, a loader's or a secret's", () => {
  const env = childEnvironment({ PATH }, {
    FOO: "bar",
    TERM: "xterm",
    NODE_OPTIONS: "--max-old-space-size=4096",
    POLYGLAV_TRUST: "1",
    deno_dir: "/x",
    LD_PRELOAD: "/x.so",
    MY_API_TOKEN: "x",
    PLAIN: `ghp_${"a".repeat(36)}`,
    URL: "https://user:secret@host/x",
    "BAD NAME": "x",
    NUL: "a\0b",
    CI: "0",
  });
  assert.deepEqual(env, {
    PATH,
    ...SETTINGS,
    FOO: "bar",
    TERM: "xterm",
    NODE_OPTIONS: "--max-old-space-size=4096",
    CI: "0",
  });
});

Deno.test("secrets are known by name and by value", () => {
  const secret: [string, string][] = [
    ["STRIPE_SECRET", "x"],
    ["CI_JOB_JWT", "x"],
    ["SENTRY_DSN", "x"],
    ["SIGNING_KEY", "x"],
    ["ADMIN_PASS", "x"],
    ["AZURE_CLIENT_ID", "x"],
    ["X", "sk-proj-abcdefghijklmnopqrstuvwx"],
    ["X", "github_pat_11ABCDEFGHIJKLMNOPQRSTU"],
    ["X", "glpat-abcdefghijklmnopqrst"],
    ["X", "xoxb-123456789012-abcdef"],
    ["X", "AKIAABCDEFGHIJKLMNOP"],
    ["X", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"],
    ["X", "-----BEGIN RSA PRIVATE KEY-----"],
    ["X", "redis://:pw@host:6379"],
  ];
  for (const [name, value] of secret) assert.ok(looksSecret(name, value), `${name}=${value}`);
  const plain: [string, string][] = [
    ["KEYBOARD", "de"],
    ["MONKEY", "x"],
    ["AUTHOR", "me"],
    ["PWD_COUNT", "1"],
    ["COMPASS", "n"],
    ["RUST_LOG", "debug"],
    ["URL", "https://host/path@x"],
    ["CFLAGS", "-O2"],
  ];
  for (const [name, value] of plain) {
    assert.ok(!looksSecret(name, value), `${name}=${value}`);
    assert.ok(acceptsAddition(name, value), name);
  }
});

Deno.test("the source is not changed", () => {
  const source = Object.freeze({ PATH, HOME: "/h" });
  childEnvironment(source, Object.freeze({ A: "1" }));
  assert.deepEqual(source, { PATH, HOME: "/h" });
});

Deno.test("the documentation's list of secrets is what holds", () => {
  const text = Deno.readTextFileSync(new URL("../../src/sandbox/README.md", import.meta.url));
  const section = text.split("\n## ").find((part) => part.startsWith("What children get"))!;
  const items = section.split(/\n- /).slice(1).map((item) =>
    [...item.split("\n\n")[0]!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
  );
  assert.equal(items.length, 6);
  const [held, ended, urls, sockets, providers, values] = items as [
    string[],
    string[],
    string[],
    string[],
    string[],
    string[],
  ];
  assert.ok(items.every((item) => item.length >= 5));
  const named = (name: string) =>
    assert.ok(looksSecret(name, "x") && looksSecret(name.toLowerCase(), "x"), name);
  for (const word of held) named(`A_${word}_B`);
  for (const word of ended) for (const name of [word, `MY_${word}`]) named(name);
  for (const name of [...urls, ...sockets]) named(name);
  for (const name of providers) named(name.replace("*", "X"));
  const filler = "0123456789abcdef0123456789abcdef01234567";
  for (const form of values) {
    const value = form.startsWith("AKIA") ? "AKIA0123456789ABCDEF" : form.replaceAll("…", filler);
    assert.ok(looksSecret("X", value), value);
  }
  const table = section.slice(0, section.indexOf("| set |"));
  for (const name of PASSED.slice(0, PASSED.indexOf("SYSTEMROOT"))) {
    const kind = /^XDG_(.*)_HOME$/.exec(name)?.[1];
    assert.ok(kind ? table.includes(kind) : table.includes(`\`${name}\``), name);
  }
});
