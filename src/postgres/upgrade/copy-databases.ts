import { clientDatabases } from "../content/cluster-content.ts";
import { type Row, type RunningEngine, StatementRejected } from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";

/** Names of providers in `pg_database`, and in CREATE DATABASE. */
const PROVIDERS: Readonly<Record<string, string>> = { c: "libc", i: "icu", b: "builtin" };

const DATABASES = `SELECT datname, pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding,
    datcollate, datctype, to_jsonb(d) ->> 'datlocprovider' AS provider,
    coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') AS locale, datistemplate, datallowconn,
    datconnlimit, shobj_description(oid, 'pg_database') AS comment, datacl IS NOT NULL AS has_rights
  FROM pg_database d ORDER BY datname`;

/** The rights of a database, by who has them. A role that is null: all. */
const RIGHTS = `SELECT role.rolname AS role, privilege_type, is_grantable
  FROM pg_database, aclexplode(datacl) LEFT JOIN pg_authid role ON role.oid = grantee WHERE datname = `;

/** `database` and `role`: null for a setting of all. */
const SETTINGS = `SELECT datname AS database, rolname AS role, split_part(setting, '=', 1) AS name,
    substr(setting, strpos(setting, '=') + 1) AS value
  FROM pg_db_role_setting s CROSS JOIN unnest(setconfig) WITH ORDINALITY AS settings(setting, position)
    LEFT JOIN pg_database d ON d.oid = setdatabase LEFT JOIN pg_roles r ON r.oid = setrole
  ORDER BY 1, 2, position`;

/** Lists of names, whose value Postgres stores with quotes where a name needs them. */
const LISTS_OF_NAMES = ["search_path", "temp_tablespaces", "local_preload_libraries"];

/** Postgres does not know a setting. */
const UNKNOWN_SETTING = "42704";

/** A database of clients, as its catalog describes it. */
export type DescribedDatabase = { readonly name: string; readonly owner: string; readonly row: Row };

/** Read before a session changes whether the databases allow connections. */
export async function describeDatabases(source: RunningEngine): Promise<readonly DescribedDatabase[]> {
  const names = new Set(await clientDatabases(source));
  return (await source.query(DATABASES))
    .map((row) => ({ name: row["datname"] ?? "", owner: row["owner"] ?? "", row }))
    .filter(({ name }) => names.has(name));
}

/** Creates an empty database with the owner, the encoding and the order of text of the source. */
export async function createSameDatabase(
  target: RunningEngine,
  { name, owner, row }: DescribedDatabase,
): Promise<void> {
  const { encoding, datcollate, datctype, provider, locale } = row;
  const providerName = PROVIDERS[provider ?? "c"];
  const localeName = providerName === "icu" ? "ICU_LOCALE" : "BUILTIN_LOCALE";
  await target.query(
    [
      `CREATE DATABASE ${identifier(name)} OWNER ${identifier(owner)} TEMPLATE template0`,
      `ENCODING ${literal(encoding ?? "")}`,
      `LC_COLLATE ${literal(datcollate ?? "")} LC_CTYPE ${literal(datctype ?? "")}`,
      `LOCALE_PROVIDER ${providerName}`,
      ...(typeof locale === "string" ? [`${localeName} ${literal(locale)}`] : []),
    ].join(" "),
  );
}

/** After its content: from then on, its owner may have forbidden connections. */
export async function copyDatabaseRights(
  source: RunningEngine,
  target: RunningEngine,
  { name, owner, row }: DescribedDatabase,
): Promise<void> {
  const database = identifier(name);
  const comment = row["comment"];
  const statements = [
    `ALTER DATABASE ${database} CONNECTION LIMIT ${Number(row["datconnlimit"])}`,
    ...(row["datistemplate"] === "t" ? [`ALTER DATABASE ${database} IS_TEMPLATE true`] : []),
    ...(row["datallowconn"] === "t" ? [] : [`ALTER DATABASE ${database} ALLOW_CONNECTIONS false`]),
    ...(typeof comment === "string" ? [`COMMENT ON DATABASE ${database} IS ${literal(comment)}`] : []),
  ];
  if (row["has_rights"] === "t") {
    statements.push(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC, ${identifier(owner)}`);
    for (const right of await source.query(RIGHTS + literal(name)))
      statements.push(grantRight(database, right));
  }
  await target.query(statements.join("; "));
}

function grantRight(database: string, right: Row): string {
  const role = right["role"];
  const grantee = typeof role === "string" ? identifier(role) : "PUBLIC";
  const option = right["is_grantable"] === "t" ? " WITH GRANT OPTION" : "";
  return `GRANT ${right["privilege_type"]} ON DATABASE ${database} TO ${grantee}${option}`;
}

/**
 * Reads what clients have set for roles and databases, and resets it for the databases of the source: with some settings,
 * such as a library that is missing or a short timeout, no session of a role can read.
 */
export async function takeSettings(
  source: RunningEngine,
  databases: readonly DescribedDatabase[],
): Promise<readonly Row[]> {
  const settings = await source.query(SETTINGS);
  for (const { name } of databases) await source.query(`ALTER DATABASE ${identifier(name)} RESET ALL`);
  return settings;
}

/** Returns those settings that the new version does not know, for the operator. */
export async function applySettings(
  target: RunningEngine,
  settings: readonly Row[],
): Promise<readonly string[]> {
  const unknown: string[] = [];
  for (const { database, role, name, value } of settings) {
    const inDatabase = typeof database === "string" ? `DATABASE ${identifier(database)}` : undefined;
    const subject =
      typeof role === "string"
        ? [`ROLE ${identifier(role)}`, inDatabase].filter((part) => part !== undefined).join(" IN ")
        : inDatabase;
    if (subject === undefined) continue;
    const setting = identifier(name ?? "");
    const statement = LISTS_OF_NAMES.includes(name ?? "")
      ? `SELECT set_config(${literal(name ?? "")}, ${literal(value ?? "")}, true);
         ALTER ${subject} SET ${setting} FROM CURRENT`
      : `ALTER ${subject} SET ${setting} TO ${literal(value ?? "")}`;
    try {
      await target.query(statement);
    } catch (error) {
      if (!(error instanceof StatementRejected) || error.code !== UNKNOWN_SETTING) throw error;
      unknown.push(`${subject}: ${name}`);
    }
  }
  return unknown;
}
