// @ts-nocheck
import type { RunningEngine } from "./engine.ts";
import { SPARE_DATABASE, SUPERUSER } from "./engine.ts";

/** The roles and databases of a cluster, without those that every cluster has. */
export type Content = {
  readonly roles: readonly ContentRole[];
  readonly databases: readonly ContentDatabase[];
};
/** `verifier`: `undefined` for a role that cannot log in. */
type ContentRole = { readonly name: string; readonly verifier: string | undefined };
/** `id` stays the same when the database is renamed or copied. */
type ContentDatabase = { readonly id: number; readonly name: string; readonly owner: string };

/** What SQL statements changed in the cluster since content was last applied to it. */
export type LearnedChanges = {
  readonly createdRoles: readonly ContentRole[];
  readonly changedPasswords: readonly ContentRole[];
  readonly droppedRoles: readonly string[];
  readonly createdDatabases: readonly { readonly name: string; readonly owner: string }[];
  readonly changedOwners: readonly { readonly name: string; readonly owner: string }[];
  readonly droppedDatabases: readonly string[];
};

type EngineDatabase = { readonly name: string; readonly owner: string };
type EngineContent = {
  readonly roles: readonly ContentRole[];
  readonly databases: readonly EngineDatabase[];
};

const EMPTY_CONTENT: Content = { roles: [], databases: [] };

/**
 * Truncates all tables of users at once, so that foreign keys do not matter. Sequences begin again, materialized
 * views are empty.
 */
const DELETE_ROWS = `DO $$
DECLARE item record; tables text;
BEGIN
  SELECT string_agg(format('%I.%I', n.nspname, c.relname), ', ') INTO tables
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg\\_t%'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
        AND d.deptype = 'e');
  IF tables IS NOT NULL THEN EXECUTE 'TRUNCATE ' || tables || ' RESTART IDENTITY CASCADE'; END IF;
  FOR item IN SELECT c.oid::regclass AS name FROM pg_class c WHERE c.relkind = 'm'
    LOOP EXECUTE format('REFRESH MATERIALIZED VIEW %s WITH NO DATA', item.name); END LOOP;
  PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
END $$`;

/** A group with the privileges that roles created by the platform have. */
const PLATFORM_GROUP = "platform_superuser";

/** Creates what every cluster of the platform has. Idempotent. */
export async function prepareCluster(engine: RunningEngine): Promise<void> {
  const [group] = await engine.query(`SELECT 1 FROM pg_roles WHERE rolname = ${literal(PLATFORM_GROUP)}`);
  if (group !== undefined) return;
  await engine.query("CREATE SCHEMA standin; CREATE TABLE standin.applied_content (content text NOT NULL)");
  await engine.query(
    `CREATE ROLE ${PLATFORM_GROUP} NOLOGIN CREATEDB CREATEROLE BYPASSRLS REPLICATION;` +
      `GRANT pg_read_all_data, pg_write_all_data, pg_monitor TO ${PLATFORM_GROUP};`,
  );
}

/**
 * The content that was last applied to the cluster. It is stored in the cluster itself, so that it goes back with
 * the data.
 */
export async function readAppliedContent(engine: RunningEngine): Promise<Content> {
  const [stored] = await engine.query("SELECT content FROM standin.applied_content");
  return stored === undefined ? EMPTY_CONTENT : (JSON.parse(stored["content"] ?? "") as Content);
}

export async function writeAppliedContent(engine: RunningEngine, content: Content): Promise<void> {
  await engine.query(
    `BEGIN; DELETE FROM standin.applied_content; INSERT INTO standin.applied_content VALUES (${literal(JSON.stringify(content))}); COMMIT`,
  );
}

/** Deletes all rows of all databases. The schema stays. */
export async function deleteRows(engine: RunningEngine): Promise<void> {
  const databases = await engine.query(
    "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' AND datallowconn ORDER BY datname",
  );
  for (const { datname } of databases) await engine.query(DELETE_ROWS, datname ?? "");
}

export async function readContent(engine: RunningEngine): Promise<EngineContent> {
  const roles = await engine.query(
    `SELECT rolname, CASE WHEN rolcanlogin THEN coalesce(rolpassword, '') END AS verifier FROM pg_authid
     WHERE rolname NOT LIKE 'pg\\_%' AND rolname NOT IN (${literal(SUPERUSER)}, ${literal(PLATFORM_GROUP)})
     ORDER BY rolname`,
  );
  const databases = await engine.query(
    `SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database
     WHERE NOT datistemplate AND datname NOT IN ('postgres', ${literal(SPARE_DATABASE)}) ORDER BY datname`,
  );
  return {
    roles: roles.map(({ rolname, verifier }) => ({ name: rolname ?? "", verifier: verifier ?? undefined })),
    databases: databases.map(({ datname, owner }) => ({ name: datname ?? "", owner: owner ?? "" })),
  };
}

