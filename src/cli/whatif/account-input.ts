import { basename } from "node:path";
import { ACCOUNT_SUFFIX, openAccountFile, UNKNOWN_TYPE } from "../../account/account-file.ts";
import {
  type AccountSummary,
  accountSummary,
  type HourlyConsumption,
  readEndpoints,
  readHourlyConsumption,
} from "../../account/account-reader.ts";
import { HOUR } from "../../kernel/time.ts";
import { type AccountFleet, accountFleet, type MeteredHour } from "../../whatif/periods/account-fleet.ts";
import { ACTIVITY_ACTIONS, DECISIVE_STATUSES } from "../../whatif/periods/compute-operations.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";

export type OpenedAccount = { readonly fleet: AccountFleet; readonly summary: AccountSummary };

/** Whether a command was given a file of `standin account pull`. */
export function isAccountFile(path: string): boolean {
  return path.endsWith(ACCOUNT_SUFFIX);
}

/** `defaultDelayS`: the delay that a setting of 0 means. `isStrict`: whether hours that differ are omitted. */
export function openAccount(path: string, defaultDelayS: number, isStrict = false): OpenedAccount {
  const database = openAccountFile(path, "read");
  try {
    const summary = accountSummary(database);
    if (summary === undefined)
      throw new CliError(`${basename(path)}: no pull has read anything; run: standin account pull`);
    const fleet = accountFleet(
      computesOf(database),
      meteredHours(readHourlyConsumption(database)),
      summary.lastPullAt,
      defaultDelayS,
      isStrict,
    );
    if (isStrict && fleet.computes.some(({ omitted }) => omitted.length > 0))
      checkRemains(basename(path), fleet);
    return { fleet, summary };
  } finally {
    database.close();
  }
}

function checkRemains(name: string, { computes, reconciliation }: AccountFleet): void {
  if (computes.some(({ periods }) => periods.length > 0)) return;
  throw new CliError(
    `${name}: with --strict, nothing remains: each active period overlaps one of ${plural(reconciliation.different.length, "hour")} that differ; see standin account show`,
  );
}

/** The hours of an account one after the other, as often as they are needed: there may be hundreds of thousands. */
function meteredHours(columns: HourlyConsumption): Iterable<MeteredHour> {
  return {
    *[Symbol.iterator]() {
      let index = 0;
      for (const { id: project, hours } of columns.projects)
        for (const end = index + hours; index < end; index += 1) {
          const startAt = columns.startAt[index] as number;
          yield {
            ...{ project, startAt, endAt: Math.min(columns.endAt[index] as number, startAt + HOUR) },
            ...{ activeS: columns.activeS[index] as number, computeS: columns.computeS[index] as number },
          };
        }
    },
  };
}

function* computesOf(database: ReturnType<typeof openAccountFile>) {
  for (const endpoint of readEndpoints(database, ACTIVITY_ACTIONS, DECISIVE_STATUSES)) {
    const { id, project, projectName, settings, operations } = endpoint;
    yield {
      ...{ id, project, projectName, operations },
      createdAt: endpoint.type === UNKNOWN_TYPE ? undefined : endpoint.created_at,
      deletedAt: endpoint.deleted_at ?? undefined,
      settings: settings.map(({ first_seen_at, last_seen_at, suspend_timeout_seconds, min_cu }) => ({
        ...{ firstSeenAt: first_seen_at, lastSeenAt: last_seen_at },
        ...{ suspendTimeoutSeconds: suspend_timeout_seconds, minCu: min_cu },
      })),
    };
  }
}
