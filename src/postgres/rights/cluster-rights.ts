import { PLATFORM_GROUP, type RunningEngine, SUPERUSER } from "../engine/engine.ts";
import { identifier, literal } from "../engine/sql-text.ts";

/** Predefined roles whose members read and write files of the host, or run programs on it. */
const HOST_ROLES = ["pg_execute_server_program", "pg_read_server_files", "pg_write_server_files"];

/**
 * The first version in which a role with CREATEROLE can grant only what it has ADMIN OPTION for. Before, it can grant
 * every role that is not a superuser.
 */
const CREATEROLE_IS_LIMITED_SINCE = 16;

/** D: what the platform's group is a member of, in the words of GRANT. */
const MEMBERSHIPS: readonly { readonly role: string; readonly option: string }[] = [
  { role: "pg_read_all_data", option: "" },
  { role: "pg_write_all_data", option: "" },
  { role: "pg_monitor", option: " WITH ADMIN OPTION" },
  // Signals reach no session of the superuser.
  { role: "pg_signal_backend", option: " WITH ADMIN OPTION" },
];

const READ_RIGHTS = `SELECT
    current_setting('server_version_num')::int / 10000 AS version,
    (SELECT count(*) FROM pg_roles WHERE rolname = ${literal(PLATFORM_GROUP)}) AS groups,
    (SELECT count(*) FROM pg_roles WHERE rolname IN (${HOST_ROLES.map(literal).join(", ")}) AND NOT rolsuper) AS grantable,
    (SELECT json_agg(granted.rolname) FROM pg_auth_members m JOIN pg_roles granted ON granted.oid = m.roleid
      JOIN pg_roles member ON member.oid = m.member
      WHERE member.rolname = ${literal(PLATFORM_GROUP)}) AS memberships,
    (SELECT json_agg(rolname) FROM pg_roles WHERE rolsuper AND rolname <> ${literal(SUPERUSER)} AND rolname !~ '^pg_')
      AS superusers,
    (SELECT json_agg(json_build_array(granted.rolname, member.rolname)) FROM pg_auth_members
      JOIN pg_roles granted ON granted.oid = roleid JOIN pg_roles member ON member.oid = pg_auth_members.member
      WHERE granted.rolname IN (${[SUPERUSER, ...HOST_ROLES].map(literal).join(", ")})) AS members`;

/** Rights that were revoked from roles of clients, for the operator; empty in every sound cluster. */
export type RevokedRights = readonly string[];

/**
 * Creates the group that roles of the platform belong to, if it or a membership of it is missing, and takes back rights that no client may
 * have: a cluster of an earlier release, or of an imported file, may have given them. Idempotent.
 */
export async function ensureRights(engine: RunningEngine): Promise<RevokedRights> {
  const [rights] = await engine.query(READ_RIGHTS);
  const superusers = JSON.parse(rights?.["superusers"] ?? "[]") as string[];
  const members = JSON.parse(rights?.["members"] ?? "[]") as [string, string][];
  const statements: string[] = [];
  if (rights?.["groups"] === "0")
    statements.push(`CREATE ROLE ${PLATFORM_GROUP} NOLOGIN CREATEDB CREATEROLE BYPASSRLS REPLICATION`);
  const memberships = JSON.parse(rights?.["memberships"] ?? "[]") as string[];
  for (const { role, option } of MEMBERSHIPS)
    if (!memberships.includes(role)) statements.push(`GRANT ${role} TO ${PLATFORM_GROUP}${option}`);
  for (const role of superusers) statements.push(`ALTER ROLE ${identifier(role)} NOSUPERUSER`);
  for (const [role, member] of members)
    statements.push(`REVOKE ${identifier(role)} FROM ${identifier(member)} CASCADE`);
  // Only a superuser can grant a role that is one. Nobody is a member, so nobody becomes one by it.
  if (Number(rights?.["version"]) < CREATEROLE_IS_LIMITED_SINCE && rights?.["grantable"] !== "0")
    statements.push(
      `UPDATE pg_authid SET rolsuper = true WHERE rolname IN (${HOST_ROLES.map(literal).join(", ")})`,
    );
  if (statements.length > 0) await engine.query(statements.join("; "));
  return [
    ...superusers.map((role) => `role ${identifier(role)}: SUPERUSER`),
    ...members.map(([role, member]) => `role ${identifier(member)}: member of ${role}`),
  ];
}
