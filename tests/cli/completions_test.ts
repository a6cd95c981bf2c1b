import assert from "node:assert/strict";
import { completionScript } from "../../src/cli/completions.ts";
import { COMMANDS } from "../../src/cli/_table.ts";

async function run(program: string, args: readonly string[], script: string): Promise<string | null> {
  const folder = await Deno.makeTempDir({ prefix: "polyglav-" });
  try {
    await Deno.writeTextFile(`${folder}/script`, script);
    const { success, stdout, stderr } = await new Deno.Command(program, {
      args: args.map((arg) => arg.replaceAll("SCRIPT", `${folder}/script`)),
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: folder, LANG: "C.UTF-8", TERM: "dumb" },
      cwd: folder,
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.equal(new TextDecoder().decode(stderr), "");
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null; // this shell is not installed
    throw error;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a shell offers for a line; null where the shell is not installed. */
const SHELLS: Readonly<Record<string, (words: readonly string[]) => Promise<string[] | null>>> = {
  async bash(words) {
    // Bash takes "=" for a word of its own.
    const split = words.flatMap((word) => word.split(/(=)/)).filter((word, i, all) =>
      word !== "" || i === all.length - 1
    );
    const quoted = ["polyglav", ...split].map((word) => `'${word}'`).join(" ");
    const line = `. SCRIPT; COMP_WORDS=(${quoted}); COMP_CWORD=$((\${#COMP_WORDS[@]}-1)); ` +
      `compopt() { :; }; _polyglav; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return lines(await run("bash", ["--norc", "--noprofile", "-c", line], await script("bash")));
  },
  async zsh(words) {
    const quoted = ["polyglav", ...words].map((word) => `'${word}'`).join(" ");
    const line = `
      compadd() { [[ $1 == -- ]] && shift; print -l -- "$@" }
      _describe() { [[ $1 == -o ]] && shift; local each; for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done }
      _files() { print -- FILES }
      compset() { PREFIX=\${PREFIX#*=} }
      compdef() { : }
      source SCRIPT
      words=(${quoted}); CURRENT=\${#words}; PREFIX=\${words[-1]}
      _polyglav`;
    const found = lines(await run("zsh", ["-f", "-c", line], await script("zsh")));
    // What is offered is matched by the shell itself.
    const typed = words.at(-1)!.replace(/^--[^=]*=/, "");
    return found && found.filter((each) => each.startsWith(typed) || each === "FILES");
  },
  async fish(words) {
    const line = `source SCRIPT; complete -C '${["polyglav", ...words].join(" ")}'`;
    const found = lines(await run("fish", ["--no-config", "-c", line], await script("fish")));
    return found && found.map((each) => each.split("\t", 1)[0]!.replace(/^--[^=]*=/, ""));
  },
  async pwsh(words) {
    const text = ["polyglav", ...words].join(" ");
    const line = `. ./script.ps1; (TabExpansion2 -inputScript '${text}' -cursorColumn ${text.length})` +
      ".CompletionMatches | ForEach-Object { $_.CompletionText }";
    const all = `Copy-Item SCRIPT script.ps1; ${line}`;
    return lines(
      await run("pwsh", ["-NoProfile", "-NonInteractive", "-Command", all], await script("powershell")),
    );
  },
};

async function script(shell: string): Promise<string> {
  return (await completionScript(shell))!;
}

function lines(text: string | null): string[] | null {
  return text === null ? null : text.split(/\r?\n/).filter((line) => line !== "").sort();
}

for (const [shell, offers] of Object.entries(SHELLS)) {
  Deno.test(`${shell} completes commands, options, values and names of tools`, async () => {
    const all = await offers([""]);
    if (all === null) return;
    for (const { name } of COMMANDS) assert.ok(all.includes(name), name);
    assert.deepEqual(await offers(["sess"]), ["sessions"]);
    assert.deepEqual(await offers(["sessions", "ver"]), ["verify"]);
    assert.deepEqual(await offers(["run", "--unatt"]), ["--unattended"]);
    assert.deepEqual(await offers(["run", "--output", "st"]), ["stream-json"]);
    assert.deepEqual(await offers(["run", "--output=te"]), ["text"]);
    assert.deepEqual(await offers(["run", "-o", "te"]), ["text"]);
    assert.deepEqual(await offers(["tool", "file_r"]), ["file_read"]);
    assert.deepEqual(await offers(["config", "get", "confirm_"]), ["confirm_timeout"]);
    assert.deepEqual(await offers(["completions", "po"]), ["powershell"]);
  });

  Deno.test(`${shell} takes the value of an option for no command`, async () => {
    const plain = await offers(["--path", "run", "sess"]);
    if (plain === null) return;
    assert.deepEqual(plain, ["sessions"]);
    assert.deepEqual(await offers(["sessions", "show", "--output", "list", "--tr"]), ["--tree"]);
  });
}

Deno.test("there is a script for each shell that help names, and none for others", async () => {
  const { command } = await import("../../src/cli/completions.ts");
  for (const shell of command.usage!.split("|")) assert.match((await completionScript(shell))!, /polyglav/);
  assert.equal(await completionScript("csh"), null);
});

Deno.test("no summary or help text breaks the quotes of a script", async () => {
  const { levelsOf } = await import("../../src/cli/_completions/tree.ts");
  const { bashScript } = await import("../../src/cli/_completions/bash.ts");
  const nasty = `it's "$(touch hit)" \`touch hit\` \\ : done`;
  const levels = levelsOf([{
    summary: nasty,
    command: {
      name: "x",
      summary: nasty,
      options: { o: { type: "string", choices: ["a'b", "$(touch hit)"], help: nasty } },
      examples: [],
      run: () => 0,
    },
  }], { x: [nasty] });
  const out = await run("bash", ["-c", ". SCRIPT; ls"], bashScript(levels));
  assert.equal(out ?? "script\n", "script\n");
});
