import type { Database } from "better-sqlite3";
import type { SimTime } from "../kernel/time.ts";
import { UserError } from "../ports/user-error.ts";
import type { EndpointRow, SettingsRow } from "./account-file.ts";

/** The operations of a compute in columns, oldest first. Operations of one second are in any order. */
type OperationColumns = {
  readonly createdAt: Float64Array;
  readonly durationMs: Float64Array;
  /** Index in the list of actions that the reader was given; for another action, the length of the list. */
  readonly action: Uint8Array;
  /** Index in the list of statuses that the reader was given; for another status, the length of the list. */
  readonly status: Uint8Array;
};

export type ReadEndpoint = EndpointRow & {
  readonly projectName: string;
  /** Oldest first. */
  readonly settings: readonly SettingsRow[];
  readonly operations: OperationColumns;
};

/** Origin and coverage of a file. */
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
export function* readEndpoints(
  database: Database,
  actions: readonly string[],
  statuses: readonly string[],
): Generator<ReadEndpoint> {
  const endpoints = database
    .prepare(
      `SELECT endpoints.*, coalesce(projects.name, '') AS projectName FROM endpoints
       LEFT JOIN projects ON projects.id = endpoints.project ORDER BY number`,
    )
    .all() as (EndpointRow & { projectName: string })[];
  const settings = database.prepare("SELECT * FROM settings WHERE endpoint = ? ORDER BY first_seen_at");
  const operationsOf = operationsReader(database, actions, statuses);
  for (const endpoint of endpoints)
    yield {
      ...endpoint,
      settings: settings.all(endpoint.number) as SettingsRow[],
      operations: operationsOf(endpoint.number),
    };
}

/**
 * Reads all columns of an operation as one number: a query that returns millions of rows needs most of its time to step to
 * each and to make values of it. The number is exact, because the durations that do not fit into it are read again.
 */
function operationsReader(database: Database, actions: readonly string[], statuses: readonly string[]) {
  const inOrder = "FROM operations WHERE endpoint = ? ORDER BY created_at, id";
  const instant = (which: "min" | "max") =>
    database.prepare(`SELECT ${which}(created_at) FROM operations WHERE endpoint = ?`).pluck();
  const [first, last] = [instant("min"), instant("max")];
  const [actionCodes, statusCodes] = [actions.length + 1, statuses.length + 1];
  const packed = database
    .prepare(
      `SELECT (((created_at - ?) * ? + iif(duration_ms < 0, ?, min(duration_ms, ?))) * ${actionCodes}
       + ${positionSql("action", actions)}) * ${statusCodes} + ${positionSql("status", statuses)} ${inOrder}`,
    )
    .pluck();
  const durations = database.prepare(`SELECT duration_ms ${inOrder}`).pluck();
  return (endpoint: number): OperationColumns => {
    const firstAt = (first.get(endpoint) ?? 0) as SimTime;
    const instants = ((last.get(endpoint) ?? 0) as SimTime) - firstAt + 1;
    const durationCodes = Math.floor(Number.MAX_SAFE_INTEGER / instants / actionCodes / statusCodes);
    if (durationCodes < 1)
      throw new UserError(`the operations of compute ${endpoint} lie too many years apart to be read`);
    // Code of durations that are read again.
    const other = durationCodes - 1;
    const values = packed.all(
      ...[firstAt, durationCodes, other, other, ...actions, ...statuses, endpoint],
    ) as number[];
    const columns = emptyColumns(values.length);
    const { createdAt, durationMs, action, status } = columns;
    let hasOthers = false;
    for (let index = 0; index < values.length; index += 1) {
      const value = values[index] as number;
      const withAction = Math.floor(value / statusCodes);
      const withDuration = Math.floor(withAction / actionCodes);
      const sinceFirst = Math.floor(withDuration / durationCodes);
      const duration = withDuration - sinceFirst * durationCodes;
      status[index] = value - withAction * statusCodes;
      action[index] = withAction - withDuration * actionCodes;
      durationMs[index] = duration;
      createdAt[index] = firstAt + sinceFirst;
      hasOthers ||= duration === other;
    }
    if (hasOthers) durationMs.set(durations.all(endpoint) as number[]);
    return columns;
  };
}

function emptyColumns(length: number): OperationColumns {
  return {
    ...{ createdAt: new Float64Array(length), durationMs: new Float64Array(length) },
    ...{ action: new Uint8Array(length), status: new Uint8Array(length) },
  };
}

/** The position of the value of a column among parameters, or their number. */
function positionSql(column: string, values: readonly string[]): string {
  const cases = values.map((_, position) => `WHEN ? THEN ${position}`);
  return `CASE ${column} ${cases.join(" ")} ELSE ${values.length} END`;
}

/** Further columns of the operations of a compute, in their stored order. */
export type OperationDetails = {
  readonly ids: readonly string[];
  /** The number of failed attempts of each. */
  readonly failures: readonly number[];
};

