import fc from "fast-check";
import { expect, test } from "vitest";
import { replay } from "../../src/simulation/replay.ts";
import { API_KEY, createProject, START } from "../support/double/double.ts";
import {
  createStorageDouble,
  STORAGE_KINDS,
  type StorageDouble,
  type StorageKind,
} from "../support/double/storage-double.ts";
import { TestHost } from "../support/double/test-host.ts";
import { commandSequences } from "../support/model/commands.ts";
import {
  eventsOf,
  operationsIn,
  operationsOf,
  pointChoice,
  projectsIn,
  RANDOM_STARTS,
  recordRun,
  renderedState,
  replayRun,
  resolvePoint,
  worldStateText,
} from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";

const sequences = commandSequences({ keys: false });

async function onEveryShelf(
  work: (shelved: StorageDouble) => Promise<void>,
  kinds: readonly StorageKind[] = STORAGE_KINDS,
): Promise<void> {
  for (const kind of kinds) {
    const shelved = await createStorageDouble(kind, RANDOM_STARTS);
    try {
      await work(shelved);
    } finally {
      await shelved.end();
    }
  }
}

async function fork(shelved: StorageDouble, name: string, fields: Record<string, unknown> = {}) {
  const { status, body } = await shelved.double().sim("POST", "/worlds", { name, ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  return shelved.world(name);
}

test("a fork equals its origin at that point: state, events, operations and clock", async () => {
  await expectHolds(
    fc.asyncProperty(
      sequences,
      fc.array(pointChoice, { minLength: 1, maxLength: 4 }),
      async (commands, places) => {
        const life = await recordRun(commands);
        await onEveryShelf(async (shelved) => {
          await replayRun(shelved.double(), life);
          const origin = shelved.double();
          const events = await eventsOf(origin);
          const before = await worldStateText(origin);
          for (const [index, place] of places.entries()) {
            const { requested: point, seq, at } = resolvePoint(events, origin.world.now(), place);
            const then = events.slice(0, seq);
            expect(await worldStateText(origin, point), `the state at ${point}`).toBe(
              renderedState(replay(then)),
            );
            const forked = await fork(shelved, `fork-${index}`, { at: point });
            const lived = await eventsOf(forked);
            // Work due at that very instant runs at once, as in the origin.
            expect(lived).toEqual(events.slice(0, lived.length));
            expect(lived.length).toBeGreaterThanOrEqual(seq);
            expect(lived.slice(seq).filter((event) => event.at !== at)).toEqual([]);
            expect(await worldStateText(forked)).toBe(renderedState(replay(lived)));
            expect((await forked.sim("GET", "/clock")).body).toMatchObject({
              now: new Date(at).toISOString(),
              mode: "manual",
            });
            expect((await forked.sim("GET", "/invariants")).body.violations).toEqual([]);
            const projects = projectsIn(events);
            expect(await operationsOf(forked, projects)).toEqual(operationsIn(lived, projects));
          }
          const forks = places.map((_, index) => `fork-${index}`);
          for (const { differences } of await shelved.verify("default", ...forks))
            expect(differences).toEqual([]);
          expect(await eventsOf(origin)).toEqual(events);
          const states = await Promise.all(forks.map((name) => worldStateText(shelved.world(name))));
          await shelved.reopen();
          expect(await Promise.all(forks.map((name) => worldStateText(shelved.world(name))))).toEqual(states);
          expect(await worldStateText(shelved.double())).toBe(before);
        });
      },
    ),
    25,
  );
});

test("a fork at the head equals its origin byte for byte and continues with the same clock", async () => {
  await expectHolds(
    fc.asyncProperty(sequences, async (commands) => {
      const life = await recordRun(commands);
      await onEveryShelf(async (shelved) => {
        const origin = shelved.double();
        await replayRun(origin, life);
        const forked = await fork(shelved, "fork");
        for (const path of [
          "/state",
          "/clock",
          "/events?limit=10000",
          "/endpoints",
          "/accounts",
          "/api_keys",
          "/invariants",
        ]) {
          // Only the host names of its computes contain its name.
          const answer = JSON.stringify((await forked.sim("GET", path)).body);
          expect(answer.replaceAll(".fork.w.", "."), path).toBe(
            JSON.stringify((await origin.sim("GET", path)).body),
          );
        }
        const projects = projectsIn(await eventsOf(origin));
        expect(await operationsOf(forked, projects)).toEqual(await operationsOf(origin, projects));
        expect(forked.world.history().id).not.toBe(origin.world.history().id);
        for (const { differences } of await shelved.verify("fork")) expect(differences).toEqual([]);
      });
    }),
    20,
  );
});

test.each(STORAGE_KINDS)(
  "a fork keeps the clock mode of its origin unless another one is given, %s",
  async (kind) => {
    // Time is fixed, so that no clock moves between two reads.
    const shelved = await createStorageDouble(kind, { hostClock: new TestHost(START).clock });
    try {
      const modes = [{ mode: "manual" }, { mode: "scaled", factor: 60 }, { mode: "real" }];
      for (const [index, mode] of modes.entries()) {
        await shelved.double().sim("PUT", "/clock", mode);
        const forked = await fork(shelved, `fork-${index}`);
        expect((await forked.sim("GET", "/clock")).body).toEqual(
          (await shelved.double().sim("GET", "/clock")).body,
        );
        const past = await fork(shelved, `past-${index}`, { at: 2 });
        expect((await past.sim("GET", "/clock")).body).toMatchObject(mode);
        const configured = await fork(shelved, `configured-${index}`, {
          clock: { mode: "scaled", factor: 9 },
        });
        expect((await configured.sim("GET", "/clock")).body).toMatchObject({
          mode: "scaled",
          factor: 9,
          now: new Date(START).toISOString(),
        });
      }
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)(
  "a fork of a fork at a past point equals the first world at that point, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    try {
      const origin = shelved.double();
      const { path } = await createProject(origin);
      for (let hour = 0; hour < 4; hour += 1) {
        await origin.api("POST", `${path}/start`);
        await origin.advance("1h");
      }
      const events = await eventsOf(origin);
      await fork(shelved, "first", { at: events.length - 3 });
      const second = await fork(shelved, "second", { from: "first", at: "2026-01-01T01:30:00Z" });
      const then = events.filter(({ at }) => at <= START + 5_400_000);
      expect(await eventsOf(second)).toEqual(then);
      expect(await worldStateText(second)).toBe(renderedState(replay(then)));
      for (const { differences } of await shelved.verify("first", "second")) expect(differences).toEqual([]);
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)(
  "forks early, in the middle and late in a long history equal their origin then, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    try {
      const origin = shelved.double();
      const { path, projectId } = await createProject(origin);
      for (let hour = 0; hour < 40; hour += 1) {
        await origin.api("POST", `${path}/start`);
        await origin.advance("90m");
      }
      const events = await eventsOf(origin);
      const places = [0.1, 0.4, 0.6, 0.95].map((part) => Math.floor(part * events.length));
      for (const [index, at] of places.entries()) {
        const forked = await fork(shelved, `fork-${index}`, { at });
        const lived = await eventsOf(forked);
        expect(lived).toEqual(events.slice(0, lived.length));
        expect(await worldStateText(forked)).toBe(renderedState(replay(lived)));
        expect(await operationsOf(forked, [projectId])).toEqual(operationsIn(lived, [projectId]));
        // It goes on as its origin did, so no row of the later history is left.
        await forked.api("POST", `${path}/start`);
        await forked.advance("3h");
      }
      for (const { differences } of await shelved.verify(...places.map((_, index) => `fork-${index}`)))
        expect(differences).toEqual([]);
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)(
  "a fork before a reset has the operations that were finished then, %s",
  async (kind) => {
    const shelved = await createStorageDouble(kind);
    try {
      const origin = shelved.double();
      const { projectId } = await createProject(origin);
      const events = await eventsOf(origin);
      const operations = await operationsOf(origin, [projectId]);
      expect(operations.get(projectId)).toHaveLength(2);
      await origin.sim("POST", "/reset");
      // The same number, and so the same id, before and after the reset.
      expect((await createProject(origin)).projectId).toBe(projectId);
      const forked = await fork(shelved, "fork", { at: events.length });
      expect(await operationsOf(forked, [projectId])).toEqual(operations);
      for (const { differences } of await shelved.verify("fork")) expect(differences).toEqual([]);
    } finally {
      await shelved.end();
    }
  },
);

test.each(STORAGE_KINDS)("a fork at a past point does not include later uses of a key, %s", async (kind) => {
  const shelved = await createStorageDouble(kind);
  try {
    const origin = shelved.double();
    await createProject(origin);
    await origin.advance("1h");
    await origin.api("GET", "/projects");
    const forked = await fork(shelved, "fork", { at: "2026-01-01T00:30:00Z" });
    const [key] = (await forked.sim("GET", "/api_keys")).body.api_keys;
    expect(key.last_used_at ?? "never").not.toBe("2026-01-01T01:00:10.000Z");
    // It records its own uses.
    await forked.api("GET", "/projects", undefined, API_KEY);
    expect((await forked.sim("GET", "/api_keys")).body.api_keys[0].last_used_at).toBe(
      "2026-01-01T00:30:00.000Z",
    );
  } finally {
    await shelved.end();
  }
});

test.each(STORAGE_KINDS)("a point in the future and an existing name are rejected, %s", async (kind) => {
  const shelved = await createStorageDouble(kind);
  try {
    const { seq } = shelved.double().world.history();
    for (const at of [seq + 1, "2026-01-01T00:00:00.001Z"]) {
      const { status, body } = await shelved.double().sim("POST", "/worlds", { name: "fork", at });
      expect([status, body.code]).toEqual([422, "POINT_NOT_REACHED"]);
    }
    const { status, body } = await shelved.double().sim("POST", "/worlds", { name: "default" });
    expect([status, body.code]).toEqual([409, "WORLD_EXISTS"]);
    expect((await shelved.double().sim("GET", "/worlds")).body.worlds).toHaveLength(1);
  } finally {
    await shelved.end();
  }
});
