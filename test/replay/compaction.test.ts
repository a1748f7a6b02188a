import fc from "fast-check";
import { expect, test } from "vitest";
import { HOUR } from "../../src/kernel/time.ts";
import type { RecordedEvent } from "../../src/platform/model/events.ts";
import type { Operation } from "../../src/platform/model/operation.ts";
import { isTerminal } from "../../src/simulation/fold-operation.ts";
import { replay } from "../../src/simulation/replay.ts";
import { createProject, type Double } from "../support/double/double.ts";
import { createStorageDouble, STORAGE_KINDS, type StorageDouble } from "../support/double/storage-double.ts";
import { commandSequences } from "../support/model/commands.ts";
import {
  eventsOf,
  type OperationsByProject,
  operationsIn,
  operationsOf,
  pointChoice,
  projectsIn,
  RANDOM_STARTS,
  recordRun,
  renderedState,
  replayRun,
  resolvePoint,
  splitAt,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";

const sequences = commandSequences({ keys: false });
const share = fc.double({ min: 0, max: 1, noNaN: true });

/** The complete history of a world, and how much of it is truncated. */
type Known = {
  readonly events: readonly RecordedEvent[];
  /** The last truncated event, and the instant before which ended operations are truncated. */
  readonly forgotten: number;
  readonly horizon: number;
};

/** Compacts history; expects the world to stay equal, and the remaining history to be the end of the complete one. */
async function compact(
  shelved: StorageDouble,
  events: readonly RecordedEvent[],
  keep: number,
): Promise<Known> {
  const double = shelved.double();
  const look = async () => [
    await worldStateText(double),
    (await double.sim("GET", "/clock")).body,
    (await double.sim("GET", "/endpoints")).body,
  ];
  const before = await look();
  const horizon = double.world.now() - keep;
  const { status, body } = await double.sim("POST", "/compact", { keep: `${keep}ms` });
  expect(status, JSON.stringify(body)).toBe(200);
  const known = { events, forgotten: events.findLast(({ at }) => at <= horizon)?.seq ?? 0, horizon };
  expect(body).toMatchObject({ forgotten_seq: known.forgotten, seq: events.length });
  expect(await look()).toEqual(before);
  await expectRemembered(shelved, known);
  return known;
}

async function expectRemembered(
  shelved: StorageDouble,
  { events, forgotten, horizon }: Known,
): Promise<void> {
  const double = shelved.double();
  expect(await eventsOf(double)).toEqual(events.slice(forgotten));
  const projects = projectsIn(events);
  expect(await operationsOf(double, projects)).toEqual(
    without(operationsIn(events, projects), (one) => one.updatedAt < horizon),
  );
  for (const { differences } of await shelved.verify("default")) expect(differences).toEqual([]);
}

/** Expects a fork at a remaining point to equal the same fork of the complete history. */
async function expectFork(
  shelved: StorageDouble,
  name: string,
  point: { requested: number | string; seq: number },
  known: Known,
) {
  const { events, forgotten, horizon } = known;
  expect(await worldStateText(shelved.double(), point.requested)).toBe(
    renderedState(replay(events.slice(0, point.seq))),
  );
  const forked = await fork(shelved.double(), name, point.requested, () => shelved.world(name));
  const left = await eventsOf(forked);
  const lived = events.slice(0, forgotten + left.length);
  expect(left).toEqual(lived.slice(forgotten));
  expect(lived.length).toBeGreaterThanOrEqual(point.seq);
  expect(await worldStateText(forked)).toBe(renderedState(replay(lived)));
  const projects = projectsIn(events);
  // Operations removed by a reset are recorded only in events.
  const wasReset = events.slice(lived.length).some(({ type }) => type === "WorldReset");
  const oldestAt = events[forgotten - 1]?.at ?? 0;
  const isForgotten = ({ updatedAt }: Operation) =>
    updatedAt < horizon || (wasReset && updatedAt <= oldestAt);
  expect(without(await operationsOf(forked, projects), isForgotten)).toEqual(
    without(operationsIn(lived, projects), isForgotten),
  );
  for (const { differences } of await shelved.verify(name)) expect(differences).toEqual([]);
}

async function fork(double: Double, name: string, at: number | string, world: () => Double): Promise<Double> {
  const { status, body } = await double.sim("POST", "/worlds", { name, at });
  expect(status, JSON.stringify(body)).toBe(201);
  return world();
}

function without(
  operations: OperationsByProject,
  isForgotten: (operation: Operation) => boolean,
): OperationsByProject {
  const isKept = (operation: Operation) => !isTerminal(operation.state) || !isForgotten(operation);
  return new Map([...operations].map(([id, all]) => [id, all.filter(isKept)]));
}

async function onEveryShelf(work: (shelved: StorageDouble) => Promise<void>): Promise<void> {
  for (const kind of STORAGE_KINDS) {
    const shelved = await createStorageDouble(kind, RANDOM_STARTS);
    try {
      await work(shelved);
    } finally {
      await shelved.end();
    }
  }
}

test("compaction changes neither the world nor any remaining point of its history", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      fc.array(share, { minLength: 1, maxLength: 2 }),
      fc.array(pointChoice, { maxLength: 3 }),
      async (...drawn) => {
        const [commands, keeps, places] = drawn;
        const life = await recordRun(commands);
        await onEveryShelf(async (shelved) => {
          const double = shelved.double;
          await replayRun(double(), life);
          const events = await eventsOf(double());
          const first = events[0]?.at ?? 0;
          let keep = double().world.now() - first;
          let known: Known | undefined;
          for (const share of keeps) {
            keep = Math.floor(share * keep);
            known = await compact(shelved, events, keep);
          }
          if (known === undefined) return;
          await shelved.reopen();
          await expectRemembered(shelved, known);
          for (const [index, place] of places.entries()) {
            const point = resolvePoint(events, double().world.now(), place);
            if (point.seq > known.forgotten) await expectFork(shelved, `fork-${index}`, point, known);
          }
        });
      },
    ),
    20,
  );
});

