import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BranchVolumes } from "../../../../src/postgres/data/branch-volumes.ts";
import type { Engine } from "../../../../src/postgres/engine/engine.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** The volume of a branch, and an engine whose copies the test completes. */
async function volumeToCopy() {
  const path = testDirectory();
  const volumes = new Volumes(join(path, "volumes"), path);
  const base = join(path, "base");
  mkdirSync(base);
  const { volume, release } = await volumes.create("history", "br-1", async () => ({
    bases: [{ path: base }],
  }));
  release();
  let begun: () => void = () => undefined;
  let complete: () => void = () => undefined;
  const isCopying = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const mayComplete = new Promise<void>((resolve) => {
    complete = resolve;
  });
  const engine = {
    stopLeftover: async () => false,
    async copyCluster({ to }: { readonly to: string }) {
      begun();
      await mayComplete;
      mkdirSync(to);
    },
  } as unknown as Engine;
  return { volumes, volume, branchVolumes: new BranchVolumes(engine, volumes), isCopying, complete };
}

test("a volume cannot be removed while another branch is created from it", async () => {
  const { volumes, volume, branchVolumes, isCopying, complete } = await volumeToCopy();
  const reference = { id: "br-2", volumeId: volume.id, at: 5, lsn: "0/100" };
  const opening = branchVolumes.open("history", "br-2", 18, reference);
  await isCopying;
  expect(volumes.isPinned(volume.id)).toBe(true);
  complete();
  const opened = await opening;
  expect(volumes.isPinned(volume.id)).toBe(false);
  // The new one is, until the world refers to it.
  expect(volumes.isPinned(opened.volume.id)).toBe(true);
  opened.release();
  expect(volumes.isPinned(opened.volume.id)).toBe(false);
});

test("a volume cannot be removed while a replica copies it", async () => {
  const { volumes, volume, branchVolumes, isCopying, complete } = await volumeToCopy();
  const copying = branchVolumes.copyAt(volume, "0/100", "ep-replica");
  await isCopying;
  expect(volumes.isPinned(volume.id)).toBe(true);
  complete();
  await (await copying).remove();
  expect(volumes.isPinned(volume.id)).toBe(false);
});

test("a volume that was in use when its server was killed is opened as such", async () => {
  const { volumes, volume, branchVolumes } = await volumeToCopy();
  const own = { id: "br-1", volumeId: volume.id, at: 5, writes: true };
  expect((await branchVolumes.open("history", "br-1", 18, own)).wasKilled).toBe(false);
  const next = new BranchVolumes({ stopLeftover: async () => true } as unknown as Engine, volumes);
  expect((await next.open("history", "br-1", 18, own)).wasKilled).toBe(true);
});
