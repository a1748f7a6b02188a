import { basename } from "node:path";
import { ACCOUNT_SUFFIX, openAccountFile, UNKNOWN_TYPE } from "../../account/account-file.ts";
import {
  type AccountSummary,
  accountSummary,
  readConsumptionRows,
  readEndpoints,
} from "../../account/account-reader.ts";
import { HOUR } from "../../kernel/time.ts";
import { type AccountFleet, accountFleet } from "../../whatif/periods/account-fleet.ts";
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
    const hours = readConsumptionRows(database).filter(({ granularity }) => granularity === "hourly");
    const fleet = accountFleet(
      computesOf(database),
      hours.map(({ project, start_at, end_at, active_s, compute_s }) => ({
        ...{ project, startAt: start_at, endAt: Math.min(end_at, start_at + HOUR) },
        ...{ activeS: active_s, computeS: compute_s },
      })),
      summary.lastPullAt,
      defaultDelayS,
    );
    return { fleet, summary };
  } finally {
    database.close();
  }
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
