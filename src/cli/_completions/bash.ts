/**
 * The script for bash, from 3.2 on.
 *
 * @module
 */
import { type Level, quote, spellings, wordCases } from "./tree.ts";

/** The script. */
export function bashScript(levels: readonly Level[]): string {
  return `# Completions of polyglav for bash: eval "$(polyglav completions bash)"
_polyglav_offer() {
  local line
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@" -- "$cur")
}

_polyglav() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= word i skip=
  COMPREPLY=()
  # "--output=json" comes as three words.
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $skip ]]; then
      if [[ $word != "=" ]]; then skip=; fi
      continue
    fi
    case "$path|$word" in
${wordCases(levels, "path")}
    esac
  done
  case "$path" in
${levels.map(level).join("\n")}
  esac
}

complete -F _polyglav polyglav
`;
}

function level({ path, commands, options, words, files }: Level): string {
  const values = options.filter(({ value }) => value !== "none").map((option) => {
    const { value } = option;
    const offer = value === "file"
      ? "compopt -o filenames 2>/dev/null; _polyglav_offer -f"
      : value === "directory"
      ? "compopt -o filenames 2>/dev/null; _polyglav_offer -d"
      : typeof value === "string"
      ? ":"
      : `_polyglav_offer -W ${quote(value.join(" "))}`;
    return `        ${spellings(option).join("|")}) ${offer}; return ;;`;
  });
  const names = [...commands.map(({ text }) => text), ...words];
  const dashed = options.map(({ long }) => `--${long}`);
  return `    ${quote(path)})
${
    values.length > 0
      ? `      case "$prev" in\n${values.join("\n")}\n      esac\n`
      : ""
  }      if [[ $cur == -* ]]; then
        _polyglav_offer -W ${quote(dashed.join(" "))}
      else
        _polyglav_offer -W ${quote(names.join(" "))}${
    files ? "\n        compopt -o filenames 2>/dev/null; _polyglav_offer -f" : ""
  }
      fi
      ;;`;
}
