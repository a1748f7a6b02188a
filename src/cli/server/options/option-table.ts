import type { Command } from "commander";
import { envOption } from "../../terminal/options.ts";

/** An option of a command, with an environment variable that is named after it. */
export type OptionRow = {
  /** `--port <n>`; a switch has no placeholder. */
  readonly flags: string;
  readonly description: string;
  /** Default: the text as it is given. */
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly default?: unknown;
  /** The default as the help prints it, if that is not its JSON. */
  readonly defaultText?: string;
  /** The option that this one cannot be combined with, as its values name it. */
  readonly conflicts?: string;
};

/** Adds the options in their order, which is that of the help, under a heading such as `History:`. */
export function addOptions(command: Command, rows: readonly OptionRow[], group?: string): Command {
  for (const { flags, description, parse, choices, default: value, defaultText, conflicts } of rows) {
    const option = envOption(flags, description);
    if (choices !== undefined) option.choices(choices);
    if (parse !== undefined) option.argParser(parse);
    if (value !== undefined) option.default(value, defaultText);
    if (conflicts !== undefined) option.conflicts(conflicts);
    if (group !== undefined) option.helpGroup(group);
    command.addOption(option);
  }
  return command;
}

/** The parsed values of a table: `--max-worlds <n>` is `maxWorlds`, required because it has a default. */
export type OptionValues<Rows extends readonly OptionRow[]> = {
  -readonly [Row in Extract<Rows[number], { readonly default: unknown }> as NameOf<Row>]: ValueOf<Row>;
} & {
  -readonly [Row in Exclude<Rows[number], { readonly default: unknown }> as NameOf<Row>]?: ValueOf<Row>;
};

type NameOf<Row extends OptionRow> = Row["flags"] extends `--${infer Name} <${string}>`
  ? CamelCase<Name>
  : Row["flags"] extends `--${infer Name}`
    ? CamelCase<Name>
    : never;

type CamelCase<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

type ValueOf<Row extends OptionRow> = Row extends { readonly parse: (text: string) => infer Value }
  ? Value
  : Row extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : Row["flags"] extends `${string} <${string}>`
      ? string
      : boolean;
