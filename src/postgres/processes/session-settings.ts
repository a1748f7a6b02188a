import type { ClientConfig } from "pg";

export type SessionTarget = Required<Pick<ClientConfig, "host" | "port" | "user" | "database">>;

/**
 * Settings of every session of the superuser. They have precedence over `ALTER DATABASE … SET` and `ALTER ROLE … SET`,
 * which clients may use: names are those of `pg_catalog`, triggers of clients do not fire, no text ends a literal
 * early, and no client can make the session wait for ever.
 */
const SAFE_SETTINGS: Readonly<Record<string, string>> = {
  role: "none",
  // Types of `pg_temp` would be found first if it was not named.
  search_path: "pg_catalog, pg_temp",
  session_replication_role: "replica",
  row_security: "off",
  local_preload_libraries: "",
  standard_conforming_strings: "on",
  backslash_quote: "safe_encoding",
  client_encoding: "UTF8",
  quote_all_identifiers: "off",
  DateStyle: "ISO, YMD",
  TimeZone: "UTC",
  bytea_output: "hex",
  default_transaction_read_only: "off",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  default_tablespace: "",
  default_table_access_method: "heap",
  temp_tablespaces: "",
  synchronous_commit: "on",
  password_encryption: "scram-sha-256",
  check_function_bodies: "off",
  // Clients may read the statements that it collects.
  "pg_stat_statements.track": "none",
  // Longer than `deadlock_timeout`, after which Postgres interrupts its own maintenance of tables.
  lock_timeout: "3s",
  statement_timeout: "5min",
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
};

/** Settings that older versions do not have, and the first version that has them. */
const NEWER_SETTINGS = [
  { since: 16, name: "createrole_self_grant", value: "" },
  { since: 17, name: "event_triggers", value: "off" },
  { since: 17, name: "transaction_timeout", value: "0" },
];

/** `options` of a session of the superuser of a Postgres of this major version. */
export function adminOptions(version: number): string {
  const newer = NEWER_SETTINGS.filter(({ since }) => version >= since).map(
    ({ name, value }) => [name, value] as const,
  );
  return [...Object.entries(SAFE_SETTINGS), ...newer]
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, "\\$&")}`)
    .join(" ");
}

/**
 * A session on the socket of an engine. It sets whatever `pg` would read from variables such as PGSSLMODE and
 * PGOPTIONS, which are those of the operator's own clients.
 */
export function localSession(target: SessionTarget, options = "-c client_encoding=UTF8"): ClientConfig {
  return {
    ...target,
    ssl: false,
    // An empty value would be replaced by that of PGOPTIONS.
    options,
    client_encoding: "UTF8",
    application_name: "standin",
  };
}
