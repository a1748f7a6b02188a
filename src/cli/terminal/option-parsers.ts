import { type Command, InvalidArgumentError, Option } from "commander";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/account/api-key.ts";
import {
  DISTRIBUTION_RULE,
  type DurationDistribution,
  parseDistribution,
} from "../../platform/core/distribution.ts";
import { HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE } from "../../platform/core/hosts.ts";
import { parseDuration, type SimTime } from "../../platform/core/time.ts";
import { INSTANT_RULE, parseStrictInstant } from "../../recordings/rows/instant.ts";
import type { PointSelector } from "../../simulation/replay.ts";
import { CLOCK_RULE, type ClockSetting, parseClockSetting } from "../../simulation/world-clock.ts";
import { WORLD_NAME, WORLD_NAME_RULE } from "../../worlds/world-handle.ts";
import { CliError } from "./cli-error.ts";

export const DEFAULT_DATA = "./.standin";

/** An option with its environment variable, which its help names; flags win. An empty variable is none, and a switch's says yes or no. */
export function envOption(flags: string, description: string): Option {
  const created = new Option(flags, description);
  const name = `STANDIN_${created.name().toUpperCase().replaceAll("-", "_")}`;
  const value = process.env[name] ?? "";
  const isSet = created.required || created.optional ? value !== "" : isTruthy(name, value);
  if (isSet) return created.env(name);
  created.description += ` (env: ${name})`;
  return created;
}

function isTruthy(name: string, value: string): boolean {
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  if (/^(0|false|no|off|)$/i.test(value)) return false;
  throw new CliError(
    `${name}="${value}" is not understood; it must be 1, true, yes, on, or 0, false, no, off`,
    true,
  );
}

export function dataOption(): Option {
  return envOption("--data <dir>", "directory of the worlds").default(DEFAULT_DATA);
}

export function worldOption(): Option {
  return envOption("--world <name>", "which of its worlds")
    .argParser(parseWorldNameOption)
    .default("default");
}

function parseWorldNameOption(text: string): string {
  if (WORLD_NAME.test(text)) return text;
  throw new InvalidArgumentError(`It ${WORLD_NAME_RULE}.`);
}

/** For a command that only looks: at a directory or a file of its own, or at the directory that others take. */
export function addDataPathOptions(command: Command): Command {
  return command
    .argument("[dir]", "data directory, or a world's file, like a snapshot (default: that of --data)")
    .addOption(dataOption())
    .addOption(worldOption());
}

export function dataPathOf(pathArgument: string | undefined, command: Command): string {
  if (pathArgument !== undefined && command.getOptionValueSource("data") === "cli")
    throw new CliError("give a directory or --data, not both", true);
  return pathArgument ?? command.opts()["data"];
}

export function jsonOption(): Option {
  return new Option("--json", "answer in JSON, for machines");
}

export function integerParser(minimum: number, maximum: number, alternative = "") {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}${alternative}.`);
  };
}

export function parseInstantOption(text: string): SimTime {
  const at = parseStrictInstant(text);
  if (at !== undefined) return at;
  throw new InvalidArgumentError(`It ${INSTANT_RULE}.`);
}

/** A point in history: an instant, or an event by its sequence number. */
export function parsePointOption(text: string): PointSelector {
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) };
  try {
    return { at: parseInstantOption(text) };
  } catch {
    throw new InvalidArgumentError(`It ${INSTANT_RULE}, or the sequence number of an event.`);
  }
}

/** A secret that the user chose. Where it is none, commander's own error would show it. */
export function secretParser(name: string) {
  return (text: string): string => {
    if (SECRET_PATTERN.test(text)) return text;
    throw new CliError(`${name} ${SECRET_RULE}`, true);
  };
}

export function parseDurationOption(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError("It must be a duration like 90s, 10m, 2h or 7d, or whole milliseconds.");
}

/** How long something is kept, without an end for ever: of nothing at all, commander would make a text. */
export function parseRetentionOption(text: string): number {
  const ms = text === "forever" ? Number.POSITIVE_INFINITY : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError("It must be a duration like 90s, 10m, 2h or 7d, or forever.");
}

const MIN_BACKUP_INTERVAL_MS = 1_000;
/** The longest that a timer of Node can wait. */
const MAX_BACKUP_INTERVAL_MS = 2 ** 31 - 1;

export function parseBackupIntervalOption(text: string): number {
  const ms = parseDurationOption(text);
  if (ms >= MIN_BACKUP_INTERVAL_MS && ms <= MAX_BACKUP_INTERVAL_MS) return ms;
  throw new InvalidArgumentError("It must be a duration from 1s to 24d.");
}

/** `500MiB`, `4GiB` or bytes. */
export function parseBytesOption(text: string): number {
  const [, amount, unit = ""] = /^(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB)?$/.exec(text) ?? [];
  const value = Number(amount) * 1024 ** ["B", "KiB", "MiB", "GiB"].indexOf(unit || "B");
  if (value >= 1) return Math.floor(value);
  throw new InvalidArgumentError("It must be a size like 500MiB, 4GiB, or bytes.");
}

/** `real`, `manual`, or a factor like `60x`. */
export function parseClockOption(text: string): ClockSetting {
  const setting = parseClockSetting(text);
  if (setting !== undefined) return setting;
  throw new InvalidArgumentError(`It ${CLOCK_RULE}.`);
}

/** What host names end in. */
export function parseHostDomainOption(text: string): string {
  if (HOST_DOMAIN_PATTERN.test(text)) return text;
  throw new InvalidArgumentError(`It ${HOST_DOMAIN_RULE}.`);
}

/** How long starts take. */
export function parseStartDelayOption(text: string): DurationDistribution | "profile" {
  const distribution = text === "profile" ? text : parseDistribution(text);
  if (distribution !== undefined) return distribution;
  throw new InvalidArgumentError(`It ${DISTRIBUTION_RULE}, or profile.`);
}

/** A number in the place of the plan's. */
export function planLimitParser(minimum: number) {
  const parseLimit = integerParser(minimum, MAX_PLAN_LIMIT, ", or plan");
  return (text: string): number | "plan" => (text === "plan" ? text : parseLimit(text));
}

const MAX_PLAN_LIMIT = 1_000_000;
