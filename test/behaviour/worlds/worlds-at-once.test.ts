import { expect, test } from "vitest";
import { DAY } from "../../../src/platform/core/time.ts";
import { worldOf } from "../../support/compute.ts";
import { createProject } from "../../support/double.ts";
import { clockOf, createBusyLife, createKept, fork, forked, worldNames } from "../../support/history.ts";
import { inWorld, SHELVES } from "../../support/shelved-double.ts";

test.each(SHELVES)("%s: where one place is left, one of many forks gets it", async (kind) => {
  const double = (await createKept(kind, { limits: { maxWorlds: 2 } })).double();
  const answers = await Promise.all(Array.from({ length: 5 }, (_, index) => fork(double, { name: `w${index}` })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
  expect(await worldNames(double)).toHaveLength(2);
});

test.each(SHELVES)("%s: a snapshot that is being taken is no world, and takes no world's place", async (kind) => {
  const double = (await createKept(kind, { limits: { maxWorlds: 2 } })).double();
  const [snapshot, world] = await Promise.all([double.sim("POST", "/snapshots", { name: "kept" }), fork(double, { name: "copy" })]);
  expect([snapshot.status, world.status]).toEqual([201, 201]);
});

test.each(SHELVES)(
  "%s: of two forks to one name at once, one comes about and the other one is told that the name is taken",
  async (kind) => {
    const kept = await createKept(kind);
    const double = kept.double();
    await createProject(double);
    const answers = await Promise.all([fork(double, { name: "copy" }), fork(double, { name: "copy", at: 3 })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    const [won, lost] = answers.sort((a, b) => a.status - b.status);
    expect(lost?.body).toMatchObject({ code: "WORLD_EXISTS", message: expect.stringMatching(/^name: .*"copy"/) });
    expect((await kept.world("copy").sim("GET", "/health")).body.history).toMatchObject({
      id: won?.body.world.history_id,
      seq: won?.body.world.seq,
    });
    for (const { ok } of await kept.verify("copy")) expect(ok).toBe(true);
  },
);

test.each(SHELVES)("%s: many forks of one world at once are all that world", async (kind) => {
  const kept = await createKept(kind);
  const double = kept.double();
  await createProject(double);
  const names = Array.from({ length: 10 }, (_, index) => `copy-${index}`);
  const answers = await Promise.all(names.map((name) => fork(double, { name })));
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 201));
  expect(new Set(answers.map(({ body }) => body.world.history_id)).size).toBe(names.length);
  const origin = await worldOf(double);
  for (const name of names) expect(await worldOf(kept.world(name))).toBe(origin);
});

test.each(SHELVES)("%s: a fork that is asked for during a long advance is the world after it", async (kind) => {
  const double = (await createKept(kind)).double();
  await createBusyLife(double);
  const [advanced, asked] = await Promise.all([double.world.advance({ by: 60 * DAY }), fork(double, { name: "copy" })]);
  expect(advanced?.now).toBe(Date.parse("2026-03-02T00:00:10Z"));
  expect(asked.status).toBe(201);
  const copy = inWorld(double, "copy");
  expect(await worldOf(copy)).toBe(await worldOf(double));
  expect((await clockOf(copy)).now).toBe("2026-03-02T00:00:10.000Z");
});

test.each(SHELVES)("%s: a fork into the past during a long advance is what it was in the past", async (kind) => {
  const double = (await createKept(kind)).double();
  await createBusyLife(double);
  const before = await worldOf(double);
  const [, asked] = await Promise.all([double.world.advance({ by: 60 * DAY }), fork(double, { name: "copy", at: "2026-01-01T00:00:10Z" })]);
  expect(asked.status).toBe(201);
  expect(await worldOf(inWorld(double, "copy"))).toBe(before);
});

test.each(SHELVES)("%s: a world that is deleted during a long advance of it ends that, and no other world notices", async (kind) => {
  const double = (await createKept(kind)).double();
  await createBusyLife(double);
  const copy = await forked(double, { name: "copy" });
  const [advanced, deleted, elsewhere] = await Promise.all([
    copy.advance("60d"),
    double.sim("DELETE", "/worlds/copy"),
    double.advance("60d"),
  ]);
  expect(deleted.status).toBe(200);
  expect([404, 503]).toContain(advanced.status);
  expect(elsewhere.status).toBe(200);
  expect(await worldNames(double)).toEqual(["default"]);
});

test.each(SHELVES)("%s: a fork of a world that is deleted meanwhile is there as a whole, or not at all", async (kind) => {
  const kept = await createKept(kind);
  const double = kept.double();
  await createProject(double);
  const origin = await worldOf(double);
  for (const at of [undefined, "2026-01-01T00:00:10Z"]) {
    await forked(double, { name: "parent" });
    const [child] = await Promise.all([fork(double, { name: "child", from: "parent", at }), double.sim("DELETE", "/worlds/parent")]);
    expect([201, 404, 503]).toContain(child.status);
    expect(await worldNames(double)).toEqual(child.status === 201 ? ["child", "default"] : ["default"]);
    if (child.status !== 201) continue;
    expect(await worldOf(kept.world("child"))).toBe(origin);
    await double.sim("DELETE", "/worlds/child");
  }
});
