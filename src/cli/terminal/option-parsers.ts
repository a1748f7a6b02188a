import {
  DISTRIBUTION_RULE,
  type DurationDistribution,
  parseDistribution,
} from "../../kernel/distribution.ts";
import { MAX_SHARDS, parseShard, type Shard } from "../../kernel/shard.ts";
import { DAY, parseDuration, type SimTime } from "../../kernel/time.ts";
import { SECRET_PATTERN, SECRET_RULE } from "../../platform/model/api-key.ts";
import { HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE } from "../../platform/rules/compute/host-name.ts";
import type { PointSelector } from "../../simulation/replay.ts";
import { CLOCK_RULE, type ClockSetting, parseClockSetting } from "../../simulation/world-clock.ts";
import { isTimeZone } from "../../traffic/generated/time-zone.ts";
import { INSTANT_RULE, parseStrictInstant } from "../../traffic/recorded/rows/instant.ts";
import { CliError } from "./cli-error.ts";
import { invalidValue } from "./usage-errors.ts";

export function integerParser(minimum: number, maximum: number, alternative = "") {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= minimum && value <= maximum) return value;
    throw invalidValue(`a whole number from ${minimum} to ${maximum}${alternative}`);
  };
}

export function parseShardOption(text: string): Shard {
  const shard = parseShard(text);
  if (shard !== undefined) return shard;
  throw invalidValue(`a part such as 1/3, of at most ${MAX_SHARDS} parts`);
}

export function parseInstantOption(text: string): SimTime {
  const at = parseStrictInstant(text);
  if (at !== undefined) return at;
  throw invalidValue(INSTANT_RULE);
}

/** A point in history: an instant, or the sequence number of an event. */
export function parsePointOption(text: string): PointSelector {
  if (/^\d{1,15}$/.test(text)) return { seq: Number(text) };
  try {
    return { at: parseInstantOption(text) };
  } catch {
    throw invalidValue(`${INSTANT_RULE}, or the sequence number of an event`);
  }
}

/**
 * A secret chosen by the user. Throws a `CliError`, because the error of commander would print the secret.
 */
export function secretParser(name: string) {
  return (text: string): string => {
    if (SECRET_PATTERN.test(text)) return text;
    throw new CliError(`${name} ${SECRET_RULE}`, true);
  };
}

export function parseDurationOption(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw invalidValue(
    /^\d+$/.test(text)
      ? `a unit, such as ${text}s or ${text}ms`
      : "a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d",
  );
}

/** A duration; a number without a unit is milliseconds. */
export function parseMillisecondsOption(text: string): number {
  return parseDurationOption(/^\d+$/.test(text) ? `${text}ms` : text);
}

/**
 * A retention period; infinite for `forever`, because commander does not accept `undefined` as a parsed
 * value.
 */
export function parseRetentionOption(text: string): number {
  const ms = text === "forever" ? Number.POSITIVE_INFINITY : parseDuration(text);
  if (ms !== undefined) return ms;
  throw invalidValue("a duration with a unit, such as 90s, 10m, 2h or 7d, or forever");
}

const MIN_BACKUP_INTERVAL_MS = 1_000;
/** The longest delay of a Node timer. */
const MAX_BACKUP_INTERVAL_MS = 2 ** 31 - 1;

export function parseBackupIntervalOption(text: string): number {
  const ms = parseDurationOption(text);
  if (ms >= MIN_BACKUP_INTERVAL_MS && ms <= MAX_BACKUP_INTERVAL_MS) return ms;
  throw invalidValue("a duration from 1s to 24d");
}

const MIN_IDLE_MS = 1_000;
const MAX_IDLE_MS = 3650 * DAY;

/** Wall-clock time without a request after which something happens to a world; 0: never. */
export function parseIdleTimeOption(text: string): number {
  const ms = text === "0" ? 0 : parseDurationOption(text);
  if (ms === 0 || (ms >= MIN_IDLE_MS && ms <= MAX_IDLE_MS)) return ms;
  throw invalidValue("a duration from 1s to 3650d, or 0 for never");
}

/** Powers of 1,000, and with an `i` of 1,024. */
const BYTE_UNITS = ["", "k", "M", "G", "T"];

/** `500MiB`, `2GB` or bytes; case does not matter. */
export function parseBytesOption(text: string): number {
  const [, amount, prefix = "", binary] = /^(\d+(?:\.\d+)?) ?(?:([kmgt]?)(i?)b)?$/i.exec(text) ?? [];
  const power = BYTE_UNITS.findIndex((unit) => unit.toLowerCase() === prefix.toLowerCase());
  const value = Number(amount) * ((binary ?? "") === "" ? 1_000 : 1_024) ** power;
  if (value >= 1) return Math.floor(value);
  throw invalidValue("a size such as 500MiB, 4GiB or 2GB, or a number of bytes");
}

/** `real`, `manual`, or a factor such as `60x`. */
export function parseClockOption(text: string): ClockSetting {
  const setting = parseClockSetting(text);
  if (setting !== undefined) return setting;
  throw invalidValue(CLOCK_RULE);
}

/** The URL of a server of standin, without the path of one of its APIs. */
export function parseServerUrlOption(text: string): string {
  const { protocol } = URL.canParse(text) ? new URL(text) : { protocol: undefined };
  if (protocol === "http:" || protocol === "https:") return text;
  throw invalidValue("the URL of a server, such as http://127.0.0.1:4620");
}

export function parseTimeZoneOption(text: string): string {
  if (isTimeZone(text)) return text;
  throw invalidValue("the name of a time zone, such as Europe/Berlin or UTC");
}

export function parseHostDomainOption(text: string): string {
  if (HOST_DOMAIN_PATTERN.test(text)) return text;
  throw invalidValue(HOST_DOMAIN_RULE);
}

export function parseStartDelayOption(text: string): DurationDistribution | "profile" {
  const distribution = text === "profile" ? text : parseDistribution(text);
  if (distribution !== undefined) return distribution;
  throw invalidValue(`${DISTRIBUTION_RULE}, or profile`);
}

/** A limit that replaces that of the plan, or `plan` to remove the override. */
export function planLimitParser(minimum: number) {
  const parseLimit = integerParser(minimum, MAX_PLAN_LIMIT, ", or plan");
  return (text: string): number | "plan" => (text === "plan" ? text : parseLimit(text));
}

const MAX_PLAN_LIMIT = 1_000_000;
