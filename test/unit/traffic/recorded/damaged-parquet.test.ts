import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { readParquet } from "../../../../src/traffic/recorded/formats/parquet-input.ts";
import { RecordingError } from "../../../../src/traffic/recorded/rows/recording-error.ts";
import type { RowSink } from "../../../../src/traffic/recorded/rows/row-sink.ts";

const ROWS = 12;
/** The length of the metadata and the magic number, at the end of a file. */
const TAIL_BYTES = 8;

/** A small file, so that each bit of its metadata can be flipped. */
function sample(): Uint8Array {
  const numbers = Array.from({ length: ROWS }, (_, index) => index);
  return new Uint8Array(
    parquetWriteBuffer({
      rowGroupSize: 5,
      columnData: [
        { name: "endpoint_id", data: numbers.map((number) => `ep-${number % 3}`), type: "STRING" },
        {
          name: "at",
          data: numbers.map((number) => new Date(Date.UTC(2026, 0, 5, 0, 0, number))),
          type: "TIMESTAMP",
        },
        { name: "duration_ms", data: numbers.map((number) => BigInt(number)), type: "INT64" },
      ],
    }),
  );
}

/** Reads no column: what is declared is read, and pages are not decoded. */
const NO_COLUMNS: RowSink = { open: () => ({ read: () => undefined }), bad: () => undefined };

test("Parquet with any bit of its metadata flipped is read, or rejected as damaged, never with an internal error", async () => {
  const intact = sample();
  const { length } = intact;
  const metadataBytes = new DataView(intact.buffer).getUint32(length - TAIL_BYTES, true);
  const outcomes = { read: 0, rejected: 0 };
  const internal: string[] = [];
  for (let bit = (length - TAIL_BYTES - metadataBytes) * 8; bit < length * 8; bit += 1) {
    const bytes = intact.slice();
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    try {
      await readParquet(bytes.buffer, NO_COLUMNS);
      outcomes.read += 1;
    } catch (error) {
      outcomes.rejected += 1;
      if (!(error instanceof RecordingError)) internal.push(`bit ${bit}: ${error}`);
    }
  }
  expect(internal).toEqual([]);
  expect(outcomes.read).toBeGreaterThan(1_000);
  expect(outcomes.rejected).toBeGreaterThan(1_000);
});