test("truncated history is rejected up to the point where history now begins", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      share,
      share,
      fc.array(pointChoice, { maxLength: 3 }),
      async (commands, stop, keep, places) => {
        const life = await recordRun(commands);
        const [before, after] = splitAt(life, stop);
        await onEveryShelf(async (shelved) => {
          const double = shelved.double();
          await replayRun(double, before);
          const past = await eventsOf(double);
          const { horizon } = await compact(
            shelved,
            past,
            Math.floor(keep * (double.world.now() - (past[0]?.at ?? 0))),
          );
          await replayRun(double, after);
          const { forgottenSeq: forgotten } = double.world.history();
          const events = [...past, ...(await eventsOf(double)).filter(({ seq }) => seq > past.length)];
          const oldest = events[forgotten - 1];
          if (oldest === undefined) return;
          const deletedPoints = places
            .map((place) => resolvePoint(events, double.world.now(), place))
            .filter(({ seq }) => seq < forgotten);
          const points = [
            ...deletedPoints.map(({ requested }) => requested),
            forgotten - 1,
            new Date(oldest.at - 1).toISOString(),
          ];
          for (const at of points) {
            const forked = await double.sim("POST", "/worlds", { name: "forgotten", at });
            expect(
              [forked.status, forked.body.code],
              `a fork at ${at}, where history begins after ${forgotten}`,
            ).toEqual([422, "HISTORY_FORGOTTEN"]);
            const looked = await double.sim("GET", `/state?at=${at}`);
            expect([looked.status, looked.body.code]).toEqual([422, "HISTORY_FORGOTTEN"]);
          }
          await expectFork(
            shelved,
            "oldest",
            { requested: forgotten, seq: forgotten },
            { events, forgotten, horizon },
          );
        });
      },
    ),
    20,
  );
});

