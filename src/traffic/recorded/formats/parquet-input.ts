import {
  type AsyncBuffer,
  type ColumnData,
  type Compressors,
  type FileMetaData,
  type ParquetParsers,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { MAX } from "../../../input-limits/limits.ts";
import { isoInstant } from "../../../kernel/calendar.ts";
import { messageOf } from "../../../kernel/message-of.ts";
import { DAY } from "../../../kernel/time.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { RowSink } from "../rows/row-sink.ts";
import { ObjectRowReader } from "./json-input.ts";

/** Largest sizes that a Parquet file may declare. Beyond them, it is damaged, or too large to decode in memory. */
const PARQUET_LIMITS = {
  rowsPerGroup: MAX.parquetRows,
  bytesPerColumn: MAX.parquetColumn,
  bytesPerPage: MAX.parquetPage,
};

/**
 * Rows decoded at a time. A whole row group as DuckDB writes it by default: a page that lies in two parts is
 * decoded twice.
 */
const ROWS_PER_READ = 131_072;

/**
 * Reads Parquet, only the needed columns, a part of a row group at a time. `onRows` receives the number of
 * rows read so far.
 */
export async function readParquet(
  file: AsyncBuffer,
  sink: RowSink,
  onRows: (done: number, of: number) => Promise<void> = async () => {},
): Promise<void> {
  const { metadata, names } = await withInputError(async () => {
    const metadata = await parquetMetadataAsync(file);
    // In damaged metadata, any field may be missing or of another type.
    checkDeclaredSizes(metadata, file.byteLength);
    return { metadata, names: parquetSchema(metadata).children.map(({ element }) => element.name) };
  });
  const rows = new ObjectRowReader(sink, names);
  let done = 0;
  for (const { num_rows } of metadata.row_groups) {
    const end = done + Number(num_rows);
    for (; done < end; done = Math.min(done + ROWS_PER_READ, end)) {
      const [rowStart, rowEnd] = [done, Math.min(done + ROWS_PER_READ, end)];
      const columns = await withInputError(() =>
        readColumns({ file, metadata, columns: [...rows.columns], rowStart, rowEnd }),
      );
      let row = rowStart;
      const valueAt = (column: number) => columns[column]?.at(row);
      for (; row < rowEnd; row += 1) rows.readFrom(row + 1, valueAt);
      await onRows(rowEnd, Number(metadata.num_rows));
    }
  }
}

/** Decoders allocate what a file declares, and loop as often. */
function checkDeclaredSizes({ num_rows, row_groups }: FileMetaData, fileBytes: number): void {
  const limit = (what: string, value: bigint | number, max: number) => {
    if (value < 0 || value > max)
      throw new RecordingError(
        `is damaged, or too large: it declares ${what} ${value}; at most ${max} are read`,
      );
  };
  let rows = 0n;
  for (const group of row_groups) {
    limit("rows of a row group:", group.num_rows, PARQUET_LIMITS.rowsPerGroup);
    rows += group.num_rows;
    for (const { meta_data } of group.columns) {
      if (meta_data === undefined) continue;
      limit("bytes of a column:", meta_data.total_uncompressed_size, PARQUET_LIMITS.bytesPerColumn);
      limit("compressed bytes of a column:", meta_data.total_compressed_size, fileBytes);
      limit("values of a column:", meta_data.num_values, PARQUET_LIMITS.rowsPerGroup);
    }
  }
  if (rows !== num_rows)
    throw new RecordingError(`is damaged: it declares ${num_rows} rows, and ${rows} in its row groups`);
}

const LIMITED_COMPRESSORS: Compressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, outputLength: number) => {
      if (outputLength < 0 || outputLength > PARQUET_LIMITS.bytesPerPage)
        throw new Error(
          `a page declares ${outputLength} bytes; at most ${PARQUET_LIMITS.bytesPerPage} are decoded`,
        );
      return decompress(input, outputLength);
    },
  ]),
);

type ParquetRange = Pick<
  Parameters<typeof parquetRead>[0],
  "file" | "metadata" | "columns" | "rowStart" | "rowEnd"
>;

/** The values of one column, for rows that are read in order. */
class ColumnValues {
  readonly #chunks: readonly ColumnData[];
  #current = 0;

  constructor(chunks: readonly ColumnData[]) {
    this.#chunks = chunks;
  }

  at(row: number): unknown {
    let chunk = this.#chunks[this.#current];
    while (chunk !== undefined && row >= chunk.rowEnd) {
      this.#current += 1;
      chunk = this.#chunks[this.#current];
    }
    const value: unknown = chunk?.columnData[row - chunk.rowStart];
    return value instanceof StoredInstant ? value.text() : value;
  }
}

async function readColumns(
  range: ParquetRange & { readonly columns: string[] },
): Promise<readonly ColumnValues[]> {
  const chunks = new Map<string, ColumnData[]>(range.columns.map((name) => [name, []]));
  await parquetRead({
    ...range,
    compressors: LIMITED_COMPRESSORS,
    parsers: STORED_INSTANTS,
    onChunk: (chunk) => chunks.get(chunk.columnName)?.push(chunk),
  });
  return range.columns.map((name) => new ColumnValues(chunks.get(name) ?? []));
}

/** The largest distance from 1970 at which a date exists, in milliseconds. */
const FARTHEST_INSTANT = 100_000_000 * DAY;

/** An instant in milliseconds. Its text is created on demand: texts of all decoded rows would fill the memory. */
class StoredInstant {
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  /** The instant in ISO 8601; empty, like a missing value, if no such date exists. */
  text(): string {
    return Math.abs(this.#at) <= FARTHEST_INSTANT ? isoInstant(this.#at) : "";
  }
}

const STORED_INSTANTS: Partial<ParquetParsers> = {
  timestampFromMilliseconds: (ms) => new StoredInstant(Number(ms)),
  timestampFromMicroseconds: (us) => new StoredInstant(wholeMilliseconds(us)),
  timestampFromNanoseconds: (ns) => new StoredInstant(Number(ns / 1_000_000n)),
  dateFromDays: (days) => new StoredInstant(days * DAY),
};

/** Truncated. A division of big integers takes ten times as long. */
function wholeMilliseconds(us: bigint): number {
  const number = Number(us);
  return Number.isSafeInteger(number) ? Math.trunc(number / 1_000) : Number(us / 1_000n);
}

async function withInputError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    // The reader's texts are about its buffers, such as an offset outside the bounds of a view.
    const reason = error instanceof RangeError ? "it ends too early" : messageOf(error);
    throw new RecordingError(`is damaged, or not readable as Parquet: ${reason}`);
  }
}
