/** A value that the platform's decoder refuses. The message is in the words of Go. */
export class DecodeFailure extends Error {}

/** D: what `errors.Wrap` of the decoder's library makes of a failure. */
export function within<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw error instanceof DecodeFailure ? new DecodeFailure(`${what}: ${error.message}`) : error;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\\": "\\\\",
};

/** Go's `%q` of one byte: the character with this number, in single quotes. */
export function quotedByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === "'") return "'\\''";
  const escaped = ESCAPES[character];
  if (escaped !== undefined) return `'${escaped}'`;
  if (byte < 0x20 || byte === 0x7f) return `'\\x${byte.toString(16).padStart(2, "0")}'`;
  // 0xad is the soft hyphen.
  if ((byte > 0x7f && byte <= 0xa0) || byte === 0xad) return `'\\u00${byte.toString(16)}'`;
  return `'${character}'`;
}

/** Go's `%q` of a text. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

const RFC_3339 = "2006-01-02T15:04:05Z07:00";

/** The parts of `RFC_3339`: how Go writes them, what they match, and what is in range. */
const PARTS: readonly {
  readonly name: string;
  readonly form: RegExp;
  readonly range?: readonly [name: string, from: number, to: number];
}[] = [
  { name: "2006", form: /^\d{4}/ },
  { name: "-", form: /^-/ },
  { name: "01", form: /^\d{2}/, range: ["month", 1, 12] },
  { name: "-", form: /^-/ },
  { name: "02", form: /^\d{2}/, range: ["day", 1, 31] },
  { name: "T", form: /^T/ },
  { name: "15", form: /^\d{1,2}/, range: ["hour", 0, 23] },
  { name: ":", form: /^:/ },
  { name: "04", form: /^\d{2}/, range: ["minute", 0, 59] },
  { name: ":", form: /^:/ },
  { name: "05", form: /^\d{2}([.,]\d+)?/, range: ["second", 0, 59] },
  { name: "Z07:00", form: /^(Z|[+-]\d{2}:\d{2})/ },
];

/** Reads an instant as Go's `time.Parse` does. */
export function parseDateTime(text: string): void {
  const start = `parsing time ${quoted(text)}`;
  let rest = text;
  for (const { name, form, range } of PARTS) {
    const [found] = form.exec(rest) ?? [];
    if (found === undefined)
      throw new DecodeFailure(
        `${start} as ${quoted(RFC_3339)}: cannot parse ${quoted(rest)} as ${quoted(name)}`,
      );
    const number = Number.parseInt(found, 10);
    if (range !== undefined && (number < range[1] || number > range[2]))
      throw new DecodeFailure(`${start}: ${range[0]} out of range`);
    rest = rest.slice(found.length);
  }
  if (rest !== "") throw new DecodeFailure(`${start}: extra text: ${quoted(rest)}`);
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split("-").map(Number);
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate())
    throw new DecodeFailure(`${start}: day out of range`);
}

/** The largest numbers of Go's types of integers. */
const LARGEST: Readonly<Record<string, bigint>> = { int: 2n ** 63n, int64: 2n ** 63n, int32: 2n ** 31n };

export function isOutOfRange(type: string, digits: string): boolean {
  const largest = LARGEST[type];
  if (largest === undefined) return false;
  const value = BigInt(digits);
  return value >= largest || value < -largest;
}
