import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RunSegment } from "../rows/merged-rows.ts";
import type { RowColumns, SortedRun } from "../rows/row-run.ts";
import { readFully } from "./trace-file.ts";
import { writeAll } from "./trace-writer.ts";

/** The position of a run in the file, one column after another. */
type SpilledRun = {
  readonly offset: number;
  readonly rows: number;
  readonly computes: Uint32Array;
  readonly starts: Uint32Array;
};

/**
 * Runs that do not fit into memory, on the disk of `path`. The file is unlinked at once, so nothing remains
 * however the process ends.
 */
export class SpillFile {
  readonly #file: number;
  readonly #runs: SpilledRun[] = [];
  #bytes = 0;

  constructor(path: string) {
    const directory = mkdtempSync(join(dirname(path), ".standin-import-"));
    try {
      this.#file = openSync(join(directory, "runs"), "w+");
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  write({ rows, computes, starts }: SortedRun): void {
    const count = starts.at(-1) ?? 0;
    this.#runs.push({ offset: this.#bytes, rows: count, computes, starts });
    for (const column of [rows.at, rows.durationMs, rows.source]) {
      const bytes = new Uint8Array(column.buffer, column.byteOffset, count * column.BYTES_PER_ELEMENT);
      writeAll(this.#file, bytes);
      this.#bytes += bytes.length;
    }
  }

  /** The segments of a compute in the order of the runs; call it once per compute, with ascending numbers. */
  segmentsOf(): (compute: number) => RunSegment[] {
    const next = this.#runs.map(() => 0);
    return (compute) =>
      this.#runs.flatMap((run, index) => {
        const position = next[index] as number;
        if (run.computes[position] !== compute) return [];
        next[index] = position + 1;
        return [this.#segment(run, run.starts[position] as number, run.starts[position + 1] as number)];
      });
  }

  remove(): void {
    closeSync(this.#file);
  }

  #segment({ offset, rows }: SpilledRun, start: number, end: number): RunSegment {
    const read = (column: RowColumns[keyof RowColumns], columnAt: number, from: number) => {
      const count = Math.min(column.length, end - start - from);
      const size = column.BYTES_PER_ELEMENT;
      readFully(
        this.#file,
        new Uint8Array(column.buffer, column.byteOffset, count * size),
        columnAt + (start + from) * size,
      );
    };
    return {
      length: end - start,
      read: (from, { at, durationMs, source }) => {
        read(at, offset, from);
        read(durationMs, offset + 8 * rows, from);
        read(source, offset + 16 * rows, from);
      },
    };
  }
}
