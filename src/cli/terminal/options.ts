import { type Command, Option } from "commander";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import { WORLD_NAME, WORLD_NAME_RULE } from "../../worlds/world-handle.ts";
import { CliError } from "./cli-error.ts";
import { checkInputExists } from "./input-file.ts";
import { integerParser, parsePointOption } from "./option-parsers.ts";
import { invalidValue } from "./usage-errors.ts";

/** Largest seed of a scenario run or a what-if; the seed of a world may be larger. */
const MAX_RUN_SEED = 2 ** 32 - 1;

/** An option that may be given more than once. Its parser collects the values. */
export class RepeatableOption extends Option {}

/** Makes a second value of an option that is not repeatable an error, here and in subcommands. */
export function refuseRepeatedOptions(command: Command): void {
  for (const option of command.options) {
    if (option instanceof RepeatableOption || !(option.required || option.optional)) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: option '${option.flags}' is given twice; it accepts one value`);
      isGiven = true;
    });
  }
  for (const child of command.commands) refuseRepeatedOptions(child);
}

/**
 * An option with an environment variable, which its help names. Flags take precedence. An empty variable
 * counts as unset; the variable of a switch holds yes or no.
 */
export function envOption(flags: string, description: string): Option {
  const created = new Option(flags, description);
  const name = `STANDIN_${created.name().toUpperCase().replaceAll("-", "_")}`;
  const value = process.env[name] ?? "";
  const isSet = created.required || created.optional ? value !== "" : isTruthy(name, value);
  if (isSet) return created.env(name);
  created.description = description.replace(/( \(default[^()]*\))?$/, ` (env: ${name})$1`);
  return created;
}

function isTruthy(name: string, value: string): boolean {
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off|)$/i.test(value)) return false;
  throw new CliError(`${name}: expected 1, true, yes, on, 0, false, no or off, got "${value}"`, true);
}

export function dataOption(description = "data directory"): Option {
  return envOption("--data <dir>", description)
    .argParser(parseDirectoryOption)
    .default(DEFAULT_DATA, DEFAULT_DATA);
}

/** For commands that run SQL steps in worlds of their own. */
export function enginesDataOption(): Option {
  return dataOption("data directory whose versions of Postgres run SQL steps; see standin engines");
}

/** An empty path would be the current directory, in which a script with an unset variable must not create a world. */
export function parseDirectoryOption(text: string): string {
  if (text.trim() === "") throw invalidValue("the path of a directory");
  return text;
}

export function worldOption(): Option {
  return envOption("--world <name>", "world in the data directory")
    .argParser(parseWorldNameOption)
    .default("default", "default");
}

export function parseWorldNameOption(text: string): string {
  if (WORLD_NAME.test(text)) return text;
  throw invalidValue(WORLD_NAME_RULE);
}

export function controlTokenOption(): Option {
  return envOption("--control-token <token>", "token for the server's control API");
}

/** For commands that only read: they take a path, or the same --data and --world as all others. */
export function addDataPathOptions(command: Command): Command {
  return command
    .argument("[path]", "data directory or world file, such as a snapshot (default: the value of --data)")
    .addOption(dataOption())
    .addOption(worldOption());
}

export function dataPathOf(pathArgument: string | undefined, command: Command): string {
  if (pathArgument !== undefined && command.getOptionValueSource("data") === "cli")
    throw new CliError("give either a path or --data, not both", true);
  if (pathArgument !== undefined) checkInputExists(pathArgument);
  return pathArgument ?? command.opts()["data"];
}

export function jsonOption(): Option {
  return new Option("--json", "print the result as JSON");
}

/** A point in the history of a world. `defaultText` says what applies when the option is omitted. */
export function pointOption(flags: string, meaning: string, defaultText: string): Option {
  return new Option(
    flags,
    `${meaning}: an ISO 8601 instant or an event sequence number (default: ${defaultText})`,
  ).argParser(parsePointOption);
}

export function runSeedOption(description: string): Option {
  return new Option("--seed <n>", description).argParser(integerParser(0, MAX_RUN_SEED));
}
