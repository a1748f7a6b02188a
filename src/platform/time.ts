/** An instant on the world's clock: whole milliseconds since 1970-01-01T00:00:00Z. Never the wall's. */
export type SimTime = number;

/** A span of simulated time in whole milliseconds. */
export type DurationMs = number;

export const SECOND: DurationMs = 1_000;
export const MINUTE: DurationMs = 60 * SECOND;
export const HOUR: DurationMs = 60 * MINUTE;
export const DAY: DurationMs = 24 * HOUR;
export const WEEK: DurationMs = 7 * DAY;

/** The last instant a four-digit ISO year can name; nothing is scheduled beyond it. */
export const END_OF_TIME: SimTime = 253_402_300_799_999;

const UNITS: Readonly<Record<string, DurationMs>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** `90s`, `10m`, `2h`, `7d`, `1.5h` or milliseconds; `undefined` for anything else. Whole milliseconds, never negative. */
export function parseDuration(text: string | number): DurationMs | undefined {
  const match = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)?$/.exec(String(text).trim());
  if (match === null) return undefined;
  const ms = Number(match[1]) * (UNITS[match[2] ?? "ms"] ?? 1);
  return Number.isInteger(ms) && ms <= END_OF_TIME ? ms : undefined;
}
