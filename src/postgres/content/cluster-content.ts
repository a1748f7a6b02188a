import {
  OWN_DATABASES,
  PLATFORM_GROUP,
  type RunningEngine,
  SPARE_DATABASE,
  SUPERUSER,
} from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";
import {
  type AppliedContent,
  type AppliedRole,
  type ClusterContent,
  type Content,
  type ContentDatabase,
  type ContentRole,
  passwordId,
} from "./content.ts";
import { dropSubscriptions, executeWithName } from "./drop-subscriptions.ts";

/** Clients may create a database with the name of the spare one after that was used. */
const IS_OWN_DATABASE = `datname IN (${OWN_DATABASES.map(literal).join(", ")})
  AND (datdba = 10 OR datname <> ${literal(SPARE_DATABASE)})`;

/** How long a session of a client may take to end. */
const SESSION_TIMEOUT_MS = 5_000;
/** The names of databases within the transaction that renames them. */
const RENAMED = "standin_renamed_";

/** The names of all databases of clients, whatever a client has set for them. */
export async function clientDatabases(engine: RunningEngine): Promise<string[]> {
  const databases = await engine.query(
    `SELECT datname FROM pg_database WHERE NOT (${IS_OWN_DATABASE}) ORDER BY datname`,
  );
  return databases.map(({ datname }) => datname ?? "");
}

/** Lets sessions connect to databases whose owners have forbidden it, for the duration of `work`. */
export async function withOpenDatabases<T>(engine: RunningEngine, work: () => Promise<T>): Promise<T> {
  const closed = await engine.query(
    "SELECT oid FROM pg_database WHERE NOT datallowconn AND datname NOT IN ('template0', 'template1')",
  );
  const allow = (value: boolean) =>
    closed
      .map(({ oid }) => alterDatabase(Number(oid), `ALTER DATABASE %I ALLOW_CONNECTIONS ${value}`))
      .join("; ");
  if (closed.length > 0) await engine.query(allow(true));
  try {
    return await work();
  } finally {
    if (closed.length > 0) await engine.query(allow(false));
  }
}

function alterDatabase(oid: number, ...statements: readonly string[]): string {
  return executeWithName("datname", `pg_database WHERE oid = ${oid}`, statements);
}

/** A setting of the session that stores the name of a database while it has another one. */
const STORED_NAME = "standin.database_name";

/**
 * Renames a database that has no sessions for the duration of `work` if its name is no UTF-8, because no client of standin can
 * send that. If the server is killed in between, the database keeps the other name.
 */
export async function withReadableName(
  engine: RunningEngine,
  { oid, name }: { readonly oid: number; readonly name: string },
  work: (name: string) => Promise<void>,
): Promise<void> {
  if (isText(name)) return work(name);
  const readable = `${RENAMED}${oid}`;
  const rename = alterDatabase(oid, `ALTER DATABASE %I RENAME TO ${identifier(readable)}`);
  await engine.query(
    `SELECT set_config(${literal(STORED_NAME)}, datname, false) FROM pg_database WHERE oid = ${oid}; ${rename}`,
  );
  try {
    await work(readable);
  } finally {
    await engine.query(
      executeWithName("current_setting", `current_setting(${literal(STORED_NAME)})`, [
        `ALTER DATABASE ${identifier(readable)} RENAME TO %I`,
      ]),
    );
  }
}

/** A database of another encoding may create names that are no UTF-8. The API cannot show them. */
function isText(name: string): boolean {
  return !name.includes("\uFFFD");
}

export async function readContent(engine: RunningEngine): Promise<ClusterContent> {
  const roles = await engine.query(
    `SELECT rolname, CASE WHEN rolcanlogin THEN coalesce(rolpassword, '') END AS verifier,
       rolvaliduntil < 'infinity' AS expires
     FROM pg_authid
     WHERE rolname NOT LIKE 'pg\\_%' AND rolname NOT IN (${literal(SUPERUSER)}, ${literal(PLATFORM_GROUP)})
     ORDER BY rolname`,
  );
  const databases = await engine.query(
    `SELECT datname, pg_get_userbyid(datdba) AS owner FROM pg_database
     WHERE NOT (${IS_OWN_DATABASE}) ORDER BY datname`,
  );
  return {
    roles: roles
      .map(({ rolname, verifier }) => ({ name: rolname ?? "", verifier: verifier ?? undefined }))
      .filter(({ name }) => isText(name)),
    expiringRoles: new Set(roles.flatMap(({ rolname, expires }) => (expires === "t" ? [rolname ?? ""] : []))),
    databases: databases
      .map(({ datname, owner }) => ({ name: datname ?? "", owner: owner ?? "" }))
      .filter(({ name, owner }) => isText(name) && isText(owner)),
  };
}

/** Whether the role's password has expired, by the clock of SQL. */
export async function hasExpired(engine: RunningEngine, role: string): Promise<boolean> {
  const expired = await engine.query(
    `SELECT FROM pg_authid WHERE rolname = ${literal(role)} AND rolvaliduntil < clock_timestamp()`,
  );
  return expired.length > 0;
}

