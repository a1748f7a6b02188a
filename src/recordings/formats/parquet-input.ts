import { type AsyncBuffer, parquetMetadataAsync, parquetRead, parquetSchema } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import type { Intake } from "../rows/intake.ts";
import { RecordingError } from "../rows/recording-error.ts";
import type { RowOptions } from "../rows/row-reader.ts";
import { ObjectRowReader } from "./json-input.ts";

/** Rows decoded at a time. */
const ROWS_PER_READ = 65_536;

/**
 * Reads Parquet, only the needed columns, a part of a row group at a time. `onRows` receives the number of
 * rows read so far.
 */
export async function readParquet(
  file: AsyncBuffer,
  intake: Intake,
  options: RowOptions = {},
  onRows: (done: number, of: number) => Promise<void> = async () => {},
): Promise<void> {
  const metadata = await withInputError(() => parquetMetadataAsync(file));
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const rows = new ObjectRowReader(intake, names, options);
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

type ParquetRange = Pick<
  Parameters<typeof parquetRead>[0],
  "file" | "metadata" | "columns" | "rowStart" | "rowEnd"
>;

async function readRange(
  range: ParquetRange & { readonly columns: string[] },
): Promise<readonly (readonly unknown[])[]> {
  const parts: unknown[][][] = [];
  await parquetRead({ ...range, compressors, onComplete: (read) => parts.push(read) });
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
