import { DecodeFailure, isOutOfRange, quotedByte, within } from "./go-words.ts";

const [QUOTE, COLON, COMMA, MINUS, DOT, PLUS, LETTER_U] = [0x22, 0x3a, 0x2c, 0x2d, 0x2e, 0x2b, 0x75];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, BACKSLASH] = [0x5b, 0x5d, 0x7b, 0x7d, 0x5c];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x09, 0x0d]);
/** `.`, `e`, `E`, `+` and `-`. */
const FLOATING: ReadonlySet<number> = new Set([DOT, 0x65, 0x45, PLUS, MINUS]);
const ESCAPED: ReadonlySet<number> = new Set([...'"\\/bfnrtu'].map((character) => character.charCodeAt(0)));

/**
 * Reads JSON from its beginning, as the decoder of the platform does, and fails with its words. D: the published source
 * of `go-faster/jx`, which `ogen-go/ogen` uses. Values are checked, not returned. Levels are limited before.
 */
export class JsonReader {
  readonly #bytes: Uint8Array;
  readonly #decoder = new TextDecoder();
  #at = 0;

  constructor(text: string) {
    this.#bytes = new TextEncoder().encode(text);
  }

  /** Reads an object; `readValue` reads the value of each name. */
  object(readValue: (name: string) => void): void {
    within('"{" expected', () => this.#consume(OPEN_OBJECT));
    if (within('\'"\' or "}" expected', () => this.peek()) === CLOSE_OBJECT) {
      this.#at += 1;
      return;
    }
    for (let isFirst = true; ; isFirst = false) {
      const name = within("field name", () => this.string());
      within('":" expected', () => this.#consume(COLON));
      this.peek();
      within("callback", () => readValue(name));
      const next = isFirst ? within('"," or "}" expected', () => this.#next()) : this.#next();
      if (next === CLOSE_OBJECT) return;
      if (next !== COMMA) within('"}" expected', () => this.#refuse(this.#at - 1));
    }
  }

  /** Reads a list; `readItem` reads each item. */
  list(readItem: () => void): void {
    within('"[" expected', () => this.#consume(OPEN_LIST));
    if (within('value or "]" expected', () => this.peek()) === CLOSE_LIST) {
      this.#at += 1;
      return;
    }
    for (let isFirst = true; ; isFirst = false) {
      within("callback", readItem);
      const next = isFirst ? within('"," or "]" expected', () => this.#next()) : this.#nextOrEnd();
      if (next === CLOSE_LIST) return;
      if (next !== COMMA) within('"]" expected', () => this.#refuse(this.#at - 1));
      this.#requireMore();
    }
  }

  string(): string {
    this.#consume(QUOTE);
    const start = this.#at;
    this.#restOfString(() => within("escape", () => this.#escape()));
    const text = this.#textFrom(start, this.#at - 1);
    return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
  }

  integer(type: string): void {
    let start = this.#skipSpace();
    if (this.#byte() === MINUS) {
      start += 1;
      this.#byte();
    }
    if (!this.#isDigit(start)) this.#refuse(start);
    const startsWithZero = this.#bytes[start] === 0x30;
    while (this.#isDigit(this.#at)) {
      if (startsWithZero) within("digit after leading zero", () => this.#refuse(this.#at));
      this.#at += 1;
    }
    const end = this.#bytes[this.#at];
    if (end !== undefined && FLOATING.has(end))
      within("unexpected floating point character", () => this.#refuse(this.#at));
    if (end !== undefined && !isEnd(end)) this.#refuse(this.#at);
    const sign = this.#bytes[start - 1] === MINUS ? "-" : "";
    const digits = this.#textFrom(start, this.#at);
    if (isOutOfRange(type, sign + digits)) throw new DecodeFailure("value out of range");
  }

  number(): void {
    let start = this.#skipSpace();
    if (this.#bytes[start] === MINUS) start += 1;
    const first = this.#bytes[start];
    if (first === undefined) throw new DecodeFailure("unexpected EOF");
    if (first === MINUS) within("double minus", () => this.#refuse(start));
    if (FLOATING.has(first)) within(`leading ${quotedByte(first)}`, () => this.#refuse(start));
    if (!this.#isDigit(start)) this.#refuse(start);
    if (first === 0x30 && this.#isDigit(start + 1)) within("leading zero", () => this.#refuse(start + 1));
    this.#at = start;
    while (this.#isDigit(this.#at) || FLOATING.has(this.#bytes[this.#at] ?? 0)) this.#at += 1;
    const end = this.#bytes[this.#at];
    // The decoder adds the position of the number to that of the byte.
    if (end !== undefined && !isEnd(end)) this.#refuse(this.#at, start + this.#at);
  }

  boolean(): void {
    this.#skipSpace();
    this.#literal(this.#bytes[this.#at] === 0x66 ? "false" : "true");
  }

  null(): void {
    this.#skipSpace();
    this.#literal("null");
  }

  isAtNull(): boolean {
    return this.peek() === 0x6e;
  }

  /** Reads a value of any type. */
  skip(): void {
    this.#requireMore();
    const first = this.peek();
    if (first === QUOTE) within("str", () => this.#skipString());
    else if (first === 0x6e) this.null();
    else if (first === 0x74 || first === 0x66) this.boolean();
    else if (first === MINUS || this.#isDigit(this.#at)) this.#skipNumber();
    else if (first === OPEN_LIST) within("array", () => this.#skipAll(CLOSE_LIST));
    else if (first === OPEN_OBJECT) within("object", () => this.#skipAll(CLOSE_OBJECT));
    else this.#refuse(this.#at);
  }

  /** Fails unless only spaces follow. */
  end(): void {
    while (SPACES.has(this.#bytes[this.#at] ?? 0)) this.#at += 1;
    if (this.#at < this.#bytes.length) throw new DecodeFailure("unexpected trailing data");
  }

  /** The next byte that is not a space. */
  peek(): number {
    this.#skipSpace();
    return this.#bytes[this.#at] ?? 0;
  }

  /** Skips the rest of a list or an object. */
  #skipAll(close: number): void {
    const isObject = close === CLOSE_OBJECT;
    this.#at += 1;
    const first = within(isObject ? '\'"\' or "}" expected' : 'value or "]" expected', () => this.peek());
    if (first === close) {
      this.#at += 1;
      return;
    }
    if (isObject && first !== QUOTE) this.#refuse(this.#at);
    for (;;) {
      if (isObject) {
        within("'\"' expected", () => {
          if (this.peek() !== QUOTE) this.#refuse(this.#at);
        });
        within("read field name", () => this.#skipString());
        within('":" expected', () => this.#consume(COLON));
      }
      this.skip();
      const next = within(isObject ? '"," or "}" expected' : '"," or "]" expected', () => this.#next());
      if (next === close) return;
      if (next !== COMMA) this.#refuse(this.#at - 1);
    }
  }

  #textFrom(start: number, end: number): string {
    return this.#decoder.decode(this.#bytes.subarray(start, end));
  }

  #restOfString(readEscape: () => void): void {
    for (let byte = this.#byte(); byte !== QUOTE; byte = this.#byte()) {
      if (byte < 0x20) this.#refuse(this.#at - 1);
      if (byte === BACKSLASH) readEscape();
    }
  }

  #escape(): void {
    const byte = this.#byte();
    if (!ESCAPED.has(byte)) within("bad escape", () => this.#refuse(this.#at - 1));
    if (byte !== LETTER_U) return;
    within("read u4", () => {
      if (this.#bytes.length - this.#at < 4) throw new DecodeFailure("unexpected EOF");
      this.#hexDigits();
    });
  }

  #hexDigits(): void {
    for (let count = 0; count < 4; count += 1)
      if (!/[0-9a-fA-F]/.test(String.fromCharCode(this.#byte()))) this.#refuse(this.#at - 1);
  }

  #skipString(): void {
    this.#consume(QUOTE);
    this.#restOfString(() => {
      const byte = this.#byte();
      if (!ESCAPED.has(byte)) this.#refuse(this.#at - 1);
      if (byte === LETTER_U) this.#hexDigits();
    });
  }

  /** The states of a number: its whole part, its fraction and its exponent. */
  #skipNumber(): void {
    if (this.#bytes[this.#at] === MINUS) {
      this.#at += 1;
      this.#requireDigit();
    }
    const startsWithZero = this.#bytes[this.#at] === 0x30;
    this.#at += 1;
    if (!startsWithZero) this.#digits();
    if (this.#bytes[this.#at] === DOT) {
      this.#at += 1;
      const next = this.#bytes[this.#at];
      if (next === undefined || isEnd(next)) throw new DecodeFailure("unexpected EOF");
      this.#requireDigit();
      this.#digits();
    }
    const exponent = this.#bytes[this.#at];
    if (exponent === 0x65 || exponent === 0x45) {
      this.#at += 1;
      if (this.#bytes[this.#at] === MINUS || this.#bytes[this.#at] === PLUS) this.#at += 1;
      this.#requireDigit();
      this.#digits();
    }
    const end = this.#bytes[this.#at];
    if (end !== undefined && !isEnd(end)) this.#refuse(this.#at);
  }

  #digits(): void {
    while (this.#isDigit(this.#at)) this.#at += 1;
  }

  #requireDigit(): void {
    if (this.#at >= this.#bytes.length) throw new DecodeFailure("unexpected EOF");
    if (!this.#isDigit(this.#at)) this.#refuse(this.#at);
  }

  /** Where the decoder does not expect an end, but does not say so. */
  #requireMore(): void {
    while (SPACES.has(this.#bytes[this.#at] ?? 0)) this.#at += 1;
    if (this.#at >= this.#bytes.length) throw new DecodeFailure("EOF");
  }

  #nextOrEnd(): number {
    this.#requireMore();
    return this.#next();
  }

  /** The decoder compares four bytes at once, so a shorter rest is an early end. */
  #literal(word: string): void {
    if (this.#bytes.length - this.#at < 4) throw new DecodeFailure("unexpected EOF");
    for (const character of word) {
      if (this.#at >= this.#bytes.length) throw new DecodeFailure("unexpected EOF");
      if (this.#bytes[this.#at] !== character.charCodeAt(0)) this.#refuse(this.#at);
      this.#at += 1;
    }
  }

  #consume(byte: number): void {
    if (this.peek() !== byte) this.#refuse(this.#at);
    this.#at += 1;
  }

  #next(): number {
    const byte = this.peek();
    this.#at += 1;
    return byte;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw new DecodeFailure("unexpected EOF");
    this.#at += 1;
    return byte;
  }

  #skipSpace(): number {
    while (SPACES.has(this.#bytes[this.#at] ?? 0)) this.#at += 1;
    if (this.#at >= this.#bytes.length) throw new DecodeFailure("unexpected EOF");
    return this.#at;
  }

  #isDigit(at: number): boolean {
    const byte = this.#bytes[at] ?? 0;
    return byte >= 0x30 && byte <= 0x39;
  }

  #refuse(at: number, reported = at): never {
    const byte = this.#bytes[at] ?? 0;
    throw new DecodeFailure(`unexpected byte ${byte} ${quotedByte(byte)} at ${reported}`);
  }
}

/** Characters that may follow a number. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT || SPACES.has(byte);
}
