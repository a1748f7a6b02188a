import { expect, onTestFinished, test, vi } from "vitest";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import { MemoryWorldStorage } from "../../../src/worlds/memory-world-storage.ts";
import { worldState } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS, type StorageKind } from "../../support/double/storage-double.ts";

const listOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/snapshots")).body.snapshots;

const storageOf = (kind: StorageKind) =>
  kind === "in files" ? DataDirectory.prototype : MemoryWorldStorage.prototype;

/** Takes a backup as the server does on schedule; returns the snapshot's name if one was taken. */
async function backUp({ worlds }: Double, keep = 24): Promise<string | undefined> {
  const taken = await worlds.backUp("default", keep);
  if (!taken.ok) throw new Error(taken.refusal.message);
  const kept = taken.value;
  // Gives the next backup a later wall-clock time.
  if (kept !== undefined) await vi.waitUntil(() => Date.now() > kept.createdAt + 10);
  return kept?.name;
}

test.each(STORAGE_KINDS)(
  "%s: a backup is a snapshot with a generated name, and restores the world",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const state = await worldState(double);
    const name = await backUp(double);
    expect(name).toMatch(/^backup-\d{8}t\d{6}z$/);
    expect(await listOf(double)).toMatchObject([{ name, kind: "backup", now: "2026-01-01T00:00:10.000Z" }]);
    await double.advance("1h");
    expect((await double.sim("POST", `/snapshots/${name}/restore`)).status).toBe(200);
    expect(await worldState(double)).toBe(state);
  },
);

test.each(STORAGE_KINDS)(
  "%s: no backup is taken when nothing has happened since the last one",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const first = await backUp(double);
    expect(await backUp(double)).toBe(undefined);
    await createProject(double);
    const second = await backUp(double);
    expect(second).not.toBe(first);
    expect(await backUp(double)).toBe(undefined);
    expect(await listOf(double)).toHaveLength(2);
  },
);

test.each(STORAGE_KINDS)(
  "%s: only the newest backups are retained; other snapshots are not touched",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await double.sim("POST", "/snapshots", { name: "mine" });
    const seqs: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await createProject(double);
      const name = await backUp(double, 2);
      seqs.push((await double.sim("GET", `/snapshots/${name}`)).body.snapshot.seq);
    }
    await double.sim("POST", "/snapshots/mine/restore");
    const list = await listOf(double);
    expect(list.map(({ kind: its }) => its)).toEqual(["manual", "backup", "backup", "automatic"]);
    expect(list.slice(1, 3).map(({ seq }) => seq)).toEqual(seqs.slice(-2));
  },
);

test.each(STORAGE_KINDS)(
  "%s: a restored world is a new history, so it gets a backup even though its events are old",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const first = await backUp(double);
    await double.sim("POST", `/snapshots/${first}/restore`);
    expect(await backUp(double)).not.toBe(first);
  },
);

test.each(STORAGE_KINDS)(
  "%s: only the newest snapshots of restores are retained; other snapshots are not touched",
  async (kind) => {
    const limits = { maxAutomaticSnapshots: 2 };
    const double = (await createTestDouble(kind, { limits })).double();
    await double.sim("POST", "/snapshots", { name: "mine" });
    const taken: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      await createProject(double);
      const { status, body } = await double.sim("POST", "/snapshots/mine/restore");
      expect(status).toBe(200);
      taken.push(body.former_kept_as);
      // Gives the next snapshot a later wall-clock time.
      const since = Date.now();
      await vi.waitUntil(() => Date.now() > since + 10);
    }
    const names = (await listOf(double)).map(({ name }: { name: string }) => name);
    expect(names).toEqual(["mine", ...taken.slice(-2)]);
  },
);

test.each(STORAGE_KINDS)("%s: a restore opens no snapshot but its own", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  for (const name of ["mine", "other", "third"]) await double.sim("POST", "/snapshots", { name });
  const read = vi.spyOn(storageOf(kind), "snapshot");
  onTestFinished(() => read.mockRestore());
  expect((await double.sim("POST", "/snapshots/mine/restore")).status).toBe(200);
  expect(read.mock.calls).toEqual([["default", "mine"]]);
});
