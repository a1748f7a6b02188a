import { PLATFORM_GROUP, type Row, type RunningEngine, SUPERUSER } from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";

/** Postgres 16 remembers who has granted a role, and only that role can revoke it. */
const GRANTORS_SINCE = 16;

/** Roles that no client has created. */
const IS_OWN = (name: string) =>
  `(${name} ~ '^pg_' OR ${name} IN (${literal(SUPERUSER)}, ${literal(PLATFORM_GROUP)}))`;

const ROLES = `SELECT rolname, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls,
    rolconnlimit, rolpassword, rolvaliduntil, shobj_description(oid, 'pg_authid') AS comment
  FROM pg_authid WHERE NOT ${IS_OWN("rolname")} ORDER BY rolname`;

/** Without those that every cluster has. Newer versions have two more options of each membership. */
const MEMBERSHIPS = `SELECT granted.rolname AS role, member.rolname AS member, grantor.rolname AS grantor,
    admin_option, to_jsonb(m) ->> 'inherit_option' AS inherit_option, to_jsonb(m) ->> 'set_option' AS set_option
  FROM pg_auth_members m JOIN pg_authid granted ON granted.oid = m.roleid
    JOIN pg_authid member ON member.oid = m.member LEFT JOIN pg_authid grantor ON grantor.oid = m.grantor
  WHERE NOT (${IS_OWN("granted.rolname")} AND ${IS_OWN("member.rolname")})
  ORDER BY granted.rolname, member.rolname, grantor.rolname`;

/** Creates the roles of clients with their attributes, passwords and memberships. The target has none of them. */
export async function copyRoles(source: RunningEngine, target: RunningEngine): Promise<readonly string[]> {
  const roles = await source.query(ROLES);
  for (const role of roles) await target.query(createRole(role));
  const [version] = await target.query(
    "SELECT current_setting('server_version_num')::int / 10000 AS version",
  );
  const grants = await source.query(MEMBERSHIPS);
  const hasGrantors =
    Number(version?.["version"]) >= GRANTORS_SINCE && grants.some((grant) => grant["set_option"] !== null);
  for (const grant of hasGrantors ? inOrderOfGrantors(grants) : grants)
    await target.query(grantRole(grant, hasGrantors));
  return roles.map(({ rolname }) => rolname ?? "");
}

function createRole(role: Row): string {
  const has = (column: string, attribute: string) => `${role[column] === "t" ? "" : "NO"}${attribute}`;
  const name = identifier(role["rolname"] ?? "");
  const attributes = [
    has("rolinherit", "INHERIT"),
    has("rolcreaterole", "CREATEROLE"),
    has("rolcreatedb", "CREATEDB"),
    has("rolcanlogin", "LOGIN"),
    has("rolreplication", "REPLICATION"),
    has("rolbypassrls", "BYPASSRLS"),
    `CONNECTION LIMIT ${Number(role["rolconnlimit"])}`,
    // A verifier is stored as it is.
    ...(role["rolpassword"] === null ? [] : [`PASSWORD ${literal(role["rolpassword"] ?? "")}`]),
    ...(role["rolvaliduntil"] === null ? [] : [`VALID UNTIL ${literal(role["rolvaliduntil"] ?? "")}`]),
  ];
  const comment = role["comment"];
  return [
    `CREATE ROLE ${name} ${attributes.join(" ")}`,
    ...(typeof comment === "string" ? [`COMMENT ON ROLE ${name} IS ${literal(comment)}`] : []),
  ].join("; ");
}

/** A role can grant another one only once it has the right to. */
function inOrderOfGrantors(grants: readonly Row[]): Row[] {
  const ordered: Row[] = [];
  const admins = new Set<string>();
  const isPossible = ({ role, grantor }: Row) =>
    grantor === SUPERUSER || grantor === null || admins.has(JSON.stringify([role, grantor]));
  for (let left = [...grants]; left.length > 0; ) {
    const possible = left.filter(isPossible);
    // Postgres allows no circle of grantors.
    if (possible.length === 0) return [...ordered, ...left];
    for (const grant of possible)
      if (grant["admin_option"] === "t") admins.add(JSON.stringify([grant["role"], grant["member"]]));
    ordered.push(...possible);
    left = left.filter((grant) => !possible.includes(grant));
  }
  return ordered;
}

function grantRole(grant: Row, hasGrantors: boolean): string {
  const { role, member, grantor } = grant;
  const isAdmin = grant["admin_option"] === "t";
  const grantStatement = `GRANT ${identifier(role ?? "")} TO ${identifier(member ?? "")}`;
  if (!hasGrantors) return isAdmin ? `${grantStatement} WITH ADMIN OPTION` : grantStatement;
  const option = (name: string, value: string | null | undefined) =>
    `${name} ${value === "true" ? "TRUE" : "FALSE"}`;
  const options = [
    `ADMIN ${isAdmin ? "TRUE" : "FALSE"}`,
    option("INHERIT", grant["inherit_option"]),
    option("SET", grant["set_option"]),
  ];
  return `${grantStatement} WITH ${options.join(", ")} GRANTED BY ${identifier(grantor ?? SUPERUSER)}`;
}
