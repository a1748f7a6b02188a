import type { Client } from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";

const server = await serverForTests();

/** The server gives the view its figures when the work of its clients pauses. */
const POLL = { interval: 2_000, timeout: 60_000 };
const COLUMNS = [
  "file_cache_misses",
  "file_cache_hits",
  "file_cache_used",
  "file_cache_writes",
  "file_cache_hit_ratio",
];

type Statistics = Readonly<Record<string, string | null>>;

async function statisticsIn(client: Client): Promise<Statistics> {
  const { rows, fields } = await client.query("select * from platform_stat_file_cache");
  expect(fields.map(({ name }) => name)).toEqual(COLUMNS);
  expect(rows).toHaveLength(1);
  return rows[0];
}

/** R: hits / (hits + misses) * 100; of the view, with two decimals. */
function expectRatio(statistics: Statistics): void {
  const [hits, misses] = [Number(statistics["file_cache_hits"]), Number(statistics["file_cache_misses"])];
  const ratio = hits + misses === 0 ? null : ((hits / (hits + misses)) * 100).toFixed(2);
  expect(statistics["file_cache_hit_ratio"]).toBe(ratio);
}

test("the extension has a view of the cache statistics, with the hit ratio of all reads", async () => {
  const { uri, endpointId } = await createBranch(server);
  const client = await connect(uri);
  await client.query("create extension platform");
  expectRatio(await statisticsIn(client));
  const { status } = await server.sim("POST", "/activity", {
    endpoint_id: endpointId,
    blocks: { hits: 9_900, misses: 100, writes: 50 },
  });
  expect(status).toBe(200);
  await expect
    .poll(async () => Number((await statisticsIn(client))["file_cache_misses"]), POLL)
    .toBeGreaterThanOrEqual(100);
  const statistics = await statisticsIn(client);
  expect(Number(statistics["file_cache_hits"])).toBeGreaterThanOrEqual(9_900);
  expect(Number(statistics["file_cache_writes"])).toBeGreaterThanOrEqual(50);
  expectRatio(statistics);
});
