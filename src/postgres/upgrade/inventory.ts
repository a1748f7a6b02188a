import { createHash } from "node:crypto";
import { dirname } from "node:path";
import {
  type AdminQuery,
  PLATFORM_GROUP,
  type Row,
  type RunningEngine,
  SUPERUSER,
} from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";
import { SOCKET_PORT } from "../processes/postgres-process.ts";
import { asRole } from "../processes/script.ts";

/** Objects of a cluster: their names, and the values that must be the same after a copy. */
export type Inventory = ReadonlyMap<string, string>;

export type InventoryCounts = {
  readonly roles: number;
  readonly databases: number;
  readonly tables: number;
  readonly rows: number;
  readonly sequences: number;
  readonly extensions: number;
};

const SHARED = (
  reader: string,
) => `SELECT 'role ' || rolname AS subject, concat_ws(' ', rolinherit, rolcreaterole, rolcreatedb,
      rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolvaliduntil, rolpassword) AS state
    FROM pg_authid WHERE rolname !~ '^pg_'
      AND rolname NOT IN (${[SUPERUSER, PLATFORM_GROUP, reader].map(literal).join(", ")})
  UNION ALL SELECT format('membership of "%s" in "%s"', member.rolname, granted.rolname), bool_or(admin_option)::text
    FROM pg_auth_members m JOIN pg_authid granted ON granted.oid = m.roleid JOIN pg_authid member ON member.oid = m.member
    WHERE NOT (granted.rolname ~ '^pg_' AND member.rolname ~ ${literal(`^pg_|^${PLATFORM_GROUP}$`)})
      AND member.rolname <> ${literal(reader)} GROUP BY 1
  UNION ALL SELECT 'database ' || datname, concat_ws(' ', pg_get_userbyid(datdba),
      pg_encoding_to_char(encoding), datcollate, datctype)
    FROM pg_database WHERE datdba <> 10`;

/** Whether an object belongs to an extension, of which the new version may have another release. */
const IN_EXTENSION = (catalog: string, id: string) =>
  `EXISTS (SELECT FROM pg_depend WHERE classid = '${catalog}'::regclass AND objid = ${id} AND deptype = 'e')`;
const IS_OF_CLIENTS = "nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_t'";

/** Without casts to `regclass` and the like: versions differ in which names they quote. */
const RELATION = (id: string) => `(SELECT format('"%s"."%s"', nspname, relname) FROM pg_class r
  JOIN pg_namespace ON pg_namespace.oid = r.relnamespace WHERE r.oid = ${id})`;
const TYPE = (id: string) => `(SELECT format('"%s"."%s"', nspname, typname) FROM pg_type t
  JOIN pg_namespace ON pg_namespace.oid = t.typnamespace WHERE t.oid = ${id})`;
const ARGUMENTS = `(SELECT string_agg(${TYPE("argument")}, ', ' ORDER BY position)
  FROM unnest(proargtypes) WITH ORDINALITY AS arguments(argument, position))`;

/** Without constraints that only newer versions list, and without what each version prints in its own way. */
const OBJECTS = `SELECT 'extension ' || extname AS subject, nspname::text AS state
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace
  UNION ALL SELECT 'schema ' || nspname, pg_get_userbyid(nspowner) FROM pg_namespace
    WHERE ${IS_OF_CLIENTS} AND nspname <> 'public' AND NOT ${IN_EXTENSION("pg_namespace", "pg_namespace.oid")}
  UNION ALL SELECT 'relation ' || ${RELATION("c.oid")}, concat_ws(' ', relkind, pg_get_userbyid(relowner),
      relpersistence, relrowsecurity, relforcerowsecurity, relispopulated, (SELECT count(*) FROM pg_attribute
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped))
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
    WHERE ${IS_OF_CLIENTS} AND NOT ${IN_EXTENSION("pg_class", "c.oid")}
  UNION ALL SELECT format('function "%s"."%s"(%s)', nspname, proname, ${ARGUMENTS}),
      concat_ws(' ', prokind, pg_get_userbyid(proowner), prosecdef, md5(prosrc))
    FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
    WHERE ${IS_OF_CLIENTS} AND NOT ${IN_EXTENSION("pg_proc", "p.oid")}
  UNION ALL SELECT format('constraint "%s" of %s', conname, coalesce(${RELATION("conrelid")}, ${TYPE("contypid")})),
      concat_ws(' ', contype, convalidated)
    FROM pg_constraint JOIN pg_namespace n ON n.oid = connamespace
    WHERE ${IS_OF_CLIENTS} AND contype IN ('c', 'f', 'p', 'u', 'x')
      AND NOT ${IN_EXTENSION("pg_class", "conrelid")} AND NOT ${IN_EXTENSION("pg_type", "contypid")}
  UNION ALL SELECT format('trigger "%s" of %s', tgname, ${RELATION("tgrelid")}), tgenabled::text FROM pg_trigger
    WHERE NOT tgisinternal
  UNION ALL SELECT format('policy "%s" of %s', polname, ${RELATION("polrelid")}), concat_ws(' ', polcmd, polpermissive)
    FROM pg_policy
  UNION ALL SELECT 'large objects', concat_ws(' ', count(*), coalesce(sum(length(lo_get(oid))), 0))
    FROM pg_largeobject_metadata`;

