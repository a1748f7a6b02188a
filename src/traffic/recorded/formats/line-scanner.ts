import { MAX } from "../../../input-limits/limits.ts";

const LF = 10;
export type LineVisitor = {
  readonly line: (number: number, text: string) => void;
  readonly bad: (number: number, reason: string) => void;
};

/**
 * Splits chunks of bytes into trimmed lines, numbered from 1. The last line needs no line end; blank lines
 * are skipped.
 */
export class LineScanner {
  readonly #visitor: LineVisitor;
  readonly #decoder = new TextDecoder();
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #line = 0;

  constructor(visitor: LineVisitor) {
    this.#visitor = visitor;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      this.#endLine(chunk.subarray(from, end));
      from = end + 1;
    }
    if (from === chunk.length) return;
    this.#restBytes += chunk.length - from;
    // An overlong line is dropped, but its length is remembered.
    if (this.#restBytes <= MAX.jsonLine) this.#rest.push(chunk.slice(from));
    else this.#rest = [];
  }

  end(): void {
    if (this.#restBytes > 0) this.#endLine(new Uint8Array(0));
  }

  #endLine(end: Uint8Array): void {
    this.#line += 1;
    const length = this.#restBytes + end.length;
    const bytes = this.#restBytes === 0 ? end : concatenated([...this.#rest, end]);
    this.#rest = [];
    this.#restBytes = 0;
    if (length > MAX.jsonLine) {
      this.#visitor.bad(this.#line, `is longer than ${MAX.jsonLine} bytes`);
      return;
    }
    const text = this.#decoder.decode(bytes).trim();
    if (text !== "") this.#visitor.line(this.#line, text);
  }
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
