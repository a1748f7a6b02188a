import type { Database } from "better-sqlite3";
import type { SimTime } from "../kernel/time.ts";
import type { ConsumptionRow, EndpointRow, SettingsRow } from "./account-file.ts";

/** One operation, oldest first within its compute. */
type OperationRow = readonly [
  endpoint: number,
  createdAt: SimTime,
  action: string,
  status: string,
  durationMs: number,
];

type ReadOperation = {
  readonly createdAt: SimTime;
  readonly action: string;
  readonly status: string;
  readonly durationMs: number;
};

export type ReadEndpoint = EndpointRow & {
  readonly projectName: string;
  /** Oldest first. */
  readonly settings: readonly SettingsRow[];
  /** Oldest first; those of one second in any order. */
  readonly operations: readonly ReadOperation[];
};

/** Where a file comes from and what it covers. */
export type AccountSummary = {
  readonly api: string;
  readonly pulls: number;
  readonly lastPullAt: SimTime;
  readonly projects: number;
  /** Projects whose operations were not read to the end. */
  readonly incomplete: number;
};

export function accountSummary(database: Database): AccountSummary | undefined {
  const last = database.prepare("SELECT api, at FROM pulls ORDER BY number DESC LIMIT 1").get() as
    | { api: string; at: SimTime }
    | undefined;
  if (last === undefined) return undefined;
  const count = (sql: string) => database.prepare(sql).pluck().get() as number;
  return {
    api: last.api,
    pulls: count("SELECT count(*) FROM pulls"),
    lastPullAt: last.at,
    projects: count("SELECT count(*) FROM projects"),
    incomplete: count("SELECT count(DISTINCT project) FROM unread"),
  };
}

/** All computes in the order in which they were first read, each with its operations. */
export function* readEndpoints(database: Database): Generator<ReadEndpoint> {
  const endpoints = database
    .prepare(
      `SELECT endpoints.*, coalesce(projects.name, '') AS projectName FROM endpoints
       LEFT JOIN projects ON projects.id = endpoints.project ORDER BY number`,
    )
    .all() as (EndpointRow & { projectName: string })[];
  const settings = database.prepare("SELECT * FROM settings WHERE endpoint = ? ORDER BY first_seen_at");
  const operations = database
    .prepare(
      "SELECT endpoint, created_at, action, status, duration_ms FROM operations WHERE endpoint = ? ORDER BY created_at",
    )
    .raw();
  for (const endpoint of endpoints) {
    const rows = operations.all(endpoint.number) as OperationRow[];
    yield {
      ...endpoint,
      settings: settings.all(endpoint.number) as SettingsRow[],
      operations: rows.map(([, createdAt, action, status, durationMs]) => ({
        ...{ createdAt, action, status, durationMs },
      })),
    };
  }
}

export function readConsumptionRows(database: Database): readonly ConsumptionRow[] {
  return database
    .prepare("SELECT * FROM consumption ORDER BY project, granularity, start_at")
    .all() as ConsumptionRow[];
}
