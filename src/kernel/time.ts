/** An instant on the world's clock, never wall-clock time: whole milliseconds since 1970-01-01T00:00:00Z. */
export type SimTime = number;

/** A span of simulated time in whole milliseconds. */
export type DurationMs = number;

export const SECOND: DurationMs = 1_000;
export const MINUTE: DurationMs = 60 * SECOND;
export const HOUR: DurationMs = 60 * MINUTE;
export const DAY: DurationMs = 24 * HOUR;
export const WEEK: DurationMs = 7 * DAY;

/** The last instant with a four-digit ISO year. Nothing is scheduled after it. */
export const END_OF_TIME: SimTime = 253_402_300_799_999;

const DURATION_UNITS: Readonly<Record<string, DurationMs>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/**
 * Parses `90s`, `10m`, `2h`, `7d`, `1.5h` or `1h 30m` into whole milliseconds, never negative. Rejects a
 * number without a unit, except 0.
 */
export function parseDuration(text: string | number): DurationMs | undefined {
  const trimmed = String(text).trim();
  if (/^\d+(\.\d+)? ?(ms|s|m|h|d)( \d+(\.\d+)?(ms|s|m|h|d))+$/.test(trimmed))
    return sumDurations(trimmed.split(/(?<=[a-z]) /));
  if (trimmed === "0") return 0;
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/.exec(trimmed);
  if (match === null) return undefined;
  const ms = Number(match[1]) * (DURATION_UNITS[match[2] ?? ""] ?? 1);
  return Number.isInteger(ms) && ms <= END_OF_TIME ? ms : undefined;
}

function sumDurations(parts: readonly string[]): DurationMs | undefined {
  let sum = 0;
  for (const part of parts) {
    const ms = parseDuration(part);
    if (ms === undefined) return undefined;
    sum += ms;
  }
  return sum <= END_OF_TIME ? sum : undefined;
}
