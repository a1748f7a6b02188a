import { expect, test } from "vitest";
import type { Branch } from "../../../src/platform/model/branch.ts";
import type { Compute } from "../../../src/platform/model/compute.ts";
import type { Operation } from "../../../src/platform/model/operation.ts";
import { pendingStateOf } from "../../../src/platform/model/operation.ts";
import { branchesOf, computesOf } from "../../../src/platform/world/lookup.ts";
import { emptyWorld, type World } from "../../../src/platform/world/world.ts";
import { DurableView } from "../../../src/worlds/hosted/durable-view.ts";

function viewOf(world: World): DurableView {
  const live = { simulation: { world, journal: {} }, history: {}, clock: { now: () => 0 } };
  return new DurableView(live as never, 0, () => undefined);
}

test("rows that are gone in the meantime are at their places in lists of a project", () => {
  const world = emptyWorld();
  for (const number of [1, 2, 3]) {
    const row = { number, id: String(number), projectId: "shop" };
    world.branches.set(row as Branch);
    world.computes.set({ ...row, branchId: row.id, phase: { state: "idle" } } as Compute);
  }
  const view = viewOf(world);
  for (const id of ["1", "2"]) {
    world.computes.delete(id);
    world.branches.delete(id);
  }
  const seen = view.read((transaction) => [
    branchesOf(transaction.world, "shop").map(({ id }) => id),
    computesOf(transaction.world, "shop").map(({ id }) => id),
  ]);
  expect(seen).toEqual([
    ["1", "2", "3"],
    ["1", "2", "3"],
  ]);
  expect(branchesOf(world, "shop").map(({ id }) => id)).toEqual(["3"]);
});

test("the state of a compute after operations that have finished in the meantime is that of the last one", () => {
  const world = emptyWorld();
  const [suspend, start] = (["suspend_compute", "start_compute"] as const).map((action, index) => ({
    ...{ number: index + 1, id: String(index + 1), projectId: "shop", endpointId: "ep", action },
  })) as unknown as [Operation, Operation];
  for (const operation of [suspend, start]) world.operations.set(operation);
  const view = viewOf(world);
  for (const operation of [suspend, start]) world.operations.retire(operation);
  const seen = view.read((transaction) =>
    pendingStateOf(transaction.world.operations.by("project", "shop").values(), "ep"),
  );
  expect(seen).toBe("active");
});
