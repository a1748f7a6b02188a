/** An extension that the platform's documentation lists as supported. */
export type PublishedExtension = {
  readonly name: string;
  /**
   * What brings it: `server`, if it comes with Postgres itself; else the end of the name of a package of Debian or of
   * apt.postgresql.org, as in `postgresql-17-pgvector`; absent: no package is known.
   */
  readonly source?: string;
  /** Why it cannot be created, although it may be installed. */
  readonly refusal?: string;
};

const FILES_OF_THE_MACHINE =
  "its functions take connection strings of clients, which can name sockets and files of the machine; use postgres_fdw instead";
const BACKGROUND_PROCESS = "it needs a background process, which is not started";

/**
 * D: the pages "Supported Postgres extensions", `dblink` and `postgres_fdw` of the platform's documentation, as of 2025.
 * A: packages that the stable Debian of 2025 lacks have the names of apt.postgresql.org.
 */
export const PUBLISHED_EXTENSIONS: readonly PublishedExtension[] = [
  ...[
    "autoinc",
    "bloom",
    "btree_gin",
    "btree_gist",
    "citext",
    "cube",
    "dict_int",
    "earthdistance",
    "fuzzystrmatch",
    "hstore",
    "insert_username",
    "intagg",
    "intarray",
    "isn",
    "lo",
    "ltree",
    "moddatetime",
    "pg_prewarm",
    "pg_stat_statements",
    "pg_trgm",
    "pgcrypto",
    "pgrowlocks",
    "pgstattuple",
    "postgres_fdw",
    "refint",
    "seg",
    "tablefunc",
    "tcn",
    "tsm_system_rows",
    "tsm_system_time",
    "unaccent",
    "uuid-ossp",
    "xml2",
  ].map((name) => ({ name, source: "server" })),
  { name: "dblink", source: "server", refusal: FILES_OF_THE_MACHINE },
  ...[
    "address_standardizer",
    "address_standardizer_data_us",
    "postgis",
    "postgis_raster",
    "postgis_sfcgal",
    "postgis_tiger_geocoder",
    "postgis_topology",
  ].map((name) => ({ name, source: "postgis-3" })),
  { name: "h3", source: "h3" },
  { name: "h3_postgis", source: "h3" },
  { name: "hll", source: "hll" },
  { name: "hypopg", source: "hypopg" },
  { name: "ip4r", source: "ip4r" },
  { name: "pg_cron", source: "cron", refusal: BACKGROUND_PROCESS },
  { name: "pg_hint_plan", source: "pg-hint-plan" },
  { name: "pg_partman", source: "partman" },
  { name: "pgrouting", source: "pgrouting" },
  { name: "pgtap", source: "pgtap" },
  { name: "plpgsql_check", source: "plpgsql-check" },
  { name: "plv8", source: "plv8" },
  { name: "prefix", source: "prefix" },
  { name: "rdkit", source: "rdkit" },
  { name: "roaringbitmap", source: "roaringbitmap" },
  { name: "rum", source: "rum" },
  { name: "semver", source: "semver" },
  { name: "timescaledb", source: "timescaledb", refusal: BACKGROUND_PROCESS },
  { name: "unit", source: "unit" },
  { name: "vector", source: "pgvector" },
  ...[
    "pg_graphql",
    "pg_hashids",
    "pg_ivm",
    "pg_jsonschema",
    "pg_mooncake",
    "pg_session_jwt",
    "pg_tiktoken",
    "pg_uuidv7",
    "pgjwt",
    "plcoffee",
    "plls",
    "ulid",
  ].map((name) => ({ name })),
];

/** Why an extension of the list is not there, and what brings it. */
export function missingExtension({ source }: PublishedExtension, version: number): string {
  if (source === undefined)
    return `Postgres ${version} of this machine lacks it, and no package is known that brings it`;
  const names =
    source === "server"
      ? [`postgresql-${version}`, "postgresql-contrib"]
      : [`postgresql-${version}-${source}`];
  return `Postgres ${version} of this machine lacks it; the Debian package ${names.join(" or ")} brings it`;
}
