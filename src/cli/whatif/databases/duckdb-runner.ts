import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { CliError } from "../../terminal/cli-error.ts";
import { checkInputExists } from "../../terminal/input-file.ts";
import type { GapQueryRun } from "./gap-sql-run.ts";

const PROGRESS_EVERY_MS = 250;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** The part of the machine's memory that DuckDB uses by default. */
const DEFAULT_MEMORY = 0.8;
/**
 * Requests that are sorted at once. DuckDB needs about 60 bytes for each of them; of a table that is many times
 * larger than its memory, it cannot write all of that to its disk.
 */
const ROWS_PER_GIB = 12_000_000;

/** The number of parts into which the computes are divided, so that the requests of one fit into the memory. */
export function partsFor(rows: number, memoryBytes: number): number {
  return Math.max(1, Math.ceil(rows / ((memoryBytes / GIB) * ROWS_PER_GIB)));
}

/** `duckdb:FILE`, opened read-only; `duckdb:` alone reads files that the query names. */
export async function runInDuckdb(url: string, run: GapQueryRun): Promise<void> {
  const { queryOf, table, signal, memory, onProgress, onColumns, onRow } = run;
  const path = url.slice("duckdb:".length);
  if (path !== "") checkInputExists(path, "--from");
  const { DuckDBInstance } = await loadDuckdb();
  const instance = await DuckDBInstance.create(path === "" ? ":memory:" : path, {
    ...(path === "" ? {} : { access_mode: "READ_ONLY" }),
    // DuckDB writes there the data that does not fit into memory.
    temp_directory: join(tmpdir(), `standin-duckdb-${process.pid}`),
    ...(memory === undefined ? {} : { memory_limit: `${Math.ceil(memory / MIB)}MiB` }),
  });
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener("abort", interrupt);
  let [index, of] = [0, 1];
  const timer = setInterval(() => {
    const { percentage } = connection.progress;
    if (percentage >= 0) onProgress((100 * index + percentage) / of);
  }, PROGRESS_EVERY_MS);
  try {
    await connection.run("set enable_progress_bar = true; set enable_progress_bar_print = false");
    signal.throwIfAborted();
    const count = await connection.runAndReadAll(`select count(*) from ${table}`);
    of = partsFor(Number(count.value(0, 0)), memory ?? totalmem() * DEFAULT_MEMORY);
    for (; index < of; index += 1) {
      signal.throwIfAborted();
      const result = await connection.stream(queryOf(of === 1 ? undefined : { index, of }));
      onColumns(result.columnNames());
      for await (const rows of result.yieldRows()) for (const row of rows) onRow(row);
    }
    signal.throwIfAborted();
  } finally {
    clearInterval(timer);
    signal.removeEventListener("abort", interrupt);
    connection.closeSync();
    instance.closeSync();
  }
}

async function loadDuckdb(): Promise<typeof import("@duckdb/node-api")> {
  try {
    return await import("@duckdb/node-api");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")
      throw new CliError(
        "--from duckdb: needs the package @duckdb/node-api beside standin; run: npm install @duckdb/node-api",
      );
    throw error;
  }
}
