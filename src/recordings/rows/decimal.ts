const ZERO = 48;
const POINT = 46;
const decoder = new TextDecoder();

export type NumberUnit = "s" | "ms" | "us" | "ns";

/** How many decimal places a number of the unit is away from milliseconds. */
const DECIMAL_SHIFT: Readonly<Record<NumberUnit, number>> = { s: 3, ms: 0, us: -3, ns: -6 };

/**
 * The number in these bytes as whole milliseconds, cut: digit by digit, so that 1.001 s are 1001 ms and nanoseconds since 1970, which no
 * double holds, lose nothing. NaN where it is no number, or a negative one.
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

/** So many digits before the point have the numbers of an instant from 1973 to 5138, by unit. */
const UNIT_BY_DIGITS: readonly (readonly [most: number, unit: NumberUnit])[] = [
  [11, "s"],
  [14, "ms"],
  [17, "us"],
  [Number.POSITIVE_INFINITY, "ns"],
];

/** What a number since 1970 with so many digits before its point counts. */
export function instantUnitOf(digits: number): NumberUnit {
  return UNIT_BY_DIGITS.find(([maxDigits]) => digits <= maxDigits)?.[1] ?? "ms";
}

/** How many digits are before the point; 0 where it is no plain decimal number. */
export function integerDigitsIn(bytes: Uint8Array, start: number, end: number): number {
  const point = pointIn(bytes, start, end);
  return point < 0 ? 0 : point - start;
}

/** Where the decimal point is or would be; -1 where this is no plain decimal number. */
function pointIn(bytes: Uint8Array, start: number, end: number): number {
  let point = end;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    if (byte === POINT && point === end && at > start && at + 1 < end) point = at;
    else if (byte < ZERO || byte > ZERO + 9) return -1;
  }
  return start === end ? -1 : point;
}

/** `1e-05`, `+3`, `.5`: what other programs write now and then. */
function parseScientific(bytes: Uint8Array, start: number, end: number, unit: NumberUnit): number {
  const text = decoder.decode(bytes.subarray(start, end));
  if (!/^\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number.NaN;
  return Math.floor(Number((Number(text) * 10 ** DECIMAL_SHIFT[unit]).toPrecision(15)));
}
