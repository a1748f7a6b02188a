import { closeSync, openSync, readSync } from "node:fs";

const MIB = 1024 ** 2;

/** A text that is larger than its limit. `code`: that of the system's errors, for `fileProblem`. */
export class TextTooLarge extends Error {
  override readonly name = "TextTooLarge";
  readonly code = "EFBIG";

  constructor(maxBytes: number) {
    super(`is larger than ${maxBytes / MIB} MiB`);
  }
}

/**
 * Reads a text file, given by its path or its descriptor, of which no more than `maxBytes` are read. Throws
 * `TextTooLarge` and the system's errors.
 */
export function readText(source: string | number, maxBytes: number): string {
  const file = typeof source === "number" ? source : openSync(source, "r");
  try {
    const chunks: Buffer[] = [];
    for (let left = maxBytes; ; ) {
      const chunk = Buffer.alloc(Math.min(MIB, left + 1));
      const read = readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks).toString("utf8");
      left -= read;
      if (left < 0) throw new TextTooLarge(maxBytes);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    if (file !== source) closeSync(file);
  }
}
