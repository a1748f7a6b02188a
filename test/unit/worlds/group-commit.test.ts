import { expect, test } from "vitest";
import { deferred } from "../../../src/kernel/deferred.ts";
import type { Compute } from "../../../src/platform/model/compute.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { DurableView } from "../../../src/worlds/hosted/durable-view.ts";
import { GroupCommit } from "../../../src/worlds/hosted/group-commit.ts";

/** A world that advances, whose commits become durable when the test says so. */
function createAdvance() {
  const world = emptyWorld();
  const syncs: (() => void)[] = [];
  const simulation = {
    world,
    journal: {},
    beginCommit() {
      const durable = deferred();
      syncs.push(() => durable.resolve());
      return { events: [{}], step: () => true, hasEnded: true, durable: () => durable.promise };
    },
  };
  const live = {
    ...{ simulation, clock: { now: () => world.at, state: () => ({}) }, history: {} },
    ...{ checkpointDue: { seq: 1e9, earliestSeq: 1e9, at: 1e9 }, truncationDueAt: 1e9 },
  } as never;
  const commits = new GroupCommit({ live, name: "main" } as never, { retention: {} });
  const view = new DurableView(live, { from: 0, now: 0 }, () => undefined);
  commits.observe(() => view.taken());
  /** Applies an event that changes the compute. */
  const simulate = () => {
    world.seq += 1;
    world.at += 1_000;
    world.computes.set({
      id: "ep",
      number: world.seq,
      projectId: "shop",
      phase: { state: "idle" },
    } as Compute);
  };
  const shown = () => view.read(({ world: { computes }, now }) => [computes.get("ep")?.number, now / 1_000]);
  return { commits, view, simulate, shown, syncs };
}

test("followers of a commit that was not made by the advance read a world that shows it", async () => {
  const { commits, simulate, shown, syncs } = createAdvance();
  const seen: unknown[] = [];
  commits.subscribe(() => {
    seen.push(shown());
  });
  simulate();
  const committed = commits.next();
  while (syncs.length === 0) await new Promise(setImmediate);
  // The advance continues while the commit is synced.
  simulate();
  expect(shown()).toEqual([undefined, 0]);
  syncs[0]?.();
  await committed;
  expect([seen, shown()]).toEqual([[[1, 1]], [1, 1]]);
});

test("the end of a commit shows nothing of a later one, and a later end nothing older", () => {
  const { view, simulate, shown } = createAdvance();
  simulate();
  const first = view.taken();
  simulate();
  const second = view.taken();
  simulate();
  first();
  expect(shown()).toEqual([1, 1]);
  second();
  first();
  expect(shown()).toEqual([2, 2]);
});
