import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { expect, onTestFinished, test } from "vitest";
import {
  connect,
  createBranch,
  type PostgresServer,
  startPostgresServer,
} from "../../support/postgres/postgres.ts";
import { directoriesIn, neededDirectories, processesIn } from "../../support/store/data-files.ts";

/** Each seed kills a server once while branches are created, restored and deleted and logs are shortened. */
const SEEDS = Number(process.env["STANDIN_TEST_DATA_KILLS"] ?? 1);
const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const LONGEST_RUN_MS = 1_500;
/** At most this number of branches, whose rows are compared at the end. */
const MAX_BRANCHES = 2;
/** Several of these exceed the smallest limit of a log, which is then shortened. */
const LONG_WRITE = "insert into filler select repeat(md5(n::text), 30) from generate_series(1, 4000) n";
const OPTIONS = ["--max-branch-history", "16MiB"];

/** A branch whose creation was acknowledged, and the rows that were acknowledged before it was requested. */
type Acknowledged = { readonly id: string; readonly uri: string; readonly rows: readonly number[] };

async function start(data?: string): Promise<PostgresServer> {
  const options = data === undefined ? ["--operations", "immediate", ...OPTIONS] : OPTIONS;
  const server = await startPostgresServer(options, data);
  onTestFinished(() => server.end());
  return server;
}

/** Inserts rows until the connection is lost. `acknowledged` grows with each of them. */
async function insertUntilLost(client: Client, acknowledged: number[]): Promise<void> {
  for (let number = 0; ; number += 1) {
    await client.query(number % 20 === 19 ? LONG_WRITE : "select 1");
    await client.query("insert into numbers values ($1)", [number]);
    acknowledged.push(number);
  }
}

async function storedNumbers(uri: string): Promise<Set<number>> {
  const client = await connect(uri);
  const { rows } = await client.query("select number from numbers");
  await client.end();
  return new Set(rows.map(({ number }) => number));
}

const SEED_LIST = Array.from({ length: SEEDS }, (_, index) => FIRST_SEED + index);

test.runIf(process.platform === "linux").each(SEED_LIST)(
  "STANDIN_TEST_SEED=%i: a SIGKILL during work on branches loses no acknowledged row, and leaves nothing",
  { timeout: 120_000 },
  async (seed) => {
    const random = xoroshiro128plus(seed);
    const draw = (below: number) => (random.next() >>> 0) % below;
    const server = await start();
    const { projectId, branchId, uri } = await createBranch(server);
    const client = await connect(uri);
    await client.query("create table numbers (number int); create table filler (text text)");
    const rows: number[] = [];
    const inserted = insertUntilLost(client, rows).catch(() => undefined);
    const created: Acknowledged[] = [];
    const deleted = new Set<string>();
    const work = async () => {
      for (;;) {
        const kind = draw(8);
        const [oldest] = created;
        if (oldest === undefined || (kind < 4 && created.length < MAX_BRANCHES)) {
          const before = [...rows];
          const { status, body } = await server.api("POST", `/projects/${projectId}/branches`, {
            branch: { parent_id: branchId },
            endpoints: [{ type: kind === 3 ? "read_only" : "read_write" }],
          });
          if (status !== 201) continue;
          created.push({ id: body.branch.id, uri: body.connection_uris[0].connection_uri, rows: before });
        } else if (kind < 6) {
          await storedNumbers(created[draw(created.length)]?.uri ?? "").catch(() => undefined);
        } else if (kind === 6) {
          await server.api("POST", `/projects/${projectId}/branches/${oldest.id}/restore`, {
            source_branch_id: branchId,
          });
        } else {
          deleted.add(oldest.id);
          created.shift();
          await server.api("DELETE", `/projects/${projectId}/branches/${oldest.id}?hard=true`);
        }
      }
    };
    const working = work().catch(() => undefined);
    await sleep(300 + draw(LONGEST_RUN_MS));
    const { api_key: key } = server.ready;
    await server.kill("SIGKILL");
    await Promise.all([inserted, working]);
    expect(rows.length).toBeGreaterThan(0);

    const restarted = await start(server.data);
    await expect
      .poll(() => directoriesIn(server.data).filter((path) => !neededDirectories(server.data).has(path)), {
        timeout: 30_000,
      })
      .toEqual([]);
    const address = (of: string) => of.replace(`:${server.pgPort}/`, `:${restarted.pgPort}/`);
    const stored = await storedNumbers(address(uri));
    expect(rows.filter((number) => !stored.has(number))).toEqual([]);
    const { body } = await restarted.api("GET", `/projects/${projectId}/branches?limit=1000`, undefined, key);
    const existing = new Set(body.branches.map(({ id }: { id: string }) => id));
    for (const branch of created.filter(({ id }) => !deleted.has(id))) {
      expect(existing.has(branch.id)).toBe(true);
      const copied = await storedNumbers(address(branch.uri));
      expect(branch.rows.filter((number) => !copied.has(number))).toEqual([]);
    }
    await restarted.end();
    expect(processesIn(server.data)).toEqual([]);
  },
);