/** What differs between the cluster and the content that was last applied to it. */
export function learnedChanges(applied: Content, engine: EngineContent): LearnedChanges {
  const roleBefore = new Map(applied.roles.map((role) => [role.name, role]));
  const databaseBefore = new Map(applied.databases.map((database) => [database.name, database]));
  const roleNames = new Set(engine.roles.map(({ name }) => name));
  const databaseNames = new Set(engine.databases.map(({ name }) => name));
  return {
    createdRoles: engine.roles.filter(({ name }) => !roleBefore.has(name)),
    changedPasswords: engine.roles.filter(({ name, verifier }) => {
      const before = roleBefore.get(name);
      return before !== undefined && before.verifier !== verifier;
    }),
    droppedRoles: applied.roles.map(({ name }) => name).filter((name) => !roleNames.has(name)),
    createdDatabases: engine.databases.filter(({ name }) => !databaseBefore.has(name)),
    changedOwners: engine.databases.filter(({ name, owner }) => {
      const before = databaseBefore.get(name);
      return before !== undefined && before.owner !== owner;
    }),
    droppedDatabases: applied.databases.map(({ name }) => name).filter((name) => !databaseNames.has(name)),
  };
}

export function hasChanges(changes: LearnedChanges): boolean {
  return Object.values(changes).some((list) => list.length > 0);
}

/** Makes the roles and databases of the cluster those of `wanted`. `applied`: those that it has. */
export async function applyContent(engine: RunningEngine, applied: Content, wanted: Content): Promise<void> {
  const roleBefore = new Map(applied.roles.map((role) => [role.name, role]));
  for (const role of wanted.roles) {
    const before = roleBefore.get(role.name);
    if (before === undefined) await engine.query(createRole(role));
    else if (before.verifier !== role.verifier && role.verifier !== undefined)
      await engine.query(`ALTER ROLE ${identifier(role.name)} PASSWORD ${literal(role.verifier)}`);
  }
  const databaseBefore = new Map(applied.databases.map((database) => [database.id, database]));
  const wantedIds = new Set(wanted.databases.map(({ id }) => id));
  for (const { id, name } of applied.databases)
    if (!wantedIds.has(id)) await engine.query(`DROP DATABASE IF EXISTS ${identifier(name)} WITH (FORCE)`);
  for (const { id, name, owner } of wanted.databases) {
    const before = databaseBefore.get(id);
    if (before === undefined) await createDatabase(engine, name, owner);
    else if (before.name !== name)
      await engine.query(`ALTER DATABASE ${identifier(before.name)} RENAME TO ${identifier(name)}`);
    if (before !== undefined && before.owner !== owner)
      await engine.query(`ALTER DATABASE ${identifier(name)} OWNER TO ${identifier(owner)}`);
  }
  const wantedRoles = new Set(wanted.roles.map(({ name }) => name));
  for (const { name } of applied.roles)
    if (!wantedRoles.has(name)) await dropRole(engine, name, wanted.databases);
}

async function createDatabase(engine: RunningEngine, name: string, owner: string): Promise<void> {
  const [spare] = await engine.query(`SELECT 1 FROM pg_database WHERE datname = ${literal(SPARE_DATABASE)}`);
  if (spare === undefined) {
    await engine.query(`CREATE DATABASE ${identifier(name)} OWNER ${identifier(owner)}`);
    return;
  }
  await engine.query(
    `ALTER DATABASE ${SPARE_DATABASE} RENAME TO ${identifier(name)};` +
      `ALTER DATABASE ${identifier(name)} OWNER TO ${identifier(owner)}`,
  );
}

function createRole({ name, verifier }: ContentRole): string {
  const role = identifier(name);
  if (verifier === undefined) return `CREATE ROLE ${role} NOLOGIN`;
  return (
    `CREATE ROLE ${role} LOGIN CREATEDB CREATEROLE BYPASSRLS REPLICATION PASSWORD ${literal(verifier)};` +
    `GRANT ${PLATFORM_GROUP} TO ${role} WITH ADMIN OPTION`
  );
}

/** A role can be dropped once it owns nothing in any database; what it owned goes to the database's owner. */
async function dropRole(
  engine: RunningEngine,
  name: string,
  databases: readonly ContentDatabase[],
): Promise<void> {
  const role = identifier(name);
  for (const database of databases)
    await engine.query(
      `REASSIGN OWNED BY ${role} TO ${identifier(database.owner)}; DROP OWNED BY ${role}`,
      database.name,
    );
  await engine.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