/** Changes the roles and databases of the cluster from `applied`, which it has, to `wanted`. */
export async function applyContent(
  engine: RunningEngine,
  applied: AppliedContent,
  wanted: Content,
): Promise<void> {
  const roleBefore = new Map(applied.roles.map((role) => [role.name, role]));
  for (const role of wanted.roles) {
    const before = roleBefore.get(role.name);
    if (before === undefined) await createRole(engine, role);
    else if (before.password !== passwordId(role.verifier))
      await engine.query(`ALTER ROLE ${identifier(role.name)} ${loginOf(role)}`);
  }
  const databaseBefore = new Map(applied.databases.map((database) => [database.id, database]));
  const wantedIds = new Set(wanted.databases.map(({ id }) => id));
  for (const { id, name } of applied.databases) if (!wantedIds.has(id)) await dropDatabase(engine, name);
  await renameDatabases(
    engine,
    wanted.databases.flatMap(({ id, name }) => {
      const before = databaseBefore.get(id);
      return before === undefined || before.name === name ? [] : [{ from: before.name, to: name }];
    }),
  );
  for (const { id, name, owner } of wanted.databases) {
    const before = databaseBefore.get(id);
    if (before === undefined) await createDatabase(engine, name, owner);
    else if (before.owner !== owner)
      await engine.query(`ALTER DATABASE ${identifier(name)} OWNER TO ${identifier(owner)}`);
  }
  const wantedRoles = new Set(wanted.roles.map(({ name }) => name));
  const dropped = applied.roles.filter(({ name }) => !wantedRoles.has(name));
  if (dropped.length > 0) await withOpenDatabases(engine, () => dropRoles(engine, dropped, wanted.databases));
}

async function createDatabase(engine: RunningEngine, name: string, owner: string): Promise<void> {
  // Clients may create a database of this name, too.
  const [spare] = await engine.query(
    `SELECT 1 FROM pg_database WHERE datname = ${literal(SPARE_DATABASE)} AND datdba = 10`,
  );
  if (spare === undefined) {
    await engine.query(`CREATE DATABASE ${identifier(name)} OWNER ${identifier(owner)}`);
    return;
  }
  const rename =
    name === SPARE_DATABASE ? "" : `ALTER DATABASE ${SPARE_DATABASE} RENAME TO ${identifier(name)};`;
  await engine.query(`${rename}ALTER DATABASE ${identifier(name)} OWNER TO ${identifier(owner)}`);
}

/** SQL may have created one of this name at the same time. It becomes the one that the API has created. */
async function createRole(engine: RunningEngine, wanted: ContentRole): Promise<void> {
  const [existing] = await engine.query(`SELECT FROM pg_roles WHERE rolname = ${literal(wanted.name)}`);
  const role = `${existing === undefined ? "CREATE" : "ALTER"} ROLE ${identifier(wanted.name)}`;
  const rights = "CREATEDB CREATEROLE BYPASSRLS REPLICATION";
  await engine.query(
    wanted.verifier === undefined
      ? `${role} ${loginOf(wanted)}`
      : `${role} ${rights} ${loginOf(wanted)};` +
          `GRANT ${PLATFORM_GROUP} TO ${identifier(wanted.name)} WITH ADMIN OPTION`,
  );
}

function loginOf({ verifier }: ContentRole): string {
  return verifier === undefined ? "NOLOGIN" : `LOGIN PASSWORD ${literal(verifier)}`;
}

type Renaming = { readonly from: string; readonly to: string };

/** They may have exchanged their names. Sessions end, because Postgres renames no database that is in use. */
async function renameDatabases(engine: RunningEngine, renamings: readonly Renaming[]): Promise<void> {
  if (renamings.length === 0) return;
  await engine.query(
    `SELECT pg_terminate_backend(pid, ${SESSION_TIMEOUT_MS}) FROM pg_stat_activity
     WHERE datname IN (${renamings.map(({ from }) => literal(from)).join(", ")})`,
  );
  const rename = (from: string, to: string) =>
    `ALTER DATABASE ${identifier(from)} RENAME TO ${identifier(to)}`;
  const between = renamings.map((_, index) => `${RENAMED}${index}`);
  await engine.query(
    [
      ...renamings.map(({ from }, index) => rename(from, between[index] ?? "")),
      ...renamings.map(({ to }, index) => rename(between[index] ?? "", to)),
    ].join("; "),
  );
}

/** Also one that its owner has protected, and with the replication slots and subscriptions of its clients. */
async function dropDatabase(engine: RunningEngine, name: string): Promise<void> {
  const [database] = await engine.query(
    `SELECT datistemplate FROM pg_database WHERE datname = ${literal(name)}`,
  );
  if (database === undefined) return;
  if (database["datistemplate"] === "t")
    await engine.query(`ALTER DATABASE ${identifier(name)} IS_TEMPLATE false`);
  // D: only if the API drops the database. Postgres drops none that has subscriptions.
  await withOpenDatabases(engine, () => dropSubscriptions(engine, name));
  // Postgres drops slots together with their database, but not while a client reads them.
  await engine.query(
    `SELECT pg_terminate_backend(active_pid, ${SESSION_TIMEOUT_MS}) FROM pg_replication_slots
     WHERE database = ${literal(name)} AND active`,
  );
  await engine.query(`DROP DATABASE IF EXISTS ${identifier(name)} WITH (FORCE)`);
}

/** A role can be dropped once it owns nothing in any database; what it owned goes to the database's owner. */
async function dropRoles(
  engine: RunningEngine,
  dropped: readonly AppliedRole[],
  databases: readonly ContentDatabase[],
): Promise<void> {
  const roles = dropped.map(({ name }) => identifier(name)).join(", ");
  // Dropping an object calls no code of its owner.
  for (const { name, owner } of databases)
    await engine.inDatabase(name, (query) =>
      query(`REASSIGN OWNED BY ${roles} TO ${identifier(owner)}; DROP OWNED BY ${roles}`),
    );
  await engine.query(`DROP OWNED BY ${roles}; DROP ROLE ${roles}`);
}
