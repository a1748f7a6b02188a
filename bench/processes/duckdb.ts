import { DuckDBInstance } from "@duckdb/node-api";

/** Runs one statement on one thread. */
const { statement } = JSON.parse(process.argv[2] ?? "") as { readonly statement: string };
const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
const connection = await instance.connect();
const result = await connection.run(statement);
// Reads the result, as a caller would.
let rows = 0;
for (
  let chunk = await result.fetchChunk();
  chunk !== null && chunk.rowCount > 0;
  chunk = await result.fetchChunk()
)
  rows += chunk.rowCount;
connection.closeSync();
instance.closeSync();
process.stdout.write(`${JSON.stringify({ rows })}\n`);
