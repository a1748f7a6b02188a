import type { Database } from "better-sqlite3";
import { openAccountFile, UNKNOWN_TYPE } from "../../account/account-file.ts";
import {
  accountSummary,
  type OperationDetails,
  operationDetailsReader,
  type ProjectRow,
  type ReadEndpoint,
  readEndpoints,
  readOtherOperations,
  readProjects,
  type TimedOperation,
} from "../../account/account-reader.ts";
import { readActivity } from "../../account/activity-reader.ts";
import type { SimTime } from "../../kernel/time.ts";
import { OPERATION_ACTIONS } from "../../platform/catalog/operation-actions.ts";
import { ACTIVITY_ACTIONS, DECISIVE_STATUSES } from "../../whatif/periods/compute-operations.ts";
import { CliError } from "../terminal/cli-error.ts";

/** Positions of actions in the columns: those of activity first, as `whatif/periods` expects them. */
export const RECORDED_ACTIONS: readonly string[] = [
  ...ACTIVITY_ACTIONS,
  ...OPERATION_ACTIONS.filter((action) => !ACTIVITY_ACTIONS.includes(action)),
];

/** A compute of an account, and what is known of its existence. */
export type ComputePast = Omit<ReadEndpoint, "deleted_at"> &
  OperationDetails & {
    readonly isTypeKnown: boolean;
    readonly existsFrom: SimTime;
    /** The last instant at which a deleted compute is known to have existed; `undefined` if it was not deleted. */
    readonly existsUntil: SimTime | undefined;
    /** When its settings and operations were read last. */
    readonly readAt: SimTime;
    /** Its last activity by the last pull that read it. */
    readonly lastActiveAt: SimTime | undefined;
  };

/** A project of an account with its computes in the order in which they were created. */
export type ProjectPast = ProjectRow & {
  readonly computes: readonly ComputePast[];
  readonly otherOperations: readonly TimedOperation[];
  readonly existsFrom: SimTime;
  readonly existsUntil: SimTime | undefined;
};

type AccountPast = {
  readonly projects: readonly ProjectPast[];
  /** The end of what the file shows. */
  readonly lastPullAt: SimTime;
};

/** Reads a file of `standin account pull`. */
export function readAccountPast(file: string): AccountPast {
  const database = openAccountFile(file, "read");
  try {
    const summary = accountSummary(database);
    if (summary === undefined)
      throw new CliError(`${file}: no pull has read anything; run: standin account pull`);
    const { lastPullAt } = summary;
    return { projects: readPast(database, lastPullAt), lastPullAt };
  } finally {
    database.close();
  }
}

function readPast(database: Database, lastPullAt: SimTime): readonly ProjectPast[] {
  const computes = new Map<string, ComputePast[]>();
  const detailsOf = operationDetailsReader(database);
  const activity = new Map(
    readActivity(database).map(({ endpoint, last_active_at }) => [endpoint, last_active_at]),
  );
  for (const endpoint of readEndpoints(database, RECORDED_ACTIONS, DECISIVE_STATUSES)) {
    const compute = computePast(endpoint, detailsOf(endpoint.number), activity.get(endpoint.id), lastPullAt);
    computes.set(endpoint.project, [...(computes.get(endpoint.project) ?? []), compute]);
  }
  const others = new Map<string, TimedOperation[]>();
  for (const operation of readOtherOperations(database)) {
    const own = others.get(operation.project);
    if (own === undefined) others.set(operation.project, [operation]);
    else own.push(operation);
  }
  return readProjects(database).map((project) => {
    const own = (computes.get(project.id) ?? []).toSorted((one, other) => one.existsFrom - other.existsFrom);
    const otherOperations = others.get(project.id) ?? [];
    const existsFrom = Math.min(
      project.created_at,
      ...own.map((compute) => compute.existsFrom),
      ...otherOperations.slice(0, 1).map(({ created_at }) => created_at),
    );
    const seenUntil = Math.max(
      project.created_at,
      ...own.map((compute) => compute.existsUntil ?? compute.readAt),
      ...otherOperations.map(({ created_at, duration_ms }) => created_at + duration_ms),
    );
    return {
      ...{ ...project, computes: own, otherOperations, existsFrom },
      existsUntil: project.deleted_at === null ? undefined : Math.min(seenUntil, lastPullAt),
    };
  });
}

function computePast(
  { deleted_at, ...endpoint }: ReadEndpoint,
  details: OperationDetails,
  lastActiveAt: SimTime | undefined,
  lastPullAt: SimTime,
): ComputePast {
  const { createdAt, durationMs } = endpoint.operations;
  const isTypeKnown = endpoint.type !== UNKNOWN_TYPE;
  const firstAt = createdAt[0] ?? endpoint.created_at;
  let lastEnd = firstAt;
  for (let index = 0; index < createdAt.length; index += 1)
    lastEnd = Math.max(lastEnd, (createdAt[index] as number) + (durationMs[index] as number));
  const seenAt = endpoint.settings.at(-1)?.last_seen_at;
  const existsUntil = Math.min(Math.max(lastEnd, seenAt ?? lastEnd, endpoint.created_at), lastPullAt);
  return {
    ...{ ...endpoint, ...details, isTypeKnown, lastActiveAt },
    // A: the account shows when operations began, so a compute whose creation is older than that is as old as it says.
    existsFrom: isTypeKnown ? Math.min(endpoint.created_at, firstAt) : firstAt,
    existsUntil: deleted_at === null ? undefined : existsUntil,
    readAt: seenAt ?? lastPullAt,
  };
}
