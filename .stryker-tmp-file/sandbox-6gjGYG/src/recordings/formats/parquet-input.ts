// @ts-nocheck
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
} from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { RecordingError } from "../rows/recording-error.ts";
import type { RowSink } from "../rows/row-sink.ts";
import { ObjectRowReader } from "./json-input.ts";

/** What a Parquet file may declare. Beyond it, the file is damaged, or too large to decode in memory. */
const PARQUET_LIMITS = {
  rowsPerGroup: 100_000_000,
  bytesPerColumn: 2 * 1024 ** 3,
  bytesPerPage: 512 * 1024 ** 2,
} as const;

/** Rows decoded at a time. */
const ROWS_PER_READ = 65_536;

/**
 * Reads Parquet, only the needed columns, a part of a row group at a time. `onRows` receives the number of
 * rows read so far.
 */
export async function readParquet(
  file: AsyncBuffer,
  sink: RowSink,
  onRows: (done: number, of: number) => Promise<void> = async () => {},
): Promise<void> {
  const metadata = await withInputError(() => parquetMetadataAsync(file));
  checkDeclaredSizes(metadata, file.byteLength);
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const rows = new ObjectRowReader(sink, names);
  let done = 0;
  for (const { num_rows } of metadata.row_groups) {
    const end = done + Number(num_rows);
    for (; done < end; done = Math.min(done + ROWS_PER_READ, end)) {
      const [rowStart, rowEnd] = [done, Math.min(done + ROWS_PER_READ, end)];
      const values = await withInputError(() =>
        readRange({ file, metadata, columns: [...rows.columns], rowStart, rowEnd }),
      );
      values.forEach((value, index) => {
        rows.readFrom(rowStart + index + 1, (column) => value[column]);
      });
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

async function readRange(
  range: ParquetRange & { readonly columns: string[] },
): Promise<readonly (readonly unknown[])[]> {
  const parts: unknown[][][] = [];
  await parquetRead({ ...range, compressors: LIMITED_COMPRESSORS, onComplete: (read) => parts.push(read) });
  return parts.flat();
}

async function withInputError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new RecordingError(
      `is damaged, or not readable as Parquet: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