test("a compacted world can be forked, snapshotted and restored", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, share, share, async (commands, stop, share) => {
      const [before, after] = splitAt(await recordRun(commands), stop);
      await onEveryShelf(async (shelved) => {
        const double = shelved.double;
        await replayRun(double(), before);
        const events = await eventsOf(double());
        await compact(shelved, events, Math.floor(share * (double().world.now() - (events[0]?.at ?? 0))));
        const projects = projectsIn(events);
        const portrait = async (world: Double) => [
          await worldStateText(world),
          await eventsOf(world),
          await operationsOf(world, projects),
        ];
        const kept = await portrait(double());
        await double().sim("POST", "/snapshots", { name: "kept" });
        await double().sim("POST", "/worlds", { name: "fork" });
        expect(await portrait(shelved.world("fork"))).toEqual(kept);
        await replayRun(double(), after);
        const lived = await portrait(double());
        await replayRun(shelved.world("fork"), after);
        expect(await portrait(shelved.world("fork"))).toEqual(lived);
        await double().sim("POST", "/snapshots/kept/restore");
        expect(await portrait(double())).toEqual(kept);
        await shelved.reopen();
        expect(await portrait(double())).toEqual(kept);
        await replayRun(double(), after);
        expect(await portrait(double())).toEqual(lived);
        for (const { differences } of await shelved.verify("default", "fork"))
          expect(differences).toEqual([]);
      });
    }),
    12,
  );
});

test.each(STORAGE_KINDS)(
  "a fork excludes an operation after its point at the instant of the truncation, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    try {
      const double = shelved.double();
      const { projectId, branchId } = await createProject(double);
      await double.api("PATCH", `/projects/${projectId}`, { project: { name: "renamed" } });
      const { forgotten_seq } = (await double.sim("POST", "/compact", { keep: "0s" })).body;
      await double.api("PATCH", `/projects/${projectId}`, { project: { name: "renamed again" } });
      const made = await double.api("POST", `/projects/${projectId}/endpoints`, {
        endpoint: { branch_id: branchId, type: "read_only" },
      });
      const deleted = await double.api("DELETE", `/projects/${projectId}/endpoints/${made.body.endpoint.id}`);
      expect([made.status, deleted.status]).toEqual([201, 200]);
      const forked = await fork(double, "fork", forgotten_seq + 1, () => shelved.world("fork"));
      expect(forked.world.history().seq).toBe(forgotten_seq + 1);
      expect(
        (await operationsOf(forked, [projectId])).get(projectId)?.map(({ endpointId }) => endpointId),
      ).not.toContain(made.body.endpoint.id);
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)(
  "operations pruned before their events do not reappear in a fork or a snapshot, %s",
  async (kind) => {
    const retention = {
      history: 72 * HOUR,
      operations: 2 * HOUR,
      minimumEvents: 10,
      eventsPerCheckpoint: 50,
    };
    const shelved = await createStorageDouble(kind, { retention });
    try {
      const double = shelved.double();
      const { projectId, endpointId } = await createProject(double);
      const events = [];
      for (let hour = 0; hour < 100; hour += 1) {
        await double.sim("POST", "/activity", { endpoint_id: endpointId });
        events.push(...(await double.advance("1h")).body.events);
      }
      const operations = await operationsOf(double, [projectId]);
      const finished = events.filter(({ type }) => type === "OperationFinished");
      expect(operations.get(projectId)?.length).toBeLessThan(finished.length);
      await double.sim("POST", "/worlds", { name: "fork" });
      // Opening a copy may prune more of them.
      expect(operations.get(projectId)).toEqual(
        expect.arrayContaining([
          ...((await operationsOf(shelved.world("fork"), [projectId])).get(projectId) ?? []),
        ]),
      );
      await double.sim("POST", "/snapshots", { name: "kept" });
      await double.sim("POST", "/snapshots/kept/restore");
      expect(operations.get(projectId)).toEqual(
        expect.arrayContaining([...((await operationsOf(double, [projectId])).get(projectId) ?? [])]),
      );
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)("a horizon before the start of history truncates nothing, %s", async (kind) => {
  const shelved = await createStorageDouble(kind);
  try {
    await createProject(shelved.double());
    const events = await eventsOf(shelved.double());
    expect(await compact(shelved, events, 10_001)).toMatchObject({ forgotten: 0 });
    expect(await compact(shelved, events, 1_000 * 365 * 86_400_000)).toMatchObject({ forgotten: 0 });
    await expectFork(shelved, "fork", { requested: 3, seq: 3 }, { events, forgotten: 0, horizon: 0 });
  } finally {
    await shelved.end();
  }
});