/** Reads a column at a time, as `readEndpoints` does; `endpoint`: its number. */
export function operationDetailsReader(database: Database): (endpoint: number) => OperationDetails {
  const column = (name: string) =>
    database.prepare(`SELECT ${name} FROM operations WHERE endpoint = ? ORDER BY created_at, id`).pluck();
  const [ids, failures] = [column("id"), column("failures")];
  return (endpoint) => ({
    ids: ids.all(endpoint) as string[],
    failures: failures.all(endpoint) as number[],
  });
}

export type ProjectRow = {
  readonly id: string;
  readonly name: string;
  readonly created_at: SimTime;
  readonly deleted_at: SimTime | null;
};

/** The oldest first. */
export function readProjects(database: Database): readonly ProjectRow[] {
  return database
    .prepare("SELECT id, name, created_at, deleted_at FROM projects ORDER BY created_at, id")
    .all() as ProjectRow[];
}

/** The operations of branches and projects, by project, oldest first. */
export function readOtherOperations(database: Database): readonly TimedOperation[] {
  if (!hasTable(database, "other_operations")) return [];
  return database
    .prepare(
      `SELECT project, branch, NULL AS endpoint, created_at, id, action, status, duration_ms, failures
       FROM other_operations ORDER BY project, created_at, id`,
    )
    .all() as TimedOperation[];
}

/** Metered hours in columns, by project, oldest first. */
export type HourlyConsumption = {
  /** Each with the number of its hours. */
  readonly projects: readonly { readonly id: string; readonly hours: number }[];
  readonly startAt: Float64Array;
  readonly endAt: Float64Array;
  readonly activeS: Float64Array;
  readonly computeS: Float64Array;
};

/** Reads a column at a time, as `readEndpoints` does, in the order of the table's key, which needs no sorting. */
export function readHourlyConsumption(database: Database): HourlyConsumption {
  const ofHours = "FROM consumption WHERE granularity = 'hourly'";
  const column = (name: string) =>
    new Float64Array(
      database
        .prepare(`SELECT ${name} ${ofHours} ORDER BY project, granularity, start_at`)
        .pluck()
        .all() as number[],
    );
  return {
    projects: database
      .prepare(`SELECT project AS id, count(*) AS hours ${ofHours} GROUP BY project ORDER BY project`)
      .all() as HourlyConsumption["projects"],
    ...{ startAt: column("start_at"), endAt: column("end_at") },
    ...{ activeS: column("active_s"), computeS: column("compute_s") },
  };
}

export function countHoursSince(database: Database, since: SimTime): number {
  return database
    .prepare("SELECT count(*) FROM consumption WHERE granularity = 'hourly' AND start_at >= ?")
    .pluck()
    .get(since) as number;
}

/** An operation of a compute, of a branch, or, without either, of a project. */
export type TimedOperation = {
  readonly project: string;
  readonly branch: string | null;
  readonly endpoint: string | null;
  readonly created_at: SimTime;
  readonly id: string;
  readonly action: string;
  readonly status: string;
  readonly duration_ms: number;
  readonly failures: number;
};

/** All operations by project, oldest first. Within one second, operations of branches come first, because computes wait for them. */
export function readTimedOperations(database: Database): IterableIterator<TimedOperation> {
  const ofComputes = `SELECT e.project, nullif(e.branch, '') AS branch, e.id AS endpoint, o.created_at, o.id, o.action,
    o.status, o.duration_ms, o.failures FROM operations o JOIN endpoints e ON e.number = o.endpoint`;
  const others = hasTable(database, "other_operations")
    ? `UNION ALL SELECT project, branch, NULL, created_at, id, action, status, duration_ms, failures FROM other_operations`
    : "";
  return database
    .prepare(
      `SELECT * FROM (${ofComputes} ${others}) ORDER BY project, created_at, endpoint IS NOT NULL, branch IS NOT NULL, id`,
    )
    .iterate() as IterableIterator<TimedOperation>;
}

export type PlanRow = {
  readonly plan: string;
  readonly projects_limit: number;
  readonly branches_limit: number;
  readonly max_cu: number;
  readonly last_seen_at: SimTime;
};

/** The newest limits that a pull has read. */
export function readPlanRow(database: Database): PlanRow | undefined {
  if (!hasTable(database, "plans")) return undefined;
  return database.prepare("SELECT * FROM plans ORDER BY rowid DESC LIMIT 1").get() as PlanRow | undefined;
}

/** Files of the first pulls lack some tables. */
export function hasTable(database: Database, name: string): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(name) !== undefined
  );
}

/** The delays in force at the last pull that read each compute, ascending, each once; as the API states them. */
export function readDelays(database: Database): readonly number[] {
  return database
    .prepare(
      `SELECT DISTINCT suspend_timeout_seconds FROM settings s
       WHERE last_seen_at = (SELECT max(last_seen_at) FROM settings t WHERE t.endpoint = s.endpoint) ORDER BY 1`,
    )
    .pluck()
    .all() as number[];
}

/** The instant of the pull before the last one; undefined if there is only one. */
export function previousPullAt(database: Database): SimTime | undefined {
  return database.prepare("SELECT at FROM pulls ORDER BY number DESC LIMIT 1 OFFSET 1").pluck().get() as
    | SimTime
    | undefined;
}
