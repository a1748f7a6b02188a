import { setTimeout } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { HOUR } from "../../src/kernel/time.ts";
import { openForReading } from "../../src/store/file/open-read-only.ts";
import { verifyFile } from "../../src/store/file/verify-world.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import type { Retention } from "../../src/worlds/retention.ts";
import { createDouble, createProject, type Double, START } from "../support/double/double.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import { SMALL_BLOCKS } from "../support/store/small-blocks.ts";

/** After this number of commits, retention has run, however slow the machine is. */
const MAX_COMMITS = 500;
const RETENTION = { history: 24 * HOUR, operations: 48 * HOUR, minimumEvents: 500, eventsPerCheckpoint: 300 };
const DAY = 24 * HOUR;

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanUp.splice(0)) clean();
});

/** A world with retention, in a file that is deleted after the test. */
async function createForgetful(retention: Retention = RETENTION) {
  const directory = temporaryDirectory();
  const shelf = new DataDirectory(directory.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  cleanUp.push(() => {
    shelf.release();
    directory.remove();
  });
  const double = await createDouble({ storage: shelf, retention });
  return { double, file: `${directory.path}/worlds/default.sqlite`, ...(await createProject(double)) };
}

/** Starts a compute every half hour for a number of days, about eight events each time. */
async function liveFor(double: Double, endpointId: string, days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    const now = Date.parse((await double.sim("GET", "/clock")).body.now);
    const at = (index: number) => new Date(now + (index + 1) * (HOUR / 2)).toISOString();
    await double.sim(
      "POST",
      "/activity",
      Array.from({ length: 48 }, (_, index) => ({ endpoint_id: endpointId, at: at(index) })),
    );
    await double.advance("1d");
  }
}

async function verify(file: string) {
  const { sqlite, close } = openForReading(file, MIGRATIONS_FOLDER);
  const verification = await verifyFile(sqlite, async () => undefined);
  close();
  return verification;
}

test("a long-running world keeps a bounded history, and its file records where it begins", async () => {
  const { double, file, endpointId } = await createForgetful();
  await liveFor(double, endpointId, 10);
  const young = (await double.sim("GET", "/health")).body;
  await liveFor(double, endpointId, 30);
  const old = (await double.sim("GET", "/health")).body;
  const { history } = old;
  expect(history.forgotten_seq).toBeGreaterThan(young.history.seq);
  // A day of history, plus events between two checkpoints, which are rarer the more hourly usage there is.
  const { hourly_usage } = (await double.sim("GET", "/state")).body;
  const perCheckpoint = RETENTION.eventsPerCheckpoint + hourly_usage.length;
  expect(history.seq - history.forgotten_seq).toBeLessThan(
    48 * 8 + RETENTION.minimumEvents + 2 * perCheckpoint,
  );
  // After four times as long, the file has grown by little more than hourly usage, which is retained for two months.
  expect(old.size_bytes).toBeLessThan(1.4 * young.size_bytes);
  const { events, forgotten_seq } = (await double.sim("GET", "/events?limit=10000")).body;
  expect(events[0].seq).toBe(forgotten_seq + 1);
  // A checkpoint may have been stored meanwhile, in the background.
  expect(forgotten_seq).toBeGreaterThanOrEqual(history.forgotten_seq);
  await double.close();
  const { ok, from, to, differences } = await verify(file);
  expect({ ok, to, differences }).toEqual({ ok: true, to: history.seq, differences: [] });
  expect(from).toBeGreaterThanOrEqual(forgotten_seq);
});

/** The minimum number of events between two checkpoints, for the rows of this world. */
async function eventsPerCheckpointOf({ sim }: Double): Promise<number> {
  const { hourly_usage, world, ...tables } = (await sim("GET", "/state")).body;
  const rows = Object.values(tables).reduce<number>((sum, rows) => sum + [rows].flat().length, 0);
  return Math.max(1_000, 20 * rows + hourly_usage.length);
}

