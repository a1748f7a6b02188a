// @ts-nocheck
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CliError } from "../terminal/cli-error.ts";
import type { GapQueryRun } from "./gap-query-run.ts";

const PROGRESS_EVERY_MS = 250;
const MIB = 1024 ** 2;

/** `duckdb:FILE`, opened read-only; `duckdb:` alone reads files that the query names. */
export async function runInDuckdb(url: string, run: GapQueryRun): Promise<void> {
  const { query, signal, memory, onProgress, onColumns, onRow } = run;
  const path = url.slice("duckdb:".length);
  if (path !== "" && !existsSync(path)) throw new CliError(`--from ${url}: there is no file ${path}`);
  const { DuckDBInstance } = await loadDuckdb();
  const instance = await DuckDBInstance.create(path === "" ? ":memory:" : path, {
    ...(path === "" ? {} : { access_mode: "READ_ONLY" }),
    // What does not fit into memory is written there.
    temp_directory: join(tmpdir(), `standin-duckdb-${process.pid}`),
    ...(memory === undefined ? {} : { memory_limit: `${Math.ceil(memory / MIB)}MiB` }),
  });
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener("abort", interrupt);
  const timer = setInterval(() => {
    const { percentage } = connection.progress;
    if (percentage >= 0) onProgress(percentage);
  }, PROGRESS_EVERY_MS);
  try {
    await connection.run("set enable_progress_bar = true; set enable_progress_bar_print = false");
    signal.throwIfAborted();
    const result = await connection.stream(query);
    onColumns(result.columnNames());
    for await (const rows of result.yieldRows()) for (const row of rows) onRow(row);
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
