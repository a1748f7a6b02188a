import { utcDateOf, utcInstant } from "../../../kernel/calendar.ts";
import { DAY, END_OF_TIME, HOUR, MINUTE, SECOND, type SimTime } from "../../../kernel/time.ts";

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)? ?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * An instant as logs write it: ISO 8601 with a `T` or a space, truncated to milliseconds, in UTC if it names
 * no zone. `undefined` for other text, including 30 February.
 */
export function parseInstant(text: string): SimTime | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const part = (index: number) => Number(match[index] ?? 0);
  const day = utcInstant(part(1), part(2), part(3));
  const date = utcDateOf(day);
  if (date.month !== part(2) || date.day !== part(3)) return undefined;
  const [hour, minute, second] = [part(4), part(5), part(6)];
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  const ms = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  const at = day + hour * HOUR + minute * MINUTE + second * SECOND + ms - zoneOffset(match[8] ?? "Z");
  return at <= END_OF_TIME && at > day - 2 * DAY ? at : undefined;
}

const TIME = String.raw`(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?|24:00(?::00(?:\.0{1,3})?)?)`;
const STRICT = new RegExp(String.raw`^\d{4}-\d{2}-\d{2}(?:T${TIME}(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d))?$`);
export const INSTANT_RULE = "must be an ISO 8601 instant like 2026-01-31T12:00:00Z";

/** An instant as an option accepts it: a day, or a time with a zone, from 1970 on. */
export function parseStrictInstant(text: string): SimTime | undefined {
  const at = STRICT.test(text) ? parseInstant(text) : undefined;
  return at !== undefined && at >= 0 ? at : undefined;
}

function zoneOffset(zone: string): number {
  if (!/^[+-]/.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  return (
    (zone.startsWith("-") ? -1 : 1) * (Number(digits.slice(0, 2)) * HOUR + Number(digits.slice(2)) * MINUTE)
  );
}
