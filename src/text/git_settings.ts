/**
 * Git's settings that start programs, write elsewhere or reach the network, and what they are set to so that a
 * repository, which somebody else may have written, cannot use them. Floor: git 2.39.
 *
 * @module
 */

/** Settings by name, for commands that only look or commit. */
export const GIT_OVERRIDES: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["core.sshCommand", "false"],
  ["core.gitProxy", ""],
  ["core.askPass", ""],
  ["core.alternateRefsCommand", "true"],
  ["credential.helper", ""],
  ["sequence.editor", "true"],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["interactive.diffFilter", ""],
  ["log.showSignature", "false"],
  ["format.pretty", "medium"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["push.gpgSign", "false"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.ssh.defaultKeyCommand", "false"],
  ["commit.verbose", "false"],
  ["gc.auto", "0"],
  ["gc.recentObjectsHook", ""],
  ["maintenance.auto", "false"],
  ["uploadpack.packObjectsHook", ""],
  ["protocol.allow", "never"],
  ["safe.bareRepository", "explicit"],
  ["color.ui", "false"],
];

/** Variables that go before settings, or that have none. */
export const GIT_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_PAGER: "cat",
  GIT_SSH_COMMAND: "false",
  GIT_MERGE_AUTOEDIT: "no",
};

/** Settings as variables (`GIT_CONFIG_COUNT`, git 2.31): names of any shape survive, and git's own children inherit them. */
export function gitConfigVariables(pairs: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) };
  pairs.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  });
  return env;
}

/** The entries of `git config --list -z`: key (section and variable in lower case) and value. */
export function gitConfigEntries(list: string): [string, string][] {
  return list.split("\0").filter((entry) => entry !== "").map((entry) => {
    const end = entry.indexOf("\n");
    return end === -1 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
  });
}
