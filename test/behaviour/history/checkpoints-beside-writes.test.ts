import { setImmediate as nextTurn } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { HourlyUsageTable } from "../../../src/platform/world/hourly-usage.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const CLIENTS = 8;
const CHANGES = 150;
const EVENTS_PER_CHECKPOINT = 100;

async function createOnDisk() {
  const { path, remove } = temporaryDirectory();
  const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
  const failures: unknown[] = [];
  const double = await createDouble({
    ...{ storage, operations: "immediate", retention: { eventsPerCheckpoint: EVENTS_PER_CHECKPOINT } },
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(async () => {
    await double.close();
    storage.release();
    remove();
  });
  const { projectId } = await createProject(double);
  const rename = (name: string) => double.api("PATCH", `/projects/${projectId}`, { project: { name } });
  const stored = vi.spyOn(SqliteJournal.prototype, "storeCheckpoint");
  onTestFinished(() => stored.mockRestore());
  /** Changes the world until the next checkpoint is due, and waits for it. */
  const nextCheckpoint = async () => {
    const count = stored.mock.results.length + 1;
    for (let change = 0; stored.mock.results.length < count; change += 1) await rename(`shop ${change}`);
    await Promise.allSettled(stored.mock.results.map(({ value }) => value));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  };
  return { double, rename, stored, failures, nextCheckpoint };
}

test("checkpoints are stored while other clients change the world", async () => {
  const { rename, stored } = await createOnDisk();
  const change = async (client: number) => {
    for (let count = 0; count < CHANGES; count += 1) {
      // The clients do not wait for each other, so that some changes are decided during the commits of others.
      for (let turn = 0; turn <= client % 4; turn += 1) await nextTurn();
      await rename(`shop ${client} ${count}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => change(client)));
  const outcomes = await Promise.allSettled(stored.mock.results.map(({ value }) => value));
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual((CLIENTS * CHANGES) / EVENTS_PER_CHECKPOINT / 2);
});

test("a checkpoint that cannot be stored is reported, and shown until a later one is stored", async () => {
  const { double, rename, stored, failures, nextCheckpoint } = await createOnDisk();
  const shown = async () => (await double.sim("GET", "/health")).body.history.upkeep_failure;
  const full = new BetterSqlite3.SqliteError("database or disk is full", "SQLITE_FULL");
  stored.mockRejectedValueOnce(full);
  await nextCheckpoint();
  expect([failures, await shown()]).toEqual([[full], "database or disk is full"]);
  expect((await rename("written")).status).toBe(200);
  await nextCheckpoint();
  expect([failures.length, await shown()]).toEqual([1, undefined]);
});

test("damage that a checkpoint finds is reported once, not with each commit after it", async () => {
  const { double, rename, failures, nextCheckpoint } = await createOnDisk();
  const read = vi.spyOn(HourlyUsageTable.prototype, "read").mockImplementation(() => {
    throw new CorruptFile("row x of hourly_usage is damaged");
  });
  onTestFinished(() => read.mockRestore());
  for (let change = 0; failures.length === 0; change += 1) await rename(`shop ${change}`);
  for (let change = 0; change < 10; change += 1) expect((await rename(`later ${change}`)).status).toBe(200);
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  const { body } = await double.sim("GET", "/health");
  expect([failures.length, body.history.upkeep_failure]).toEqual([1, expect.stringContaining("damaged")]);
  read.mockRestore();
  await nextCheckpoint();
  expect((await double.sim("GET", "/health")).body.history.upkeep_failure).toBeUndefined();
});

test("a checkpoint of a world that was closed in the meantime is not reported", async () => {
  const { double, stored, failures, nextCheckpoint } = await createOnDisk();
  let fail = (_error: Error) => {};
  stored.mockImplementationOnce(
    () =>
      new Promise((_, reject) => {
        fail = reject;
      }),
  );
  const due = nextCheckpoint();
  while (stored.mock.results.length === 0) await nextTurn();
  await double.close();
  fail(new Error("the database connection is not open"));
  await due;
  expect(failures).toEqual([]);
});
