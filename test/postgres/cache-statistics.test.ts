import type { Client } from "pg";
import { expect, test } from "vitest";
import { connect, createBranch, letSuspend, serverForTests } from "../support/postgres/postgres.ts";

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

/** Larger than the shared buffers, so that a scan reads it through the cache. */
const LARGE_TABLE = `create unlogged table large as
  select number, repeat('x', 1000) as text from generate_series(1, 180000) as number`;

/** The statistics of the compute in the platform's own database. */
async function statisticsOfCompute(uri: string): Promise<Statistics> {
  const url = new URL(uri);
  url.pathname = "/postgres";
  const client = await connect(url.href);
  return statisticsIn(client);
}

const manual = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

test("on a manual clock, the database postgres shows the reads of the whole compute at once", async () => {
  const { uri } = await createBranch(manual);
  expect(Number((await statisticsOfCompute(uri))["file_cache_misses"])).toBe(0);
  const client = await connect(uri);
  await client.query(LARGE_TABLE);
  await client.query("select count(text) from large");
  await client.end();
  // What was just written is in the cache. Postgres counts a session's last reads when its process has ended.
  await expect
    .poll(async () => Number((await statisticsOfCompute(uri))["file_cache_hits"]), POLL)
    .toBeGreaterThan(5_000);
  const statistics = await statisticsOfCompute(uri);
  expectRatio(statistics);
  expect(Number(statistics["file_cache_hit_ratio"])).toBeGreaterThan(99);
  expect(Number(statistics["file_cache_used"])).toBeGreaterThan(20_000);
});

test("a session sees its own reads at once, and the reads after a start of the compute are misses", async () => {
  const branch = await createBranch(manual);
  const writer = await connect(branch.uri);
  await writer.query("create extension platform");
  await writer.query(LARGE_TABLE.replace("unlogged", ""));
  await writer.query("select count(text) from large");
  expect(Number((await statisticsIn(writer))["file_cache_hit_ratio"])).toBeGreaterThan(99);
  await letSuspend(manual, branch);
  const reader = await connect(branch.uri);
  expect(Number((await statisticsIn(reader))["file_cache_misses"])).toBe(0);
  await reader.query("select count(text) from large");
  const cold = await statisticsIn(reader);
  expect(Number(cold["file_cache_misses"])).toBeGreaterThan(20_000);
  expect(Number(cold["file_cache_hit_ratio"])).toBeLessThan(5);
  await reader.query("select count(text) from large");
  await reader.query("select count(text) from large");
  const warm = await statisticsIn(reader);
  expect(Number(warm["file_cache_misses"])).toBe(Number(cold["file_cache_misses"]));
  expect(Number(warm["file_cache_hits"])).toBeGreaterThan(Number(cold["file_cache_hits"]) + 20_000);
});
