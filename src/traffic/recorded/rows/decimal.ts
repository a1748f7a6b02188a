const ZERO = 48;
const POINT = 46;
const decoder = new TextDecoder();

export type NumberUnit = "s" | "ms" | "us" | "ns";
export const NUMBER_UNITS: readonly NumberUnit[] = ["s", "ms", "us", "ns"];

/** Decimal places from the unit to milliseconds. */
const DECIMAL_SHIFT: Readonly<Record<NumberUnit, number>> = { s: 3, ms: 0, us: -3, ns: -6 };

/**
 * The number in these bytes as whole milliseconds, truncated. It is read digit by digit, so that 1.001 s is
 * exactly 1001 ms, and nanoseconds since 1970 lose nothing although no double holds them. NaN for a negative
 * number or other text.
 */
export function millisecondsIn(bytes: Uint8Array, start: number, end: number, unit: NumberUnit): number {
  const point = pointIn(bytes, start, end);
  if (point < 0) return parseScientific(bytes, start, end, unit);
  const last = point + DECIMAL_SHIFT[unit];
  let value = 0;
  for (let at = start, place = 0; place < last - start; at += 1, place += 1) {
    if (at === point) at += 1;
    value = value * 10 + (at < end ? (bytes[at] as number) - ZERO : 0);
  }
  return value;
}

/** Instants from 1973 to 5138 have at most this many digits before the point, by unit. */
const UNIT_BY_DIGITS: readonly (readonly [most: number, unit: NumberUnit])[] = [
  [11, "s"],
  [14, "ms"],
  [17, "us"],
  [Number.POSITIVE_INFINITY, "ns"],
];

/** The unit of a number since 1970, from the digits before its point. */
export function instantUnitOf(digits: number): NumberUnit {
  return UNIT_BY_DIGITS.find(([maxDigits]) => digits <= maxDigits)?.[1] ?? "ms";
}

/** Number of digits before the point; 0 if the text is not a plain decimal number. */
export function integerDigitsIn(bytes: Uint8Array, start: number, end: number): number {
  const point = pointIn(bytes, start, end);
  return point < 0 ? 0 : point - start;
}

/** Position of the decimal point, or the end without one; -1 if the text is not a plain decimal number. */
function pointIn(bytes: Uint8Array, start: number, end: number): number {
  let point = end;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === POINT && point === end && at > start && at + 1 < end) point = at;
    else if (byte < ZERO || byte > ZERO + 9) return -1;
  }
  return start === end ? -1 : point;
}

/** Other notations, such as `1e-05`, `+3` and `.5`. */
function parseScientific(bytes: Uint8Array, start: number, end: number, unit: NumberUnit): number {
  const text = decoder.decode(bytes.subarray(start, end));
  if (!/^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number.NaN;
  return Math.floor(Number((Number(text) * 10 ** DECIMAL_SHIFT[unit]).toPrecision(15)));
}