/** Tables, materialized views and sequences. A partitioned table itself has no rows; its partitions have them. */
const TABLES = `SELECT nspname, relname, relkind FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE ${IS_OF_CLIENTS} AND relkind IN ('r', 'm', 'S') AND relispopulated
    AND NOT ${IN_EXTENSION("pg_class", "c.oid")} ORDER BY nspname, relname`;

const SUBJECTS: Readonly<Record<string, string>> = {
  r: "rows of table",
  m: "rows of materialized view",
  S: "value of sequence",
};

/**
 * Lists the roles, databases and objects of a cluster with the numbers of rows and the values of sequences. A plan of a query
 * evaluates what indexes and statistics of a table call, so rows are counted by `reader`, a role that is not a superuser.
 */
export async function takeInventory(
  engine: RunningEngine,
  databases: readonly string[],
  reader: string,
): Promise<Inventory> {
  const inventory = new Map<string, string>();
  // A verifier must not be in a message.
  for (const { subject, state } of await engine.query(SHARED(reader)))
    inventory.set(subject ?? "", subject?.startsWith("role ") === true ? digest(state) : (state ?? ""));
  for (const database of databases) {
    const add = (subject: string, state: string | null | undefined) =>
      inventory.set(`${subject} in database ${database}`, state ?? "");
    const tables = await engine.inDatabase(database, async (query) => {
      for (const { subject, state } of await query(OBJECTS)) add(subject ?? "", state);
      return query(TABLES);
    });
    const session = { host: dirname(engine.address.path), port: SOCKET_PORT, database, user: reader };
    await asRole(session, (query) => countRows(query, tables, add));
  }
  return inventory;
}

async function countRows(
  query: AdminQuery,
  tables: readonly Row[],
  add: (subject: string, state: string | null | undefined) => void,
): Promise<void> {
  for (const { nspname, relname, relkind } of tables) {
    const name = `${identifier(nspname ?? "")}.${identifier(relname ?? "")}`;
    const [row] = await query(
      relkind === "S"
        ? `SELECT concat_ws(' ', last_value, is_called) AS state FROM ${name}`
        : `SELECT count(*)::text AS state FROM ONLY ${name}`,
    );
    add(`${SUBJECTS[relkind ?? ""]} ${name}`, row?.["state"]);
  }
}

function digest(text: string | null | undefined): string {
  return createHash("sha256")
    .update(text ?? "")
    .digest("hex");
}

/** Differences, for the operator; empty if there are none. */
export function differencesOf(before: Inventory, after: Inventory): readonly string[] {
  const subjects = [...new Set([...before.keys(), ...after.keys()])].sort();
  return subjects.flatMap((subject) => {
    const [was, is] = [before.get(subject), after.get(subject)];
    if (was === is) return [];
    if (is === undefined) return [`${subject} is missing`];
    if (was === undefined) return [`${subject} was not there before`];
    return [subject.startsWith("role ") ? `${subject} differs` : `${subject} was ${was}, and is ${is}`];
  });
}

export function countsOf(inventory: Inventory): InventoryCounts {
  const subjects = [...inventory.keys()];
  const count = (prefix: string) => subjects.filter((subject) => subject.startsWith(prefix)).length;
  const rows = subjects
    .filter((subject) => subject.startsWith("rows of table "))
    .reduce((sum, subject) => sum + Number(inventory.get(subject)), 0);
  return {
    roles: count("role "),
    databases: count("database "),
    tables: count("rows of table "),
    rows,
    sequences: count("value of sequence "),
    extensions: count("extension "),
  };
}
