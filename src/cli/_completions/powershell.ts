/**
 * The script for PowerShell, from 5.1 on.
 *
 * @module
 */
import { type Level, spellings } from "./tree.ts";

/** The script. */
export function powershellScript(levels: readonly Level[]): string {
  return `# Completions of polyglav for PowerShell: polyglav completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName polyglav -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $levels = @{
${levels.map(level).join("\n")}
  }
  $path = ''
  $previous = ''
  $elements = @($commandAst.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $_.Extent.Text -ne $wordToComplete } |
    ForEach-Object { $_.Extent.Text })
  foreach ($word in $elements) {
    $level = $levels[$path]
    if ($previous -ne '' -and $level.values.ContainsKey($previous)) { $previous = ''; continue }
    $previous = $word
    if ($level.commands.Contains($word)) { $path = "$path $word".Trim(); $previous = '' }
  }
  $level = $levels[$path]
  $offer = if ($previous -ne '' -and $level.values.ContainsKey($previous)) {
    $level.values[$previous] | ForEach-Object { , @($_, $_) }
  } elseif ($wordToComplete.StartsWith('-')) {
    $level.options.GetEnumerator() | ForEach-Object { , @($_.Key, $_.Value) }
  } else {
    $level.commands.GetEnumerator() | ForEach-Object { , @($_.Key, $_.Value) }
    $level.words | ForEach-Object { , @($_, $_) }
  }
  $offer | Where-Object { $_ -and $_[0] -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterValue', $_[1])
  }
}
`;
}

function level({ path, commands, options, words }: Level): string {
  const takers = options.filter(({ value }) => value !== "none").flatMap((option) =>
    spellings(option).map((each) =>
      `${quote(each)} = @(${typeof option.value === "string" ? "" : option.value.map(quote).join(", ")})`
    )
  );
  const pairs = (entries: readonly (readonly [string, string])[]) =>
    `[ordered]@{ ${entries.map(([name, hint]) => `${quote(name)} = ${quote(hint)}`).join("; ")} }`;
  return `    ${quote(path)} = @{
      commands = ${pairs(commands.map(({ text, hint }) => [text, hint]))}
      options = ${pairs(options.map(({ long, hint }) => [`--${long}`, hint]))}
      words = @(${words.map(quote).join(", ")})
      values = @{ ${takers.join("; ")} }
    }`;
}

/** Text in single quotes, as PowerShell reads them. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
