import { expect, test } from "vitest";
import { deferred } from "../../../src/kernel/deferred.ts";
import type { Compute } from "../../../src/platform/model/compute.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { DurableView } from "../../../src/worlds/hosted/durable-view.ts";
import { GroupCommit } from "../../../src/worlds/hosted/group-commit.ts";

/**
 * A world that advances, whose commits become durable when the test says so. `steps`: number of those of commits that begin
 * before the first sync.
 */
function createAdvance({ steps = 1 } = {}) {
  const world = emptyWorld();
  const syncs: (() => void)[] = [];
  const simulation = {
    world,
    journal: {},
    beginCommit() {
      const ended = deferred();
      let remaining = syncs.length === 0 ? steps : 1;
      const durable = () => {
        syncs.push(() => ended.resolve());
        return ended.promise;
      };
      const step = () => {
        remaining -= 1;
        return remaining <= 0;
      };
      return { events: [{}], step, hasEnded: false, durable };
    },
  };
  const live = {
    ...{
      simulation,
      clock: { now: () => world.at, state: () => ({}), advanceTo: () => undefined },
      history: {},
    },
    ...{ checkpointDue: { seq: 1e9, earliestSeq: 1e9, at: 1e9 }, truncationDueAt: 1e9 },
  } as never;
  const commits = new GroupCommit({ live, name: "main" } as never, { retention: {} });
  const view = new DurableView(live, 0, () => undefined);
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
  commits.followers.subscribe(() => {
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

test("a commit that is requested between the steps of another one begins after its end, and both are notified", async () => {
  const { commits, simulate, syncs } = createAdvance({ steps: 20 });
  let count = 0;
  const unsubscribe = commits.followers.subscribe(() => {
    count += 1;
  });
  simulate();
  const notified: number[] = [];
  const inSteps = commits.inSteps().then(() => notified.push(count));
  await turns(1);
  const next = commits.next().then(() => notified.push(count));
  await turns(30);
  expect(syncs).toHaveLength(1);
  syncs[0]?.();
  await inSteps;
  await turns(30);
  expect(syncs).toHaveLength(2);
  syncs[1]?.();
  await next;
  unsubscribe();
  expect([notified, commits.isInUse]).toEqual([[1, 2], false]);
});

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

test("the answers of a commit come after the reads that have arrived with the end of its sync", async () => {
  const { commits, simulate, syncs } = createAdvance();
  const order: string[] = [];
  simulate();
  const answered = commits.next().then(() => order.push("answer"));
  while (syncs.length === 0) await new Promise(setImmediate);
  syncs[0]?.();
  for (let count = 0; count < 100; count += 1) await undefined;
  order.push("read");
  await answered;
  expect(order).toEqual(["read", "answer"]);
});
