import type { AdminQuery, RunningEngine } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";

/**
 * Drops the subscriptions of a database without a message to their publishers. Without its tables, a subscription has no other
 * slots than the one that it no longer names, so Postgres does not connect to drop them.
 */
export async function dropSubscriptions(engine: RunningEngine, database: string): Promise<void> {
  const ofDatabase = `FROM pg_subscription JOIN pg_database d ON d.oid = subdbid WHERE datname = ${literal(database)}`;
  const [found] = await engine.query(`SELECT count(*) ${ofDatabase}`);
  if (found?.["count"] === "0") return;
  await engine.inDatabase(database, async (query) => {
    const subscriptions = await query(`SELECT s.oid FROM pg_subscription s
      JOIN pg_database d ON d.oid = subdbid WHERE datname = current_database() ORDER BY s.oid`);
    for (const { oid } of subscriptions) await dropSubscription(query, Number(oid));
  });
}

async function dropSubscription(query: AdminQuery, oid: number): Promise<void> {
  const source = `pg_subscription WHERE oid = ${oid}`;
  // In a transaction of its own, so that the workers end, and change the tables no more.
  await query(
    executeWithName("subname", source, [
      "ALTER SUBSCRIPTION %I DISABLE",
      "ALTER SUBSCRIPTION %I SET (slot_name = NONE)",
    ]),
  );
  await query(
    [
      `DELETE FROM pg_subscription_rel WHERE srsubid = ${oid}`,
      executeWithName("subname", source, ["DROP SUBSCRIPTION %I"]),
      // Progress of first copies of tables.
      `SELECT pg_replication_origin_drop(roname) FROM pg_replication_origin WHERE roname LIKE ${literal(`pg\\_${oid}\\_%`)}`,
    ].join("; "),
  );
}

/**
 * Executes statements with a name that Postgres reads from a catalog, in one transaction. Databases whose encoding is SQL_ASCII
 * may create names that are no UTF-8, which no client of standin can send back.
 */
export function executeWithName(column: string, source: string, statements: readonly string[]): string {
  const executed = statements.map((statement) => `EXECUTE pg_catalog.format(${literal(statement)}, name);`);
  return `DO $standin$ DECLARE name pg_catalog.text; BEGIN
    SELECT ${column} INTO STRICT name FROM pg_catalog.${source}; ${executed.join(" ")} END $standin$`;
}
