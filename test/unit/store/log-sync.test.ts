import fs, { readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { readHeadMark } from "../../../src/store/file/head-mark.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { walPath } from "../../../src/store/journal/wal-file.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";
import { holdSyncs, IO_ERROR } from "../../support/store/held-syncs.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { clockAt, copyOf, OPTIONS } from "../../support/store/world-files.ts";

const files = worldFiles();

/** An open world whose syncs the test ends. */
function createWorld() {
  const path = copyOf(files.complete);
  const store = openStore(path, { ...OPTIONS, marksHead: true });
  let isClosed = false;
  const close = () => {
    if (!isClosed) store.close();
    isClosed = true;
  };
  onTestFinished(close);
  const simulation = new Simulation(store.world, store.journal);
  const simulated = new SimulatedWorld().use(simulation);
  simulated.now = store.clock?.now ?? 0;
  const syncs = holdSyncs();
  let renamed = 0;
  const decide = () => {
    renamed += 1;
    const name = `shop ${renamed}`;
    simulation.execute({ type: "UpdateProject", accountId: "owner", projectId: "shop", name }, simulated.now);
  };
  /** Writes what was decided, and begins its sync. */
  const write = () => {
    const commit = simulation.beginCommit(clockAt(simulated.now), simulated.now);
    while (!commit.step());
    return commit.durable();
  };
  const commitNow = () => simulation.commit(clockAt(simulated.now), simulated.now);
  /** The last event of the file as another connection finds it, and the one that the head mark states. */
  const seqs = () => [store.journal.events(0, Number.MAX_SAFE_INTEGER).at(-1)?.seq, readHeadMark(path)?.seq];
  return { path, store, close, simulation, syncs, decide, write, commitNow, seqs, head: store.world.seq };
}

/** The descriptors that are closed from now on. */
function countCloses(): readonly number[] {
  const { closeSync } = fs;
  const closed: number[] = [];
  const counted = (file: number) => {
    closed.push(file);
    closeSync(file);
  };
  Object.assign(fs, { closeSync: counted });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { closeSync });
    syncBuiltinESMExports();
  });
  return closed;
}

test("a write is in history at once, and counts as acknowledged when its sync has returned", async () => {
  const { simulation, syncs, decide, write, seqs, head } = createWorld();
  decide();
  const durable = write();
  expect([seqs(), simulation.hasUndurableEvents, simulation.committedSeq]).toEqual([
    ...[[head + 1, head], true, head],
  ]);
  syncs.end();
  await durable;
  expect([seqs(), simulation.hasUndurableEvents]).toEqual([[head + 1, head + 1], false]);
});

test("a write while one is synced makes that one durable first", async () => {
  const { syncs, decide, write, commitNow, seqs, head } = createWorld();
  decide();
  const first = write();
  decide();
  commitNow();
  expect([seqs(), syncs.held]).toEqual([[head + 2, head + 2], 1]);
  // Whatever the first sync returns: the log was written again after it began.
  syncs.end(IO_ERROR);
  await expect(first).resolves.toBeUndefined();
});

test("a checkpoint of the state waits for the sync before it, and for its own, without blocking", async () => {
  const { store, syncs, decide, write, head } = createWorld();
  const { journal } = store;
  decide();
  const first = write();
  let isStored = false;
  const stored = journal.storeCheckpoint({ ...takeCheckpoint(emptyWorld()), seq: head, at: 1 }).then(() => {
    isStored = true;
  });
  await wait(100);
  expect([syncs.held, journal.newestCheckpoint.seq]).not.toEqual([1, head]);
  // Otherwise the log would have been written again, and synced without the thread pool.
  syncs.failsAtOnce = true;
  syncs.end();
  await first;
  while (syncs.held === 0) await wait(1);
  expect([journal.newestCheckpoint.seq, isStored]).toEqual([head, false]);
  expect(journal.writable).toBeInstanceOf(Promise);
  syncs.end();
  await stored;
  expect(journal.writable).toBeUndefined();
});

test("two syncs that overlap close their file once, after the later one", async () => {
  const { syncs, decide, write, commitNow, close } = createWorld();
  const closed = countCloses();
  decide();
  const first = write();
  // Made durable without the first sync, which is still under way when the next one begins.
  decide();
  commitNow();
  decide();
  const second = write();
  expect(syncs.held).toBe(2);
  syncs.end();
  await first;
  close();
  const whileSyncing = closed.filter((file) => file === syncs.file);
  syncs.end();
  await second;
  expect([whileSyncing, closed.filter((file) => file === syncs.file)]).toEqual([[], [syncs.file]]);
});

