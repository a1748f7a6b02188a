import { expect, test } from "vitest";
import { DAY } from "../../../src/kernel/time.ts";
import { worldState } from "../../support/double/compute.ts";
import { createProject } from "../../support/double/double.ts";
import {
  clockOf,
  createBusyWorld,
  createTestDouble,
  forkWorld,
  requestFork,
  worldNames,
} from "../../support/double/history-requests.ts";
import { doubleOfWorld, STORAGE_KINDS } from "../../support/double/storage-double.ts";

test.each(STORAGE_KINDS)(
  "%s: when one more world is allowed, one of many concurrent forks succeeds",
  async (kind) => {
    const double = (await createTestDouble(kind, { limits: { maxWorlds: 2 } })).double();
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) => requestFork(double, { name: `w${index}` })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
    expect(await worldNames(double)).toHaveLength(2);
  },
);

test.each(STORAGE_KINDS)("%s: a snapshot in progress does not count as a world", async (kind) => {
  const double = (await createTestDouble(kind, { limits: { maxWorlds: 2 } })).double();
  const [snapshot, world] = await Promise.all([
    double.sim("POST", "/snapshots", { name: "kept" }),
    requestFork(double, { name: "copy" }),
  ]);
  expect([snapshot.status, world.status]).toEqual([201, 201]);
});

test.each(STORAGE_KINDS)(
  "%s: of two concurrent forks with one name, one succeeds and the other is rejected because the name exists",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    const responses = await Promise.all([
      requestFork(double, { name: "copy" }),
      requestFork(double, { name: "copy", at: 3 }),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
    const [won, lost] = responses.sort((a, b) => a.status - b.status);
    expect(lost?.body).toMatchObject({
      code: "WORLD_EXISTS",
      message: expect.stringMatching(/^name: .*"copy"/),
    });
    expect((await kept.world("copy").sim("GET", "/health")).body.history).toMatchObject({
      id: won?.body.world.history_id,
      seq: won?.body.world.seq,
    });
    for (const { ok } of await kept.verify("copy")) expect(ok).toBe(true);
  },
);

test.each(STORAGE_KINDS)("%s: many concurrent forks of one world all equal that world", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  await createProject(double);
  const names = Array.from({ length: 10 }, (_, index) => `copy-${index}`);
  const responses = await Promise.all(names.map((name) => requestFork(double, { name })));
  expect(responses.map(({ status }) => status)).toEqual(names.map(() => 201));
  expect(new Set(responses.map(({ body }) => body.world.history_id)).size).toBe(names.length);
  const origin = await worldState(double);
  for (const name of names) expect(await worldState(kept.world(name))).toBe(origin);
});

test.each(STORAGE_KINDS)("%s: a fork requested during a long advance is the world after it", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createBusyWorld(double);
  const [advanced, created] = await Promise.all([
    double.world.advance({ by: 60 * DAY }),
    requestFork(double, { name: "copy" }),
  ]);
  expect(advanced?.now).toBe(Date.parse("2026-03-02T00:00:10Z"));
  expect(created.status).toBe(201);
  const copy = doubleOfWorld(double, "copy");
  expect(await worldState(copy)).toBe(await worldState(double));
  expect((await clockOf(copy)).now).toBe("2026-03-02T00:00:10.000Z");
});

test.each(STORAGE_KINDS)(
  "%s: a fork at a past point during a long advance equals that past",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createBusyWorld(double);
    const before = await worldState(double);
    const [, created] = await Promise.all([
      double.world.advance({ by: 60 * DAY }),
      requestFork(double, { name: "copy", at: "2026-01-01T00:00:10Z" }),
    ]);
    expect(created.status).toBe(201);
    expect(await worldState(doubleOfWorld(double, "copy"))).toBe(before);
  },
);

test.each(STORAGE_KINDS)(
  "%s: deleting a world ends its long advance and does not affect other worlds",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createBusyWorld(double);
    const copy = await forkWorld(double, { name: "copy" });
    const [advanced, deleted, elsewhere] = await Promise.all([
      copy.advance("60d"),
      double.sim("DELETE", "/worlds/copy"),
      double.advance("60d"),
    ]);
    expect(deleted.status).toBe(200);
    expect([advanced.status, advanced.body]).toMatchObject([404, { code: "WORLD_NOT_FOUND" }]);
    expect(elsewhere.status).toBe(200);
    expect(await worldNames(double)).toEqual(["default"]);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a fork of a world that is deleted meanwhile is complete or does not exist",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    const origin = await worldState(double);
    for (const at of [undefined, "2026-01-01T00:00:10Z"]) {
      await forkWorld(double, { name: "parent" });
      const [child] = await Promise.all([
        requestFork(double, { name: "child", from: "parent", at }),
        double.sim("DELETE", "/worlds/parent"),
      ]);
      expect([201, 404, 503]).toContain(child.status);
      expect(await worldNames(double)).toEqual(child.status === 201 ? ["child", "default"] : ["default"]);
      if (child.status !== 201) continue;
      expect(await worldState(kept.world("child"))).toBe(origin);
      await double.sim("DELETE", "/worlds/child");
    }
  },
);
