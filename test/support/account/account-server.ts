import { join } from "node:path";
import Database from "better-sqlite3";
import { runStandin } from "../process/in-process-command.ts";
import { type RunningServer, startServer, testDirectory } from "../server/running-server.ts";

const STARTED_AT = "2026-01-05T00:00:00Z";

/** Minutes between the requests of a compute: shorter and longer than the usual delay of 5 min. */
const GAPS_MIN = [2, 3, 20, 7, 4, 90, 11, 2, 8, 300, 6];

export type AccountServer = RunningServer & {
  readonly data: string;
  /** Projects of the account; each has one compute, and the same traffic. */
  readonly projects: readonly string[];
  readonly computes: readonly string[];
  /** The key that the server printed. */
  readonly key: string;
};

/** A second server, with an account whose computes, one for each project, were used for half a day. */
export async function startAccount(
  names: readonly string[],
  options: readonly string[] = [],
): Promise<AccountServer> {
  const data = testDirectory();
  const server = await startServer(data, ["--clock", "manual", "--start-at", STARTED_AT, ...options]);
  const [projects, computes]: [string[], string[]] = [[], []];
  for (const name of names) {
    const { body } = await server.api("POST", "/projects", { project: { name } });
    projects.push(body.project.id);
    computes.push(body.endpoints[0].id);
  }
  const account = { ...server, data, projects, computes, key: server.ready.api_key ?? "" };
  await useComputes(account);
  return account;
}

/** Requests to all computes, now and after each gap. Ends five hours after the last one. */
export async function useComputes({ sim, computes }: Pick<AccountServer, "sim" | "computes">): Promise<void> {
  for (const minutes of [...GAPS_MIN, 300]) {
    for (const endpoint_id of computes) await sim("POST", "/activity", { endpoint_id, duration_ms: 20_000 });
    await sim("POST", "/clock/advance", { by: `${minutes}m` });
  }
}

/** The operations of computes, as the API lists them, newest first. */
export async function operationIdsOf({ api, projects }: AccountServer): Promise<string[]> {
  const ids: string[] = [];
  for (const project of projects) {
    const { body } = await api("GET", `/projects/${project}/operations?limit=1000`);
    for (const { id, endpoint_id } of body.operations) if (endpoint_id != null) ids.push(id);
  }
  return ids.sort();
}

/** The ids in a file of `account pull`, also those that are there twice. */
export function operationIdsIn(file: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return (database.prepare("SELECT id FROM operations").pluck().all() as string[]).sort();
  } finally {
    database.close();
  }
}

/** Number of operations of computes, branches and projects. */
export function countOperationsIn(file: string): number {
  const database = new Database(file, { readonly: true });
  try {
    const counts = ["operations", "other_operations"].map(
      (table) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number,
    );
    return counts.reduce((sum, count) => sum + count, 0);
  } finally {
    database.close();
  }
}

export function accountFileName(): string {
  return join(testDirectory(), "shop.standin-account");
}

export function pull(from: string, key: string, out: string, ...args: string[]) {
  return runStandin(["account", "pull", "--from", from, "--out", out, ...args], { STANDIN_FROM_KEY: key });
}