test("after a failed sync the log is written again, byte for byte", async () => {
  const { path, syncs, decide, write, seqs, head } = createWorld();
  decide();
  const durable = write();
  const log = readFileSync(walPath(path));
  syncs.end(IO_ERROR);
  await durable;
  expect([seqs(), readFileSync(walPath(path)).equals(log)]).toEqual([[head + 1, head + 1], true]);
});

test("if that fails, too, the outcome is unknown until the log can be written", async () => {
  const { store, syncs, decide, write, commitNow, seqs, head } = createWorld();
  decide();
  const durable = write();
  syncs.failsAtOnce = true;
  syncs.end(IO_ERROR);
  await expect(durable).rejects.toBeInstanceOf(OutcomeUnknown);
  decide();
  expect(commitNow).toThrow(OutcomeUnknown);
  expect(() => store.journal.settleFailedWrite()).toThrow("EIO");
  expect(seqs()).toEqual([head + 1, head]);
  syncs.failsAtOnce = false;
  store.journal.settleFailedWrite();
  expect(seqs()).toEqual([head + 1, head + 1]);
});

test("a log that cannot be read back after a failed sync is not counted as durable", async () => {
  const { path, syncs, decide, write } = createWorld();
  decide();
  const durable = write();
  const log = readFileSync(walPath(path));
  // As some file systems do: the blocks that could not be written are dropped from memory.
  writeFileSync(walPath(path), Buffer.concat([log.subarray(0, -4_096), Buffer.alloc(4_096)]), { flag: "r+" });
  syncs.end(IO_ERROR);
  await expect(durable).rejects.toThrow("cannot be read back");
  writeFileSync(walPath(path), log, { flag: "r+" });
});

test("a world whose last commit is not durable is closed without a checkpoint", async () => {
  const { path, close, syncs, decide, write, head } = createWorld();
  decide();
  const durable = write()?.catch((error: unknown) => error);
  const [file, log] = [readFileSync(path), readFileSync(walPath(path))];
  syncs.failsAtOnce = true;
  close();
  syncs.failsAtOnce = false;
  syncs.end(IO_ERROR);
  expect(await durable).toBeInstanceOf(OutcomeUnknown);
  expect([readFileSync(path).equals(file), readFileSync(walPath(path)).equals(log)]).toEqual([true, true]);
  const reopened = openStore(path, OPTIONS);
  expect(reopened.world.seq).toBe(head + 1);
  reopened.close();
});

test("a commit that was not synced before its world was closed is not synced afterwards", async () => {
  const { simulation, close, syncs, decide } = createWorld();
  decide();
  const commit = simulation.beginCommit(clockAt(1), 1);
  while (!commit.step());
  syncs.failsAtOnce = true;
  close();
  syncs.failsAtOnce = false;
  const durable = Promise.race([commit.durable(), nextTurn("it is being synced")]);
  await expect(durable).rejects.toBeInstanceOf(OutcomeUnknown);
  expect(syncs.held).toBe(0);
});

test("a checkpoint makes the last commit durable first", () => {
  const { path, store, syncs, decide, write, seqs, head } = createWorld();
  decide();
  write()?.catch(() => undefined);
  store.checkpoint();
  expect([seqs(), statSync(walPath(path)).size, syncs.held]).toEqual([[head + 1, head + 1], 0, 1]);
  decide();
  write()?.catch(() => undefined);
  syncs.failsAtOnce = true;
  const { size } = statSync(walPath(path));
  expect(() => store.checkpoint()).toThrow(OutcomeUnknown);
  expect(statSync(walPath(path)).size).toBe(size);
  syncs.failsAtOnce = false;
});

test("a log of 1,000 pages is moved into the file, and begins anew", () => {
  const { path, decide, commitNow } = createWorld();
  let largest = 0;
  for (let commit = 0; commit < 500; commit += 1) {
    decide();
    commitNow();
    largest = Math.max(largest, statSync(walPath(path)).size);
  }
  expect(largest).toBeGreaterThan(1_000 * 4_096);
  expect(largest).toBeLessThan(1_100 * 4_200);
});
