import assert from "node:assert/strict";
import { COMMAND_TABLE } from "../../src/policy/command_table.ts";
import { offeredPrefixes } from "../../src/policy/prefixes.ts";
import { checkCommand, planAllowed } from "../../src/policy/shell_command.ts";

const place = { worktree: "/w", cwd: "/w", env: {}, shell: "/bin/sh", home: "/home/u" };

const ROWS: readonly [string, readonly string[], readonly string[] | null][] = [
  ["git status", [], ["git status"]],
  ["git status --short", [], ["git status"]],
  ["git log -3 && git push origin", [], ["git log", "git push"]],
  ["git log -3 && git push origin", ["git log"], ["git push"]],
  ["ls -l src", [], ["ls"]],
  ["ls *.ts | wc -l", [], ["ls", "wc"]],
  ["cd src && ls", [], ["ls"]],
  ["npm test", [], ["npm test"]],
  ["npm run build", [], ["npm run build"]],
  ["frobnicate now --hard", [], ["frobnicate now"]],
  ["ls; ls -a", [], ["ls"]],
  // What runs already needs no rule.
  ["ls", ["ls"], null],
  // Programs that start what their arguments say, and scripts.
  ["bash -c 'rm -rf /'", [], null],
  ["sh build.sh", [], null],
  ["node x.js", [], null],
  ["python3 -c 'print(1)'", [], null],
  ["env rm x", [], null],
  ["sudo npm test", [], null],
  ["xargs rm", [], null],
  ["timeout 5 make", [], null],
  ["./build.sh", [], null],
  ["/usr/bin/ls", [], null],
  ["npm exec evil", [], null],
  ["npx evil", [], null],
  ["npm run", [], null],
  ["npm run ../x", [], null],
  ["find . -exec rm {} ;", [], null],
  ["git -c core.pager=x log", [], null],
  ["git", [], null],
  ["git $X", [], null],
  // Programs that write where their operands say, and words under which settings start something later.
  ["cp a b", [], null],
  ["mv a b", [], null],
  ["rm a", [], null],
  ["ln -s a b", [], null],
  ["install a b", [], null],
  ["dd if=a of=b", [], null],
  ["tee a", [], null],
  ["chmod +x a", [], null],
  ["patch a", [], null],
  ["rsync a b", [], null],
  ["ls | tee a", [], null],
  ["docker compose up", [], null],
  ["docker cp a b", [], null],
  ["git config user.name", [], null],
  ["npm config get registry", [], null],
  ["gh alias list", [], null],
  ["gh extension list", [], null],
  ["gh api x", [], null],
  ["code .", [], null],
  // What no list lets through.
  ["ls $(id)", [], null],
  ["for a in b; do ls; done", [], null],
  ["X=1 ls", [], null],
  ["ls && node x.js", [], null],
  ["eval ls", [], null],
  ["", [], null],
];

for (const [command, existing, wanted] of ROWS) {
  Deno.test(`prefixes: ${JSON.stringify(command)} beside [${existing}] offers ${JSON.stringify(wanted)}`, () => {
    assert.deepEqual(offeredPrefixes(command, existing, place), wanted);
  });
}

Deno.test("prefixes: what is offered lets the command run, and no argument that the table keeps back", () => {
  let offered = 0;
  for (const entry of COMMAND_TABLE) {
    const rows = [...entry.rows, ...entry.subcommands ? [entry.subcommands] : []];
    for (const { refused, allowed } of rows) {
      const prefixes = offeredPrefixes(allowed, [], place);
      if (prefixes === null) continue;
      offered++;
      assert.ok(planAllowed(checkCommand(allowed, { ...place, prefixes })), allowed);
      for (const row of entry.rows) {
        assert.ok(
          !planAllowed(checkCommand(row.refused, { ...place, prefixes })) ||
            prefixes.includes(row.prefix ?? ""),
          `${prefixes} (of ${allowed}) lets ${row.refused} through`,
        );
      }
      void refused;
    }
    // Nor may what is refused be made a rule itself, but for a subcommand that is spelled out.
    for (const { refused } of entry.rows) {
      for (const prefix of offeredPrefixes(refused, [], place) ?? []) {
        assert.match(prefix, /^[\w.+-]+ [\w.:+-]+( [\w:+-]+)?$/, `${refused} offers ${prefix}`);
      }
    }
  }
  assert.ok(offered > 20, `${offered}`);
});
