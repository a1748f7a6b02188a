import { MAX } from "../../../input-limits/limits.ts";
import type { Cells } from "../rows/cells.ts";
import { RecordingError } from "../rows/recording-error.ts";

const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
/** Flags of a quoted cell, and of a quoted cell with doubled quotes. */
const QUOTED = 1;
const ESCAPED = 2;

export type CsvVisitor = {
  /** The cells are valid only during the call. */
  readonly row: (line: number, cells: Cells) => void;
  readonly bad: (line: number, reason: string) => void;
};

/**
 * Splits CSV (RFC 4180; LF or CRLF, optional byte order mark, blanks around cells) into records of bytes. No
 * library, because making a string of each cell dominates the time at a hundred million rows.
 */
export class CsvScanner implements Cells {
  bytes = new Uint8Array(0);
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  count = 0;
  readonly #visitor: CsvVisitor;
  #flags = new Uint8Array(64);
  #delimiter: number | undefined;
  #line = 1;
  #isBegun = false;
  /** Bytes after `bytes` that were not scanned yet. */
  readonly #added: Uint8Array[] = [];
  #addedBytes = 0;
  /** Whether the rest of a rejected line follows. */
  #isSkipping = false;
  /** Whether the cell that `#closingQuote` saw last has doubled quotes. */
  #hasEscapes = false;

  /** The default delimiter is the most frequent of `,`, `;` and tab in the first line. */
  constructor(visitor: CsvVisitor, delimiter?: "," | ";" | "\t") {
    this.#visitor = visitor;
    this.#delimiter = delimiter?.charCodeAt(0);
  }

  push(chunk: Uint8Array): void {
    this.#added.push(chunk);
    this.#addedBytes += chunk.length;
    // A record is read from its beginning each time, so it must have doubled, or be too long.
    const { length } = this.bytes;
    if (this.#addedBytes < length && length + this.#addedBytes <= MAX.csvRecord) {
      this.#added[this.#added.length - 1] = chunk.slice();
      return;
    }
    this.#join();
    if (!this.#begin(false)) return;
    this.#scan(false);
  }

  end(): void {
    this.#join();
    this.#begin(true);
    this.#scan(true);
  }

  #join(): void {
    const joined = new Uint8Array(this.bytes.length + this.#addedBytes);
    joined.set(this.bytes);
    let at = this.bytes.length;
    for (const chunk of this.#added) {
      joined.set(chunk, at);
      at += chunk.length;
    }
    this.bytes = joined;
    this.#added.length = 0;
    this.#addedBytes = 0;
  }

  /** Inspects the first bytes; `false` while there are too few. */
  #begin(isEnd: boolean): boolean {
    if (this.#isBegun) return true;
    const { bytes } = this;
    const lineEnd = bytes.indexOf(LF);
    if (lineEnd < 0 && !isEnd && bytes.length < MAX.csvRecord) return false;
    if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
      throw new RecordingError("is UTF-16; save the file as UTF-8", 1);
    }
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.bytes = bytes.subarray(3);
    this.#delimiter ??= delimiterOf(bytes.subarray(0, lineEnd < 0 ? bytes.length : lineEnd));
    this.#isBegun = true;
    return true;
  }

