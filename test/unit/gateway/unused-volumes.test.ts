import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { branchSeqOf, findUnusedVolumes } from "../../../src/gateway/unused-volumes.ts";
import { Volumes } from "../../../src/volumes/volumes.ts";
import { createDouble, createProject } from "../../support/double.ts";
import { testDirectory } from "../../support/running-server.ts";

test("a branch keeps its volume when another branch is created from it", async () => {
  const double = await createDouble({ operations: "immediate" });
  onTestFinished(() => double.close());
  const { projectId, branchId } = await createProject(double);
  const path = testDirectory();
  const volumes = new Volumes(join(path, "volumes"), path);
  const historyId = double.world.history().id;
  const seqOf = (id: string) => double.world.transact((transaction) => branchSeqOf(transaction, id));
  const created = await seqOf(branchId);
  expect(created).toBeGreaterThan(0);
  mkdirSync(volumes.volume(historyId, branchId, created).dataDirectory);

  const child = await double.api("POST", `/projects/${projectId}/branches`, {});
  expect(await seqOf(child.body.branch.id)).toBeGreaterThan(created ?? 0);
  expect(await seqOf(branchId)).toBe(created);
  expect(await findUnusedVolumes(volumes, double.worlds)).toEqual([]);
  expect(volumes.volume(historyId, branchId, await seqOf(branchId)).exists).toBe(true);
});
