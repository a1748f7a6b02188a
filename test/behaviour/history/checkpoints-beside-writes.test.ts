import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { SqliteJournal } from "../../../src/store/journal/sqlite-journal.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const CLIENTS = 8;
const CHANGES = 150;
const EVENTS_PER_CHECKPOINT = 100;

test("checkpoints are stored while other clients change the world", async () => {
  const { path, remove } = temporaryDirectory();
  const storage = new DataDirectory(path, MIGRATIONS_FOLDER);
  const double = await createDouble({
    ...{ storage, operations: "immediate", retention: { eventsPerCheckpoint: EVENTS_PER_CHECKPOINT } },
  });
  onTestFinished(async () => {
    await double.close();
    storage.release();
    remove();
  });
  const { projectId } = await createProject(double);
  const stored = vi.spyOn(SqliteJournal.prototype, "storeCheckpoint");
  onTestFinished(() => stored.mockRestore());
  const change = async (client: number) => {
    for (let count = 0; count < CHANGES; count += 1) {
      // The clients do not wait for each other, so that some changes are decided during the commits of others.
      for (let turn = 0; turn <= client % 4; turn += 1) await nextTurn();
      const project = { name: `shop ${client} ${count}` };
      await double.api("PATCH", `/projects/${projectId}`, { project });
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => change(client)));
  const outcomes = await Promise.allSettled(stored.mock.results.map(({ value }) => value));
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  expect(outcomes.length).toBeGreaterThanOrEqual((CLIENTS * CHANGES) / EVENTS_PER_CHECKPOINT / 2);
});
