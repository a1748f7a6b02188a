/** A database whose owner makes it hard to work in. `before`: while it is still easy. */
export type ObstacleDatabase = { readonly name: string; readonly alter: string; readonly create?: string };

const setting = (value: string): ObstacleDatabase => ({
  name: `with ${value.split(" ")[0]}`,
  alter: `set ${value}`,
});

export const OBSTACLE_DATABASES: readonly ObstacleDatabase[] = [
  ...[
    "default_transaction_read_only = on",
    "statement_timeout = 1",
    "idle_in_transaction_session_timeout = 1",
    "role = 'nobody_much'",
    "search_path = 'nowhere'",
    "local_preload_libraries = 'missing'",
    "client_encoding = 'SJIS'",
    "standard_conforming_strings = off",
  ].map(setting),
  { name: "without connections", alter: "allow_connections false" },
  { name: "with a limit of connections", alter: "connection limit 0" },
  { name: "as a template", alter: "is_template true" },
  {
    name: "of another encoding",
    alter: "connection limit 5",
    create: "encoding 'LATIN1' locale 'C' template template0",
  },
  {
    name: "without an encoding",
    alter: "connection limit 5",
    create: "encoding 'SQL_ASCII' locale 'C' template template0",
  },
  { name: `named "; drop database neondb; --`, alter: "connection limit 5" },
  { name: "named 'x\\", alter: "connection limit 5" },
  { name: "named\n\t../../etc", alter: "connection limit 5" },
  { name: "é".repeat(31), alter: "connection limit 5" },
];

/** Statements against what standin itself needs. Postgres may refuse them. */
export const SABOTAGE: readonly string[] = [
  "drop owned by platform_superuser",
  "drop role platform_superuser",
  "alter role platform_superuser rename to mine",
  "alter role platform_superuser nologin nocreatedb nocreaterole",
  "revoke platform_superuser from neondb_owner cascade",
  "revoke pg_read_all_data from platform_superuser",
  "create database standin_spare",
  "create role standin",
  "create role postgres login password 'known'",
  'create role "cloud_admin "',
  'create role "current_user"',
  'create role "a""b\'c\\d\ne" login',
  `create role "${"ü".repeat(31)}" login`,
  "do $$ begin for i in 1..60 loop execute 'create role many_' || i; end loop; end $$",
  'comment on role neondb_owner is \'{"roles":[],"databases":[]}\'',
  "comment on role cloud_admin is '{}'",
  "comment on database neondb is '{}'",
  "alter role neondb_owner in database neondb set search_path = nowhere",
  "alter role neondb_owner set role = 'postgres'",
  "alter role neondb_owner set default_transaction_read_only = on",
  "alter role neondb_owner set statement_timeout = '20s'",
];
