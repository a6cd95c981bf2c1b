/**
 * The environment that children get: what a program needs to run, and nothing that is worth stealing.
 *
 * @module
 */

/** Variables that are passed on when they are set. */
export const PASSED: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "VIRTUAL_ENV",
  "CARGO_HOME",
  "RUSTUP_HOME",
  "GOPATH",
  "GOROOT",
  "JAVA_HOME",
  "NVM_DIR",
  "PYENV_ROOT",
  "CONDA_PREFIX",
  // Windows cannot start most programs without these.
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "USERNAME",
  "HOMEDRIVE",
  "HOMEPATH",
  "APPDATA",
  "LOCALAPPDATA",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
];

/** What every child is told: no terminal, no colours, no pager, no questions. */
export const SETTINGS: Readonly<Record<string, string>> = {
  TERM: "dumb",
  CI: "1",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GCM_INTERACTIVE: "never",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PYTHONUNBUFFERED: "1",
  NPM_CONFIG_YES: "false",
  NPM_CONFIG_UPDATE_NOTIFIER: "false",
  NPM_CONFIG_FUND: "false",
};

/**
 * Names of variables that look like a secret, without regard to case; they are never passed on, not even by `exec.env`
 * of a configuration that names them by mistake. A `_` or the name's beginning or end bounds the short words.
 */
export const SECRET_NAMES: readonly RegExp[] = [
  /TOKEN/i,
  /SECRET/i,
  /PASSW/i,
  /PASSPHRASE/i,
  /CREDENTIAL/i,
  /API_?KEY/i,
  /PRIVATE_?KEY/i,
  /ACCESS_?KEY/i,
  /(^|_)(KEY|KEYS|PWD|PASS|PAT|AUTH|JWT|COOKIE|DSN|SAS)$/i,
  /(^|_)AUTH(_|$)/i,
  /CONNECTION_?STRING/i,
  /^(DATABASE|DB|REDIS|MONGO|MONGODB|POSTGRES|POSTGRESQL|MYSQL|AMQP|RABBITMQ)_UR[IL]$/i,
  /^(SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|KRB5CCNAME|DBUS_SESSION_BUS_ADDRESS|DOCKER_HOST)$/i,
  /^(AWS|AZURE|GCP|GOOGLE|OPENAI|ANTHROPIC|GROQ|GEMINI|MISTRAL|OPENROUTER|HF|HUGGINGFACE)_/i,
];

/** Values that look like a secret whatever their name: known token formats, and URLs that carry a password. */
export const SECRET_VALUES: readonly RegExp[] = [
  /\b(sk|pk|rk)[-_](live|test|proj|ant|or|svcacct)?[-_]?[A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/,
  /\bAIza[A-Za-z0-9_-]{30,}/,
  /\bnpm_[A-Za-z0-9]{30,}/,
  /\bpypi-[A-Za-z0-9_-]{30,}/,
  /\bhf_[A-Za-z0-9]{20,}/,
  /\bgsk_[A-Za-z0-9]{20,}/,
  /\bxai-[A-Za-z0-9]{20,}/,
  /\bya29\.[A-Za-z0-9_-]{20,}/,
  /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/,
  /\bdop_v1_[a-f0-9]{32,}/,
  /\bshp(at|ca|pa|ss)_[a-fA-F0-9]{24,}/,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\./,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/@:]*:[^\s/@]+@/i,
];

/** Names that only this program sets: a child never gets them, whoever asks. */
const OURS = /^(POLYGLAV|DENO)_/i;

/** Whether a variable looks like a secret by its name or its value; see {@link SECRET_NAMES} and {@link SECRET_VALUES}. */
export function looksSecret(name: string, value: string): boolean {
  return SECRET_NAMES.some((pattern) => pattern.test(name)) ||
    SECRET_VALUES.some((pattern) => pattern.test(value));
}

/**
 * The environment of a child.
 *
 * Passed on from `source`: {@link PASSED} and `LC_*` alone, so that variables by which a program loads other code
 * (`LD_PRELOAD`, `NODE_OPTIONS`, `BASH_ENV`, `PYTHONSTARTUP`, `GIT_*`, …) never come from outside. Entries of PATH that are
 * not absolute are dropped: with them the working directory decides which program a name means. Then
 * {@link SETTINGS}, then `additions` (`exec.env`: what the user names on purpose), of which names and values that look
 * like secrets, names of ours (`POLYGLAV_*`, `DENO_*`) and loader variables (`LD_*`, `DYLD_*`) are left out.
 *
 * @param source the host's variables
 * @param additions `exec.env` of the configuration
 */
export function childEnvironment(
  source: Readonly<Record<string, string>>,
  additions: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = {};
  const windows = Deno.build.os === "windows";
  const passed = new Set(PASSED);
  for (const [name, value] of Object.entries(source)) {
    const known = windows ? name.toUpperCase() : name;
    if (!passed.has(known) && !/^LC_[A-Z]+$/.test(known)) continue;
    if (value.includes("\0") || (known.startsWith("LC_") && looksSecret(name, value))) continue;
    env[name] = known === "PATH" ? absoluteEntries(value, windows) : value;
  }
  Object.assign(env, SETTINGS);
  for (const [name, value] of Object.entries(additions)) {
    if (acceptsAddition(name, value)) env[name] = value;
  }
  return env;
}

/** Whether `exec.env` may set this variable. */
export function acceptsAddition(name: string, value: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_()]*$/.test(name) && !value.includes("\0") && !OURS.test(name) &&
    !/^(LD|DYLD)_/i.test(name) && !looksSecret(name, value);
}

function absoluteEntries(path: string, windows: boolean): string {
  const separator = windows ? ";" : ":";
  const absolute = windows ? /^([A-Za-z]:[\\/]|\\\\)/ : /^\//;
  return path.split(separator).filter((entry) => absolute.test(entry)).join(separator);
}
