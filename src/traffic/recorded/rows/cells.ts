/**
 * One row as UTF-8 texts in one buffer: cell `i` is `bytes[starts[i]..ends[i])`. Unquoted cells have no
 * surrounding white space.
 */
export type Cells = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  /** Number of cells; the arrays may be longer. */
  readonly count: number;
};

const decoder = new TextDecoder();

/** The cell as text; empty when the row lacks it. */
export function textAt({ bytes, starts, ends, count }: Cells, column: number | undefined): string {
  if (column === undefined || column >= count) return "";
  return decoder.decode(bytes.subarray(starts[column], ends[column]));
}

/** A row whose values do not come as bytes, encoded into one buffer. */
export class TextCells implements Cells {
  bytes = new Uint8Array(1_024);
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly count: number;
  readonly #encoder = new TextEncoder();

  constructor(count: number) {
    this.count = count;
    this.starts = new Int32Array(count);
    this.ends = new Int32Array(count);
  }

  fill(valueAt: (column: number) => string): void {
    let end = 0;
    for (let column = 0; column < this.count; column += 1) {
      const text = valueAt(column).trim();
      // A UTF-16 unit takes at most three bytes of UTF-8.
      if (end + 3 * text.length > this.bytes.length) this.#grow(end + 3 * text.length);
      this.starts[column] = end;
      end =
        this.#writeAscii(text, end) ?? end + this.#encoder.encodeInto(text, this.bytes.subarray(end)).written;
      this.ends[column] = end;
    }
  }

  /** Faster than the encoder for short texts. The end of the text; `undefined` if it is not ASCII. */
  #writeAscii(text: string, start: number): number | undefined {
    const { bytes } = this;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > 0x7f) return undefined;
      bytes[start + index] = code;
    }
    return start + text.length;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(2 * length);
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
