import { type AdminQuery, type RunningEngine, StatementRejected, SUPERUSER } from "../engine/engine.ts";
import { literal } from "../engine/sql-text.ts";
import { type AppliedContent, asApplied, type Content } from "./content.ts";

const NO_CONTENT: AppliedContent = { roles: [], databases: [] };

/**
 * It is stored in the cluster itself, so that it goes back with the data: as the comment of the superuser, which all
 * roles can read, and only a superuser can change.
 */
export async function readAppliedContent(engine: RunningEngine): Promise<AppliedContent> {
  const [stored] = await engine.query(
    `SELECT shobj_description(oid, 'pg_authid') AS content FROM pg_roles WHERE rolname = ${literal(SUPERUSER)}`,
  );
  const content = stored?.["content"];
  return typeof content === "string" ? (JSON.parse(content) as AppliedContent) : readEarlierForm(engine);
}

export async function writeAppliedContent(engine: RunningEngine, content: AppliedContent): Promise<void> {
  await engine.query(`COMMENT ON ROLE ${SUPERUSER} IS ${literal(JSON.stringify(content))}`);
}

const UNDEFINED_TABLE = "42P01";

/** Until release 0.4 it was in a table, which clients could write to. */
async function readEarlierForm(engine: RunningEngine): Promise<AppliedContent> {
  try {
    const [stored] = await engine.query("SELECT content FROM standin.applied_content");
    return asApplied(JSON.parse(stored?.["content"] ?? "") as Content);
  } catch (error) {
    // A client has changed it. What the cluster has is compared with the world.
    if (error instanceof SyntaxError || error instanceof TypeError) return NO_CONTENT;
    if (error instanceof StatementRejected && error.code === UNDEFINED_TABLE) return NO_CONTENT;
    throw error;
  }
}

/** Removes what earlier releases left in the cluster. `databases`: those of clients. */
export async function removeEarlierForm(engine: RunningEngine, databases: readonly string[]): Promise<void> {
  const [table] = await engine.query("SELECT to_regnamespace('standin') AS schema");
  if (typeof table?.["schema"] !== "string") return;
  for (const database of databases) await engine.inDatabase(database, secureFunctions);
  await engine.query("DROP SCHEMA standin CASCADE");
}

/** The function of the platform's extension found types of `pg_temp` first, with the rights of the superuser. */
async function secureFunctions(query: AdminQuery): Promise<void> {
  const functions = await query(
    `SELECT oid::regprocedure AS name FROM pg_proc WHERE prosecdef AND proowner = 10 AND prorettype = 'json'::regtype
       AND proname ~ '_file_cache_statistics$'`,
  );
  for (const { name } of functions)
    await query(`ALTER FUNCTION ${name} SET search_path = pg_catalog, pg_temp`);
}
