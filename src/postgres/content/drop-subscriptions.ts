import type { RunningEngine } from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";

/**
 * Drops the subscriptions of a database without a message to their publishers. Without its tables, a subscription has no other
 * slots than the one that it no longer names, so Postgres does not connect to drop them.
 */
export async function dropSubscriptions(engine: RunningEngine, database: string): Promise<void> {
  const ofDatabase = `FROM pg_subscription JOIN pg_database d ON d.oid = subdbid WHERE datname = ${literal(database)}`;
  const [found] = await engine.query(`SELECT count(*) ${ofDatabase}`);
  if (found?.["count"] === "0") return;
  await engine.inDatabase(database, async (query) => {
    const subscriptions = await query(`SELECT s.oid, subname FROM pg_subscription s
      JOIN pg_database d ON d.oid = subdbid WHERE datname = current_database() ORDER BY subname`);
    for (const { oid, subname } of subscriptions) {
      const name = identifier(subname ?? "");
      // In a transaction of its own, so that the workers end, and change the tables no more.
      await query(`ALTER SUBSCRIPTION ${name} DISABLE; ALTER SUBSCRIPTION ${name} SET (slot_name = NONE)`);
      await query(
        [
          `DELETE FROM pg_subscription_rel WHERE srsubid = ${oid}`,
          `DROP SUBSCRIPTION ${name}`,
          // Progress of first copies of tables.
          `SELECT pg_replication_origin_drop(roname) FROM pg_replication_origin WHERE roname LIKE ${literal(`pg\\_${oid}\\_%`)}`,
        ].join("; "),
      );
    }
  });
}
