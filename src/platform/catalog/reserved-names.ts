/**
 * Names that Postgres and the platform use themselves. A: `cloud_admin`, `platform_superuser` and `standin_spare` are
 * those of standin's clusters. D: the others.
 */
const RESERVED_ROLES = new Set([
  "cloud_admin",
  "current_role",
  "current_user",
  "neon_superuser",
  "none",
  "platform_superuser",
  "postgres",
  "public",
  "session_user",
  "zenith_admin",
]);

const RESERVED_DATABASES = new Set(["postgres", "standin_spare", "template0", "template1"]);

/** Whether no client may create a role of this name. */
export function isReservedRole(name: string): boolean {
  return name.startsWith("pg_") || RESERVED_ROLES.has(name);
}

/** Whether no client may create a database of this name. */
export function isReservedDatabase(name: string): boolean {
  return RESERVED_DATABASES.has(name);
}
