/**
 * The script for fish.
 *
 * @module
 */
import type { Level } from "./tree.ts";

/** The script. */
export function fishScript(levels: readonly Level[]): string {
  const takers = levels.flatMap(({ path, options }) =>
    options.filter(({ value }) => value !== "none")
      .flatMap(({ long, short }) => [`--${long}`, ...(short ? [`-${short}`] : [])])
      .map((each) => quote(`${path}|${each}`))
  );
  const names = levels.flatMap(({ path, commands }) => commands.map(({ text }) => quote(`${path}|${text}`)));
  return `# Completions of polyglav for fish: polyglav completions fish | source
function __polyglav_path
    set -l place ''
    set -l skip 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- "$place|$word" ${names.join(" ")}
            set place (string trim -- "$place $word")
        else if contains -- "$place|$word" ${takers.join(" ")}
            set skip 1
        end
    end
    echo $place
end

function __polyglav_at
    test (__polyglav_path)"" = "$argv[1]"
end

complete -c polyglav -f
${levels.flatMap(level).join("\n")}
`;
}

function level({ path, commands, options, words, files }: Level): string[] {
  const at = `complete -c polyglav -n ${quote(`__polyglav_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ text, hint }) => `${at} -a ${quote(text)} -d ${quote(hint)}`),
    ...(words.length > 0 ? [`${at} -a ${quote(words.join(" "))}`] : []),
    ...(files ? [`${at} -F`] : []),
    ...options.map(({ long, short, hint, value }) => {
      const takes = value === "none"
        ? ""
        : value === "file"
        ? " -r -F"
        : value === "directory"
        ? " -x -a '(__fish_complete_directories)'"
        : value === "any"
        ? " -x"
        : ` -x -a ${quote(value.join(" "))}`;
      return `${at} -l ${quote(long)}${short ? ` -s ${quote(short)}` : ""}${takes} -d ${quote(hint)}`;
    }),
  ];
}

/** Text in single quotes, as fish reads them. */
function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
