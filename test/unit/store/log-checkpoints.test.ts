import { existsSync, readdirSync, statSync } from "node:fs";
import BetterSqlite3 from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { walPath } from "../../../src/store/journal/wal-file.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";
import { holdCheckpoints } from "../../support/store/held-checkpoints.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { clockAt, copyOf, OPTIONS } from "../../support/store/world-files.ts";

const files = worldFiles();
const FRAMES = 20;

/** An open world whose log is checkpointed in another thread after `FRAMES` frames. */
function createWorld() {
  const path = copyOf(files.complete);
  const store = openStore(path, { ...OPTIONS, framesPerCheckpoint: FRAMES });
  let isClosed = false;
  const close = () => {
    if (!isClosed) store.close();
    isClosed = true;
  };
  onTestFinished(close);
  const simulation = new Simulation(store.world, store.journal);
  const simulated = new SimulatedWorld().use(simulation);
  simulated.now = store.clock?.now ?? 0;
  let renamed = 0;
  const commit = () => {
    renamed += 1;
    const name = `shop ${renamed}`;
    simulation.execute({ type: "UpdateProject", accountId: "owner", projectId: "shop", name }, simulated.now);
    simulation.commit(clockAt(simulated.now), simulated.now);
  };
  const { journal } = store;
  /** Commits until a checkpoint is requested. */
  const fillLog = () => {
    for (let commits = 0; journal.writable === undefined; commits += 1) {
      if (commits === FRAMES) throw new Error("no checkpoint was requested");
      commit();
    }
  };
  /** What the log has, and what of it is in the file. */
  const frames = () => {
    const sqlite = new BetterSqlite3(path);
    const [{ log, checkpointed }] = sqlite.pragma("wal_checkpoint(NOOP)") as [
      { log: number; checkpointed: number },
    ];
    sqlite.close();
    return { log, checkpointed };
  };
  return { path, store, journal, close, commit, fillLog, frames, world: store.world };
}

test("a log of many pages is moved into the file in another thread, and begins anew", async () => {
  const { journal, commit, fillLog, frames } = createWorld();
  fillLog();
  await journal.writable;
  const { log, checkpointed } = frames();
  expect([log >= FRAMES, checkpointed, journal.writable]).toEqual([true, log, undefined]);
  commit();
  expect(frames().log).toBeLessThan(FRAMES);
});

test("the log can be written when the checkpoint has ended", async () => {
  const checkpoints = holdCheckpoints();
  const { journal, fillLog } = createWorld();
  fillLog();
  const { writable } = journal;
  let isWritable = false;
  void writable?.then(() => {
    isWritable = true;
  });
  await Promise.resolve();
  expect([isWritable, checkpoints.held]).toEqual([false, 1]);
  expect(checkpoints.run()).toBe(true);
  await writable;
  expect(journal.writable).toBeUndefined();
});

test("a write that cannot wait moves the log itself if the thread has not begun to", async () => {
  const checkpoints = holdCheckpoints();
  const { journal, commit, fillLog, frames, world } = createWorld();
  fillLog();
  const { writable } = journal;
  commit();
  expect(frames().log).toBeLessThan(FRAMES);
  expect(checkpoints.run()).toBe(false);
  await writable;
  expect(journal.events(0, Number.MAX_SAFE_INTEGER).at(-1)?.seq).toBe(world.seq);
});

test("many writes that cannot wait leave no long log, no lost change and no descriptor", async () => {
  const { path, store, commit, frames, world, close } = createWorld();
  const descriptors = () => readdirSync("/proc/self/fd").length;
  let [longest, atFirst] = [0, 0];
  for (let commits = 0; commits < 300; commits += 1) {
    commit();
    longest = Math.max(longest, frames().log);
    if (commits === 100) atFirst = descriptors();
    // The thread runs.
    if (commits % 20 === 0) await store.journal.writable;
  }
  // 300 commits write more than 600 pages. How many the log has at most depends on how soon the thread runs.
  expect(longest).toBeLessThan(4 * FRAMES);
  expect(descriptors()).toBeLessThan(atFirst + 5);
  close();
  expect(existsSync(walPath(path))).toBe(false);
  const reopened = openStore(path, OPTIONS);
  expect(reopened.world.seq).toBe(world.seq);
  reopened.close();
});

test("a log that could not be moved is tried again when it is longer", async () => {
  const checkpoints = holdCheckpoints();
  const { journal, commit, fillLog, frames } = createWorld();
  fillLog();
  const { writable } = journal;
  checkpoints.run(() => undefined);
  await writable;
  const { log, checkpointed } = frames();
  expect(checkpointed).toBe(0);
  commit();
  expect([journal.writable, frames().log > log]).toEqual([undefined, true]);
  fillLog();
  expect(frames().log).toBeGreaterThanOrEqual(log + FRAMES);
});

test("if the thread fails, another one is started", async () => {
  const checkpoints = holdCheckpoints();
  const { journal, commit, fillLog } = createWorld();
  fillLog();
  const { writable } = journal;
  checkpoints.fail();
  await writable;
  expect(journal.writable).toBeUndefined();
  commit();
  fillLog();
  expect([checkpoints.held, checkpoints.run()]).toEqual([1, true]);
});

test.each([
  ["a checkpoint of the whole log", ({ store }: ReturnType<typeof createWorld>) => store.checkpoint()],
  ["closing", ({ close }: ReturnType<typeof createWorld>) => close()],
])("%s waits for a checkpoint of the thread", (_, work) => {
  for (let round = 0; round < 5; round += 1) {
    const world = createWorld();
    world.fillLog();
    work(world);
    expect(statSync(walPath(world.path), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  }
});

test("a copy of the world has what the thread moves meanwhile", async () => {
  const { path, store, fillLog, world } = createWorld();
  fillLog();
  const copy = `${path}-copy`;
  await store.copyTo(copy);
  const copied = openStore(copy, OPTIONS);
  expect(copied.world.seq).toBe(world.seq);
  copied.close();
});
