/**
 * The script for zsh.
 *
 * @module
 */
import { type Level, type LevelOption, quote, spellings, wordCases } from "./tree.ts";

/** The script: to be sourced after compinit, or kept as `_polyglav` in a folder of `fpath`. */
export function zshScript(levels: readonly Level[]): string {
  return `#compdef polyglav
# Completions of polyglav for zsh: source <(polyglav completions zsh), after compinit
_polyglav() {
  local place= word i skip= prev=\${words[CURRENT-1]}
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $skip ]]; then skip=; continue; fi
    case "$place|$word" in
${wordCases(levels, "place")}
    esac
  done
  # "--output=json" is one word here.
  if [[ $PREFIX == --*=* ]]; then
    prev=\${PREFIX%%=*}
    compset -P '*='
  fi
  case "$place" in
${levels.map(level).join("\n")}
  esac
}

if [[ \${funcstack[1]} == _polyglav ]]; then _polyglav "$@"; elif whence compdef >/dev/null; then compdef _polyglav polyglav; fi
`;
}

function level({ path, commands, options, words, files }: Level): string {
  const values = options.filter(({ value }) => value !== "none")
    .map((option) => `        ${spellings(option).join("|")}) ${offer(option)}; return ;;`);
  const described = (text: string, hint: string) => quote(`${text.replaceAll(":", "\\:")}:${hint}`);
  return `    ${quote(path)})
${
    values.length > 0
      ? `      case "$prev" in\n${values.join("\n")}\n      esac\n`
      : ""
  }      if [[ $PREFIX == -* ]]; then
        options=(${options.map(({ long, hint }) => described(`--${long}`, hint)).join(" ")})
        _describe -o option options
      else
${
    commands.length > 0
      ? `        commands=(${commands.map(({ text, hint }) => described(text, hint)).join(" ")})
        _describe command commands
`
      : ""
  }${words.length > 0 ? `        compadd -- ${words.map(quote).join(" ")}\n` : ""}${
    files ? "        _files\n" : ""
  }        true
      fi
      ;;`;
}

function offer({ value }: LevelOption): string {
  if (value === "file") return "_files";
  if (value === "directory") return "_files -/";
  return typeof value === "string" ? "true" : `compadd -- ${value.map(quote).join(" ")}`;
}
