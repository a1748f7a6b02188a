import { utcInstant } from "../../../kernel/calendar.ts";
import { END_OF_TIME, HOUR, MINUTE, SECOND, type SimTime } from "../../../kernel/time.ts";
import { isTimeZone, TimeZone } from "../../generated/time-zone.ts";
import { instantUnitOf, integerDigitsIn, millisecondsIn, type NumberUnit } from "./decimal.ts";
import { parseInstant } from "./instant.ts";
import { RecordingError } from "./recording-error.ts";

export type InstantOptions = {
  /** Unit of numbers (default: guessed from the size of the first number). */
  readonly unit?: NumberUnit | undefined;
  /** The instant that numbers count from (default: 1970-01-01T00:00:00Z). */
  readonly origin?: SimTime | undefined;
  /** Zone of instants without a zone, or with an ambiguous abbreviation such as `CET` (default: UTC). */
  readonly timeZone?: string | undefined;
};

/** What `InstantReader` accepts, for messages. */
export const INSTANT_OR_NUMBER_RULE = "must be an ISO 8601 instant, or a number since 1970";

const NAMED_ZONE = / (?!Z$|UTC$|GMT$)[A-Z]{2,5}$/;
const HAS_ZONE = /(Z|UTC|[+-]\d{2}(:?\d{2})?)$/i;
const DASH = 45;
const COLON = 58;
const decoder = new TextDecoder();

/**
 * Reads the instants of one column: ISO 8601, or seconds, milliseconds, microseconds or nanoseconds since
 * 1970.
 */
export class InstantReader {
  /** Unit of numbers: the given one, or guessed from the first number. */
  unit: NumberUnit | undefined;
  readonly #origin: SimTime;
  readonly #zone: TimeZone | undefined;
  /** Cache of one day: most rows have the same day as the previous row. */
  #day = 0;
  readonly #dayBytes = new Uint8Array(10);

  constructor({ unit, origin = 0, timeZone }: InstantOptions = {}) {
    this.unit = unit;
    this.#origin = origin;
    if (timeZone !== undefined && !isTimeZone(timeZone)) {
      throw new RecordingError(`time zone: expected a name such as Europe/Berlin, got "${timeZone}"`);
    }
    this.#zone = timeZone === undefined ? undefined : new TimeZone(timeZone);
  }

  /** Whole milliseconds, truncated; NaN if the text is not an instant. */
  read(bytes: Uint8Array, start: number, end: number): number {
    if (bytes[start + 4] === DASH) return this.#readIso(bytes, start, end);
    const digits = integerDigitsIn(bytes, start, end);
    if (digits === 0 && !Number.isFinite(millisecondsIn(bytes, start, end, "ms")))
      return this.#readText(decoder.decode(bytes.subarray(start, end)));
    this.unit ??= instantUnitOf(digits);
    const at = this.#origin + millisecondsIn(bytes, start, end, this.unit);
    return at <= END_OF_TIME ? at : Number.NaN;
  }

  /**
   * Reads `2026-01-05T00:00:00.123Z`, `2026-01-05 00:00:00` and similar forms without a string; other forms
   * take the slow path.
   */
  #readIso(bytes: Uint8Array, start: number, end: number): number {
    const isUtc = bytes[end - 1] === 90;
    const fractionEnd = isUtc ? end - 1 : end;
    if (fractionEnd - start < 19 || (!isUtc && this.#zone !== undefined) || !this.#isSameDay(bytes, start)) {
      const at = this.#readText(decoder.decode(bytes.subarray(start, end)));
      if (fractionEnd - start >= 19) this.#cacheDay(bytes, start);
      return at;
    }
    const hour = twoDigits(bytes, start + 11);
    const minute = twoDigits(bytes, start + 14);
    const second = twoDigits(bytes, start + 17);
    const ms = fractionMs(bytes, start + 19, fractionEnd);
    const isPlain =
      bytes[start + 13] === COLON &&
      bytes[start + 16] === COLON &&
      hour < 24 &&
      minute < 60 &&
      second < 60 &&
      ms >= 0;
    if (!isPlain) return this.#readText(decoder.decode(bytes.subarray(start, end)));
    return this.#day + hour * HOUR + minute * MINUTE + second * SECOND + ms;
  }

  #isSameDay(bytes: Uint8Array, start: number): boolean {
    const separator = bytes[start + 10];
    if (separator !== 84 && separator !== 32) return false;
    for (let i = 9; i >= 0; i -= 1) if (bytes[start + i] !== this.#dayBytes[i]) return false;
    return true;
  }

  #cacheDay(bytes: Uint8Array, start: number): void {
    const text = decoder.decode(bytes.subarray(start, start + 10));
    if (parseInstant(text) === undefined) return;
    this.#dayBytes.set(bytes.subarray(start, start + 10));
    this.#day = utcInstant(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10)));
  }

  #readText(text: string): number {
    const at =
      this.#zone === undefined || HAS_ZONE.test(withoutDate(text))
        ? parseInstant(text.replace(/ GMT$/, "Z"))
        : this.#readLocal(text, this.#zone);
    return at ?? Number.NaN;
  }

  #readLocal(text: string, zone: TimeZone): number | undefined {
    const local = parseInstant(text.replace(NAMED_ZONE, ""));
    return local === undefined ? undefined : zone.toInstant(local);
  }
}

/** Drops the date, whose dashes look like an offset. */
function withoutDate(text: string): string {
  return text.slice(10);
}

/** A number of two digits; 99 if they are not digits. */
function twoDigits(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [(bytes[at] as number) - 48, (bytes[at + 1] as number) - 48];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : 99;
}

/** Milliseconds of `.1`, `.123`, `.123456789` or the empty text; -1 for other text. */
function fractionMs(bytes: Uint8Array, start: number, end: number): number {
  if (start === end) return 0;
  if (bytes[start] !== 46 || end - start < 2 || end - start > 10) return -1;
  let [ms, scale] = [0, 100];
  for (let at = start + 1; at < end; at += 1) {
    const digit = (bytes[at] as number) - 48;
    if (digit < 0 || digit > 9) return -1;
    if (scale >= 1) ms += digit * scale;
    scale /= 10;
  }
  return ms;
}
