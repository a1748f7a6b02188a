import { shellQuoted } from "./quote.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Words that can follow one command. */
export type CompletedCommand = {
  readonly path: readonly string[];
  readonly description: string;
  readonly commands: readonly string[];
  /** Values of its arguments. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
};
type CompletedOption = {
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[];
  readonly hasValue: boolean;
};

/**
 * zsh loads the file as the function _standin at the first completion, and only the commands of the file run.
 */
const ZSH_FIRST_COMPLETION = `if [[ "$funcstack[1]" == _standin ]]; then
  _bash_complete -o default -F _standin
fi
`;

/** A script that completes these commands. Where it knows no value, the shell completes file names. */
export function completionScript(shell: Shell, commands: readonly CompletedCommand[]): string {
  if (shell === "fish") return fishScript(commands);
  const script = bashScript(commands);
  return shell === "bash"
    ? script
    : `#compdef standin\nautoload -U +X bashcompinit && bashcompinit\n${script}${ZSH_FIRST_COMPLETION}`;
}

function bashScript(commands: readonly CompletedCommand[]): string {
  const below = commands.filter(({ path }) => path.length > 0);
  const valueCases = commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, choices, hasValue }) =>
      hasValue
        ? [`    ${shellQuoted(`${pathText(path)} ${name}`)}) words=${shellQuoted(choices.join(" "))} ;;`]
        : [],
    ),
  );
  const wordCases = commands.map(({ path, commands: names, choices, options }) => {
    const words = [...names, ...choices, ...options.map(({ name }) => name)];
    return `        ${shellQuoted(pathText(path))}) words=${shellQuoted(words.join(" "))} ;;`;
  });
  return `_standin() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/\${COMP_WORDS[i]}" in
      ${below.map(({ path }) => pathText(path)).join("|")}) path="$path/\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $previous" in
${valueCases.join("\n")}
    *)
      case "$path" in
${wordCases.join("\n")}
      esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _standin standin
`;
}

/** `/clock/set`; empty for the program. */
function pathText(path: readonly string[]): string {
  return path.map((name) => `/${name}`).join("");
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ path, commands: names, choices, options }) => {
    const condition = fishCondition(path, names);
    const line = (rest: string) => `complete -c standin -n ${shellQuoted(condition)} ${rest}`;
    const descriptionOf = (name: string) =>
      commands.find((child) => pathText(child.path) === pathText([...path, name]))?.description ?? "";
    return [
      ...names.map((name) => line(`-f -a ${name} -d ${shellQuoted(descriptionOf(name))}`)),
      ...(choices.length === 0 ? [] : [line(`-f -a ${shellQuoted(choices.join(" "))}`)]),
      ...options.map(({ name, description, choices: values, hasValue }) => {
        const value = values.length > 0 ? ` -x -a ${shellQuoted(values.join(" "))}` : hasValue ? " -r" : "";
        return line(`-l ${name.replace(/^--/, "")}${value} -d ${shellQuoted(description)}`);
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}

/** Holds where the command of this path is complete, but none of those below it. */
function fishCondition(path: readonly string[], below: readonly string[]): string {
  if (path.length === 0) return "__fish_use_subcommand";
  const seen = path.map((name) => `__fish_seen_subcommand_from ${name}`);
  const unseen = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(" ")}`];
  return [...seen, ...unseen].join("; and ");
}