  #scan(isEnd: boolean): void {
    let from = this.#isSkipping ? this.#endOfLine(0) : 0;
    while (from < this.bytes.length) {
      const next = this.#record(from, isEnd);
      if (next < 0) break;
      from = next;
    }
    this.bytes = this.bytes.subarray(from);
  }

  /** Reads the record at `from`; returns the start of the next record, or -1 if this one is incomplete. */
  #record(from: number, isEnd: boolean): number {
    const { bytes } = this;
    const { length } = bytes;
    const delimiter = this.#delimiter;
    let [at, start, count] = [from, from, 0];
    for (; at < length; at += 1) {
      const byte = bytes[at] as number;
      if (byte > QUOTE && byte !== delimiter) continue;
      if (byte === delimiter) {
        this.#cell(count, start, at, 0);
        count += 1;
        start = at + 1;
      } else if (byte === LF) break;
      else if (byte === QUOTE && this.#isBlank(start, at)) {
        const closingQuote = this.#closingQuote(at + 1);
        if (closingQuote < 0) return this.#unclosedQuote(from, isEnd);
        const after = this.#afterBlanks(closingQuote + 1);
        if (after >= length && !isEnd) return -1;
        if (after < length && bytes[after] !== delimiter && bytes[after] !== LF)
          return this.#malformed(from, after, isEnd);
        this.#cell(count, at + 1, closingQuote, this.#hasEscapes ? ESCAPED : QUOTED);
        count += 1;
        at = after;
        start = at + 1;
        if (at >= length || bytes[at] === LF) return this.#emit(from, at, count);
      }
    }
    if (at >= length && !isEnd) return length - from > MAX.csvRecord ? this.#tooLong(from) : -1;
    this.#cell(count, start, at, 0);
    return this.#emit(from, at, count + 1);
  }

  /**
   * Position of the quote that closes a cell, or -1. A quote at the end of the buffer is checked again with
   * the next byte.
   */
  #closingQuote(from: number): number {
    const { bytes } = this;
    this.#hasEscapes = false;
    let at = bytes.indexOf(QUOTE, from);
    while (at >= 0 && bytes[at + 1] === QUOTE) {
      this.#hasEscapes = true;
      at = bytes.indexOf(QUOTE, at + 2);
    }
    return at;
  }

  #cell(index: number, start: number, end: number, flags: number): void {
    if (index === this.starts.length) this.#grow();
    this.starts[index] = start;
    this.ends[index] = end;
    this.#flags[index] = flags;
  }

  #emit(from: number, end: number, count: number): number {
    if (end - from > MAX.csvRecord) return this.#tooLong(from);
    const line = this.#line;
    let isQuoted = false;
    for (let index = 0; index < count; index += 1) isQuoted ||= this.#flags[index] !== 0;
    // Counted before `#unescape` moves bytes.
    const lines = isQuoted ? 1 + this.#lineEnds(from, end) : 1;
    for (let index = 0; index < count; index += 1) {
      if (this.#flags[index] === 0) this.#trim(index);
      else if (this.#flags[index] === ESCAPED) this.#unescape(index);
    }
    this.count = count;
    const isEmpty = count === 1 && !isQuoted && this.starts[0] === this.ends[0];
    this.#line += lines;
    if (!isEmpty) this.#visitor.row(line, this);
    return end + 1;
  }

  #trim(index: number): void {
    const { bytes } = this;
    let [start, end] = [this.starts[index] as number, this.ends[index] as number];
    while (start < end && (bytes[start] as number) <= SPACE) start += 1;
    while (start < end && (bytes[end - 1] as number) <= SPACE) end -= 1;
    this.starts[index] = start;
    this.ends[index] = end;
  }

  /** In place, because the text only gets shorter. */
  #unescape(index: number): void {
    const { bytes } = this;
    const end = this.ends[index] as number;
    let to = this.starts[index] as number;
    for (let at = to; at < end; at += 1) {
      bytes[to] = bytes[at] as number;
      to += 1;
      if (bytes[at] === QUOTE) at += 1;
    }
    this.ends[index] = to;
  }

  #unclosedQuote(from: number, isEnd: boolean): number {
    if (!isEnd && this.bytes.length - from <= MAX.csvRecord) return -1;
    return this.#skipLine(from, "has an unclosed quote");
  }

  #malformed(from: number, at: number, isEnd: boolean): number {
    const lineEnd = this.bytes.indexOf(LF, at);
    if (lineEnd < 0 && this.bytes.length - from <= MAX.csvRecord && !isEnd) return -1;
    return this.#skipLine(from, "has text after a closing quote");
  }

  #tooLong(from: number): number {
    return this.#skipLine(from, `is longer than ${MAX.csvRecord} bytes`);
  }

  /** Skips one line only; the next one may be a record again. */
  #skipLine(from: number, reason: string): number {
    this.#visitor.bad(this.#line, reason);
    this.#line += 1;
    return this.#endOfLine(from);
  }

  /** Start of the next line, which may not have been read yet. */
  #endOfLine(from: number): number {
    const lineEnd = this.bytes.indexOf(LF, from);
    this.#isSkipping = lineEnd < 0;
    return lineEnd < 0 ? this.bytes.length : lineEnd + 1;
  }

  #isBlank(start: number, end: number): boolean {
    for (let at = start; at < end; at += 1) if (this.bytes[at] !== SPACE) return false;
    return true;
  }

  #afterBlanks(from: number): number {
    let at = from;
    while (this.bytes[at] === SPACE || this.bytes[at] === CR) at += 1;
    return at;
  }

  #lineEnds(from: number, end: number): number {
    let lines = 0;
    for (let at = this.bytes.indexOf(LF, from); at >= 0 && at < end; at = this.bytes.indexOf(LF, at + 1))
      lines += 1;
    return lines;
  }

  #grow(): void {
    const length = 2 * this.starts.length;
    const grown = <Column extends Int32Array | Uint8Array>(column: Column, to: Column): Column => {
      to.set(column);
      return to;
    };
    this.starts = grown(this.starts, new Int32Array(length));
    this.ends = grown(this.ends, new Int32Array(length));
    this.#flags = grown(this.#flags, new Uint8Array(length));
  }
}

function delimiterOf(line: Uint8Array): number {
  const counts = [",", ";", "\t"].map((delimiter) => {
    const code = delimiter.charCodeAt(0);
    return { code, count: line.reduce((count, byte) => (byte === code ? count + 1 : count), 0) };
  });
  return counts.reduce((most, other) => (other.count > most.count ? other : most)).code;
}
