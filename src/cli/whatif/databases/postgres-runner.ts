import pg from "pg";
import type { GapQueryRun } from "./gap-sql-run.ts";

const KIB = 1_024;
/** `work_mem` has at least this size. */
const LEAST_WORK_MEM_KIB = 64;

/** In a read-only session. `memory` limits each sort (`work_mem`); the rest is sorted on disk. */
export async function runInPostgres(url: string, run: GapQueryRun): Promise<void> {
  const { queryOf, signal, memory, onColumns, onRow } = run;
  const client = new pg.Client({ connectionString: withLibpqModes(url), application_name: "standin whatif" });
  // A broken connection is also reported by the query.
  client.on("error", () => undefined);
  await client.connect();
  const cancel = () => void cancelQuery(url, client).catch(() => client.end());
  signal.addEventListener("abort", cancel);
  try {
    await client.query("set default_transaction_read_only = on");
    if (memory !== undefined)
      await client.query(`set work_mem = '${Math.max(LEAST_WORK_MEM_KIB, Math.floor(memory / KIB))}kB'`);
    const { fields, rows } = await client.query<unknown[]>({ text: queryOf(), rowMode: "array" });
    onColumns(fields.map(({ name }) => name));
    for (const row of rows) onRow(row);
  } finally {
    signal.removeEventListener("abort", cancel);
    await client.end();
  }
}

/** The server continues with a query whose client is gone. */
async function cancelQuery(url: string, running: pg.Client): Promise<void> {
  const client = new pg.Client({ connectionString: withLibpqModes(url) });
  await client.connect();
  try {
    const { processID } = running as pg.Client & { readonly processID: number | null };
    await client.query("select pg_cancel_backend($1)", [processID]);
  } finally {
    await client.end();
  }
}

/** `sslmode=require` encrypts and verifies nothing, as in psql. pg would verify. */
function withLibpqModes(url: string): string {
  const parsed = new URL(url);
  if (parsed.searchParams.has("sslmode")) parsed.searchParams.set("uselibpqcompat", "true");
  return parsed.href;
}
