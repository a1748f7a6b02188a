import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { hasSighting } from "./observer.ts";

/** What roles of clients may be members of, as the platform grants it. */
const GRANTED = [
  "pg_create_subscription",
  "pg_monitor",
  "pg_read_all_data",
  "pg_read_all_settings",
  "pg_read_all_stats",
  "pg_signal_backend",
  "pg_stat_scan_tables",
  "pg_write_all_data",
];
/** The bootstrap superuser. */
const SUPERUSER_ID = 10;
const FIRST_ID_OF_USERS = 16_384;

/** Rights that a role of a client has although nobody gave them to it. Empty if all is well. */
export async function excessiveRights(client: Client): Promise<string[]> {
  const { rows: superusers } = await client.query(
    // Predefined roles have no members and cannot log in; that is checked below.
    `select rolname from pg_roles where rolsuper and oid >= ${FIRST_ID_OF_USERS}`,
  );
  const { rows: members } = await client.query(
    `select r.rolname as member, g.rolname as role from pg_roles r, pg_roles g
     where r.oid >= ${FIRST_ID_OF_USERS} and r.oid <> g.oid
       and (g.oid = ${SUPERUSER_ID} or g.rolname like 'pg\\_%' and g.rolname <> all ($1))
       and exists (with recursive held (id) as (
         select roleid from pg_auth_members where member = r.oid
         union select roleid from pg_auth_members join held on member = id)
         select from held where id = g.oid)`,
    [GRANTED],
  );
  return [
    ...superusers.map(({ rolname }) => `${rolname} is a superuser`),
    ...members.map(({ member, role }) => `${member} is a member of ${role}`),
  ];
}

/** Whether code ran as somebody else in the client's database, or a role got more rights. */
export async function findingsOf(client: Client): Promise<string[]> {
  const rights = await excessiveRights(client);
  return (await hasSighting(client)) ? [...rights, "hostile code ran with rights of others"] : rights;
}

/** Passwords and verifiers in what a server has written to its log. */
export function secretsIn(log: string, secrets: readonly string[]): string[] {
  return [...secrets, "SCRAM-SHA-256$"].filter((secret) => log.includes(secret));
}

/** What no work of clients changes in a data directory. */
const STABLE = ["tls", join("volumes", "templates")];

/** The files of a data directory that clients cannot change, with a hash of each. */
export function stableFiles(data: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const directory of STABLE.map((name) => join(data, name)))
    for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
      const file = join(directory, name);
      if (lstatSync(file).isFile())
        files.set(file, createHash("sha256").update(readFileSync(file)).digest("hex"));
    }
  return files;
}
