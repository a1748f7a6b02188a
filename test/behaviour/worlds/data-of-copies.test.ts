import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { volumesOf } from "../../../src/platform/model/branch-data.ts";
import { DataRemoval } from "../../../src/postgres/data/data-removal.ts";
import { Volumes } from "../../../src/postgres/volumes/volumes.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { ForkSettings } from "../../../src/worlds/world-storage.ts";
import { createDouble, createProject } from "../../support/double/double.ts";
import { testDirectory } from "../../support/server/running-server.ts";

/** A data directory whose restores, and copies with the name `slow`, do not end before `finish` is called. */
class SlowDirectory extends DataDirectory {
  readonly #unfinished = new Set<string>();
  #onCopied = () => {};
  finish = () => {};
  /** Resolves when the first of these copies is complete. */
  readonly copied = new Promise<void>((resolve) => {
    this.#onCopied = resolve;
  });
  readonly #finished = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  override worlds() {
    return super.worlds().filter((name) => !this.#unfinished.has(name));
  }

  override snapshotNames(world: string) {
    return super.snapshotNames(world).filter((name) => !this.#unfinished.has(name));
  }

  override fork(from: string, to: string, settings: ForkSettings) {
    return this.#slowly(to, super.fork(from, to, settings));
  }

  override takeSnapshot(world: string, snapshot: string) {
    return this.#slowly(snapshot, super.takeSnapshot(world, snapshot));
  }

  override restore(...[world, snapshot, previousName, settings]: Parameters<DataDirectory["restore"]>) {
    return this.#slowly("slow", super.restore(world, snapshot, previousName, settings));
  }

  async #slowly<T>(name: string, copied: Promise<T>): Promise<T> {
    if (name !== "slow") return copied;
    this.#unfinished.add(name);
    const result = await copied;
    this.#onCopied();
    await this.#finished;
    this.#unfinished.delete(name);
    return result;
  }
}

/** A world with a branch that writes to a volume, on a server that deletes volumes that are not needed. */
async function worldWithData() {
  const path = testDirectory();
  const storage = new SlowDirectory(path, MIGRATIONS_FOLDER);
  const volumes = new Volumes(join(path, "volumes"), path);
  let removal: DataRemoval | undefined;
  const double = await createDouble({
    storage,
    operations: "immediate",
    onDataReleased: () => removal?.removeSoon(),
  });
  const removals = new DataRemoval({
    worlds: double.worlds,
    volumes,
    maxBranchHistory: 0,
    requestRemoval: () => undefined,
    engine: () => undefined,
    servedWorlds: async () => [],
    onError: (error) => {
      throw error;
    },
  });
  removal = removals;
  onTestFinished(async () => {
    storage.finish();
    await double.close();
    await removals.close();
    storage.release();
  });
  const { projectId, branchId } = await createProject(double);
  const { volume, release } = await volumes.create(double.world.history().id, branchId, async () => ({
    bases: [{ path: join(volumes.root, "templates", "18") }],
  }));
  await double.world.transact((transaction) =>
    transaction.storeBranchData({
      id: branchId,
      volumeId: volume.id,
      at: transaction.now,
      lsn: "0/10",
      writes: true,
    }),
  );
  release();
  await double.advance("1m");
  /** The volumes that are left when the removals that have been requested have ended. */
  const left = async () => {
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    await removals.removeAfter(async () => undefined);
    return volumes.stored();
  };
  const requestedRemovals = () => expect.poll(() => volumes.stored());
  return { double, storage, projectId, volumeId: volume.id, left, requestedRemovals };
}

test.each([
  ["the present", false],
  ["the past", true],
])("a fork of %s has the data of its origin, which is reset while the fork is made", async (_, isPast) => {
  const { double, storage, projectId, volumeId, left, requestedRemovals } = await worldWithData();
  const { seq } = double.world.history();
  await double.api("PATCH", `/projects/${projectId}`, { project: { name: "later" } });
  const fork = double.sim("POST", "/worlds", { name: "slow", ...(isPast ? { at: seq } : {}) });
  await Promise.race([storage.copied, fork]);
  expect((await double.sim("POST", "/reset", {})).status).toBe(200);
  expect(await left()).toEqual([volumeId]);
  storage.finish();
  expect((await fork).status).toBe(201);
  expect(new Set(volumesOf(storage.branchData("slow")))).toEqual(new Set([volumeId]));
  expect(await left()).toEqual([volumeId]);
  expect((await double.sim("DELETE", "/worlds/slow")).status).toBe(200);
  await requestedRemovals().toEqual([]);
});

test("a snapshot has the data of its world, which is reset while the snapshot is taken", async () => {
  const { double, storage, volumeId, left, requestedRemovals } = await worldWithData();
  const taken = double.sim("POST", "/snapshots", { name: "slow" });
  await Promise.race([storage.copied, taken]);
  expect((await double.sim("POST", "/reset", {})).status).toBe(200);
  expect(await left()).toEqual([volumeId]);
  storage.finish();
  expect((await taken).status).toBe(201);
  expect(await left()).toEqual([volumeId]);
  expect((await double.sim("DELETE", "/snapshots/slow")).status).toBe(200);
  await requestedRemovals().toEqual([]);
});

test("data that is released during a copy that does not need it is deleted after the copy", async () => {
  const { double, storage, volumeId, left, requestedRemovals } = await worldWithData();
  const fork = double.sim("POST", "/worlds", { name: "slow", at: 1 });
  await Promise.race([storage.copied, fork]);
  expect((await double.sim("POST", "/reset", {})).status).toBe(200);
  expect(await left()).toEqual([volumeId]);
  storage.finish();
  expect((await fork).status).toBe(201);
  await requestedRemovals().toEqual([]);
});

test("a restored world has the data of a snapshot that is deleted during the restore", async () => {
  const { double, storage, volumeId, left, requestedRemovals } = await worldWithData();
  expect((await double.sim("POST", "/snapshots", { name: "before" })).status).toBe(201);
  expect((await double.sim("POST", "/reset", {})).status).toBe(200);
  const restore = double.sim("POST", "/snapshots/before/restore", {});
  await Promise.race([storage.copied, restore]);
  expect((await double.sim("DELETE", "/snapshots/before")).status).toBe(200);
  expect(await left()).toEqual([volumeId]);
  storage.finish();
  expect((await restore).status).toBe(200);
  expect(await left()).toEqual([volumeId]);
  expect((await double.sim("POST", "/reset", {})).status).toBe(200);
  await requestedRemovals().toEqual([]);
});