test("by default, retention follows simulated time, not the number of events", async () => {
  const { double, endpointId } = await createForgetful({ history: DAY, minimumEvents: 0 });
  await liveFor(double, endpointId, 20);
  const bound = await eventsPerCheckpointOf(double);
  /** After retention has left fewer than `bound`, or after many commits. */
  const eventsBefore = async (age: number) => {
    let before = Number.POSITIVE_INFINITY;
    // Retention runs after a commit, in the background.
    for (let commits = 0; before >= bound && commits < MAX_COMMITS; commits += 1) {
      await setTimeout(10);
      await double.sim("POST", "/activity", [{ endpoint_id: endpointId }]);
      const { now } = (await double.sim("GET", "/clock")).body;
      const { events } = (await double.sim("GET", "/events?limit=10000")).body;
      before = events.filter(({ at }: { at: string }) => Date.parse(at) < Date.parse(now) - age).length;
    }
    return before;
  };
  expect((await double.sim("GET", "/health")).body.history.seq).toBeGreaterThan(3 * bound);
  expect(await eventsBefore(1.25 * DAY)).toBeLessThan(bound);
  // Without new events, too: the next commit deletes what has become old.
  await double.advance("30d");
  expect(await eventsBefore(1.25 * DAY)).toBeLessThan(bound);
  await double.close();
});

test("the newest events are retained, however old they are", async () => {
  const { double, endpointId } = await createForgetful({ history: DAY, minimumEvents: 5_000 });
  await liveFor(double, endpointId, 20);
  await double.advance("30d");
  const historyOf = async () => (await double.sim("GET", "/health")).body.history;
  for (let commits = 0; (await historyOf()).forgotten_seq === 0 && commits < MAX_COMMITS; commits += 1) {
    await setTimeout(10);
    await double.sim("POST", "/activity", [{ endpoint_id: endpointId }]);
  }
  const { seq, forgotten_seq } = await historyOf();
  expect(seq - forgotten_seq).toBeGreaterThanOrEqual(5_000);
  expect(forgotten_seq).toBeGreaterThan(0);
  await double.close();
});

test("retention does not change the world", async () => {
  const { double, endpointId } = await createForgetful();
  const twin = await createDouble();
  await createProject(twin);
  for (const one of [double, twin]) await liveFor(one, endpointId, 12);
  expect((await double.sim("GET", "/health")).body.history.forgotten_seq).toBeGreaterThan(0);
  expect((await double.sim("GET", "/state")).body).toEqual((await twin.sim("GET", "/state")).body);
  await double.close();
});

test("finished operations are retained for exactly the configured time", async () => {
  const { double, projectId, endpointId } = await createForgetful();
  await liveFor(double, endpointId, 12);
  const limit = START + 12 * DAY - RETENTION.operations;
  let oldest = await oldestOperation(double, projectId);
  // Operations are deleted by later commits, once the checkpoint after them is compressed.
  for (let commits = 0; oldest <= limit - DAY && commits < MAX_COMMITS; commits += 1) {
    await setTimeout(10);
    await double.sim("POST", "/activity", [{ endpoint_id: endpointId }]);
    oldest = await oldestOperation(double, projectId);
  }
  expect(oldest).toBeGreaterThan(limit - DAY);
  expect(oldest).toBeLessThan(limit + DAY);
  await double.close();
});

async function oldestOperation(double: Double, projectId: string): Promise<number> {
  const ended: number[] = [];
  for (let cursor = ""; ; ) {
    const { operations, pagination } = (
      await double.api("GET", `/projects/${projectId}/operations?limit=1000${cursor}`)
    ).body;
    if (operations.length === 0) return Math.min(...ended);
    ended.push(...operations.map((operation: { updated_at: string }) => Date.parse(operation.updated_at)));
    cursor = `&cursor=${encodeURIComponent(pagination.cursor)}`;
  }
}

test("a replay from a checkpoint equals a replay from the empty world", async () => {
  const double = await createDouble({ retention: { eventsPerCheckpoint: 50 } });
  const { endpointId } = await createProject(double);
  await liveFor(double, endpointId, 3);
  const { seq } = (await double.sim("GET", "/health")).body.history;
  const whole = await createDouble();
  const again = await createProject(whole);
  await liveFor(whole, again.endpointId, 3);
  for (let at = 1; at <= seq; at += 97) {
    expect((await double.sim("GET", `/state?at=${at}`)).body).toEqual(
      (await whole.sim("GET", `/state?at=${at}`)).body,
    );
  }
});
