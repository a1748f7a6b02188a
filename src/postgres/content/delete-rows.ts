import type { AdminQuery, RunningEngine } from "../engine/engine.ts";
import { clientDatabases, withOpenDatabases } from "./cluster-content.ts";

/** Statistics about rows contain values of them, and deleted rows stay in the pages of catalogs until a rewrite. */
const REWRITTEN_CATALOGS = ["pg_statistic", "pg_statistic_ext_data", "pg_largeobject", "pg_attribute"];

/** The first number that Postgres gives to objects of clients. */
const FIRST_OWN_OID = 16_384;

const TABLES = `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relkind IN ('r', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_t'
    AND NOT (relowner = 10 AND EXISTS (SELECT FROM pg_depend
      WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e'))
  ORDER BY 1`;

/** Triggers that fire in a session whose `session_replication_role` is `replica`. */
const TRIGGERS = `SELECT format('ALTER TABLE ONLY %I.%I', nspname, relname) AS alter, quote_ident(tgname) AS name,
    CASE tgenabled WHEN 'A' THEN 'ALWAYS' ELSE 'REPLICA' END AS mode FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE tgenabled IN ('A', 'R') AND relkind IN ('r', 'p') ORDER BY 1, 2`;

const VIEWS = `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind = 'm' ORDER BY 1`;

const SEQUENCES = `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE relkind = 'S' AND nspname !~ '^pg_t' ORDER BY 1`;

/**
 * Deletes all rows of all databases, and data derived from them: statistics, values of added columns, large objects,
 * the values of sequences, and the content of materialized views. The schema stays. No code of clients runs with the
 * rights of the superuser: all triggers are disabled, and Postgres calls the functions of an index with the rights of
 * the table's owner.
 */
export async function deleteRows(engine: RunningEngine): Promise<void> {
  const databases = ["postgres", ...(await clientDatabases(engine))];
  await withOpenDatabases(engine, async () => {
    for (const database of databases) await engine.inDatabase(database, deleteRowsOf);
  });
  // The log before this segment is not needed.
  await engine.query("SELECT pg_switch_wal()");
}

async function deleteRowsOf(query: AdminQuery): Promise<void> {
  const tables = await namesOf(query, TABLES);
  const triggers = await query(TRIGGERS);
  const sequences = await namesOf(query, SEQUENCES);
  const setTriggers = (action: (mode: string) => string) =>
    triggers.map(({ alter, name, mode }) => `${alter} ${action(mode ?? "")} TRIGGER ${name}`);
  await query(
    [
      ...setTriggers(() => "DISABLE"),
      // All at once, so that foreign keys do not matter.
      ...(tables.length === 0 ? [] : [`TRUNCATE ${tables.join(", ")} CASCADE`]),
      ...setTriggers((mode) => `ENABLE ${mode}`),
      ...sequences.map((name) => `ALTER SEQUENCE ${name} RESTART`),
      ...(await namesOf(query, VIEWS)).map((name) => `REFRESH MATERIALIZED VIEW ${name} WITH NO DATA`),
      "SELECT count(lo_unlink(oid)) FROM pg_largeobject_metadata",
      "DELETE FROM pg_statistic",
      // Values that existing rows have in a column that was added later.
      `UPDATE pg_attribute SET atthasmissing = false, attmissingval = NULL
         WHERE atthasmissing AND attrelid >= ${FIRST_OWN_OID}`,
      "DELETE FROM pg_statistic_ext_data",
    ].join("; "),
  );
  for (const catalog of REWRITTEN_CATALOGS) await query(`VACUUM FULL ${catalog}`);
}

async function namesOf(query: AdminQuery, sql: string): Promise<string[]> {
  return (await query(sql)).map(({ name }) => name ?? "");
}
