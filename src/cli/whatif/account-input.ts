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
import { CliError } from "../terminal/cli-error.ts";

export type OpenedAccount = { readonly fleet: AccountFleet; readonly summary: AccountSummary };

/** Whether a command was given a file of `standin account pull`. */
export function isAccountFile(path: string): boolean {
  return path.endsWith(ACCOUNT_SUFFIX);
}

/** `defaultDelayS`: the delay that a setting of 0 means. */
export function openAccount(path: string, defaultDelayS: number): OpenedAccount {
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
    );
    return { fleet, summary };
  } finally {
    database.close();
  }
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
