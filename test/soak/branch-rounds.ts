import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { sizeOnDisk } from "../../src/postgres/volumes/volume-size.ts";
import type { ServerClient } from "../support/server/running-server.ts";

/** A server whose clients connect by its address, with `--operations immediate`. */
export type RoundServer = Pick<ServerClient, "api"> & { readonly data: string };

/** A branch is deleted within this time, while others are created. */
const REMOVAL_MS = 60_000;
const POLL_MS = 250;
const MAX_BATCHES = 1_000_000;

export type RoundSample = {
  readonly round: number;
  readonly minute: number;
  /** Volumes of branches, without what all of them begin with. */
  readonly volumes: number;
  /** All files of the volumes' directory. */
  readonly bytes: number;
};

export type RoundOptions = {
  /** Number of batches, or the time in which batches are run. */
  readonly until: { readonly batches: number } | { readonly minutes: number };
  /** Branches of a batch, which clients use at the same time. */
  readonly branches: number;
  readonly onSample?: (sample: RoundSample) => void;
};

/**
 * Creates branches, connects to them, writes, and deletes them permanently, in batches: what a busy test suite does.
 * Samples what is on disk after each batch. Rejects if the data of a batch is still there a minute later.
 */
export async function runBranchRounds(server: RoundServer, options: RoundOptions): Promise<RoundSample[]> {
  const { until, branches, onSample } = options;
  const startedAt = performance.now();
  const minutes = () => (performance.now() - startedAt) / 60_000;
  const isDone = (batch: number) =>
    "batches" in until ? batch >= until.batches : minutes() >= until.minutes;
  const { body } = await server.api("POST", "/projects", { project: { name: "rounds" } });
  const projectId: string = body.project.id;
  await useBranch(body.connection_uris[0].connection_uri);
  const samples: RoundSample[] = [];
  for (let batch = 0; batch < MAX_BATCHES && !isDone(batch); batch += 1) {
    await Promise.all(Array.from({ length: branches }, () => roundOf(server, projectId)));
    await untilRemoved(server);
    const bytes = await sizeOnDisk(join(server.data, "volumes"));
    const round = (batch + 1) * branches;
    const sample = { round, minute: minutes(), volumes: volumesOf(server).length, bytes };
    samples.push(sample);
    onSample?.(sample);
  }
  return samples;
}

async function roundOf(server: RoundServer, projectId: string): Promise<void> {
  const created = await server.api("POST", `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }],
  });
  if (created.status !== 201) throw new Error(`a branch was not created: ${JSON.stringify(created.body)}`);
  await useBranch(created.body.connection_uris[0].connection_uri);
  const path = `/projects/${projectId}/branches/${created.body.branch.id}?hard_delete=true`;
  const deleted = await server.api("DELETE", path);
  if (deleted.status !== 200) throw new Error(`a branch was not deleted: ${JSON.stringify(deleted.body)}`);
}

async function useBranch(uri: string): Promise<void> {
  const url = new URL(uri);
  url.searchParams.set("sslmode", "no-verify");
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("create table if not exists visits (at timestamptz default now())");
  await client.query("insert into visits default values");
  await client.end();
}

/** The first branch of the project stays. */
async function untilRemoved(server: RoundServer): Promise<void> {
  const deadline = performance.now() + REMOVAL_MS;
  while (volumesOf(server).length > 1) {
    if (performance.now() > deadline)
      throw new Error(`after a minute, data of deleted branches remains: ${volumesOf(server).join(", ")}`);
    await sleep(POLL_MS);
  }
}

function volumesOf({ data }: RoundServer): string[] {
  const root = join(data, "volumes");
  return readdirSync(root)
    .filter((name) => name !== "templates" && name !== "extension")
    .flatMap((history) => readdirSync(join(root, history)).map((name) => `${history}/${name}`))
    .filter((name) => /\/br-/.test(name));
}
