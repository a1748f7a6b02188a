import { ACCEPTED, type Result, refuse } from "./refusal-codes.ts";

/** S: the libraries that Postgres loads at start, for a project or for one compute. */
export type PreloadLibraries = {
  readonly use_defaults?: boolean | undefined;
  readonly enabled_libraries?: readonly string[] | undefined;
};

/** The libraries available for a Postgres version. */
export function preloadLibrariesFor({ pgVersion }: { readonly pgVersion: number }): PreloadLibrary[] {
  return PRELOAD_LIBRARIES.filter(({ sincePgVersion = 0 }) => pgVersion >= sincePgVersion);
}

/**
 * S: only listed libraries "can be enabled". A: rejected here, because Postgres would not start with another.
 */
export function checkPreloadLibraries(
  project: { readonly pgVersion: number },
  settings: { readonly preload_libraries?: unknown } | undefined,
): Result<undefined> {
  const names = preloadLibrariesFor(project).map(({ name }) => name);
  const { enabled_libraries: requested = [] } = (settings?.preload_libraries ?? {}) as PreloadLibraries;
  const missing = requested.find((name) => !names.includes(name));
  if (missing === undefined) return ACCEPTED;
  return refuse(
    "PRELOAD_LIBRARY_NOT_AVAILABLE",
    `settings.preload_libraries.enabled_libraries: "${missing}" is not available for Postgres ${project.pgVersion}; available are ${names.join(", ")}`,
  );
}

/**
 * S: the shape of the list. D: extensions that need preloading according to public documents. A: the
 * versions.
 */
const PRELOAD_LIBRARIES: readonly PreloadLibrary[] = [
  {
    name: "pg_stat_statements",
    description: "Statistics of the SQL statements that were executed",
    version: "1.10",
    isDefault: true,
  },
  { name: "timescaledb", description: "Tables partitioned by time", version: "2.17.1", isDefault: true },
  { name: "pg_cron", description: "Jobs at intervals or times of day", version: "1.6", isDefault: true },
  {
    name: "pg_partman_bgw",
    description: "Upkeep of partitioned tables in the background",
    version: "5.1.0",
    isDefault: true,
  },
  { name: "pgx_ulid", description: "Sortable unique identifiers", version: "0.2.0", isDefault: false },
  {
    name: "pg_search",
    description: "Full-text search with ranking",
    version: "0.15.12",
    isDefault: false,
    sincePgVersion: 17,
  },
  {
    name: "anon",
    description: "Masking of personal data",
    version: "2.1.0",
    isDefault: false,
    isExperimental: true,
  },
];

type PreloadLibrary = {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly isDefault: boolean;
  readonly isExperimental?: boolean;
  readonly sincePgVersion?: number;
};
