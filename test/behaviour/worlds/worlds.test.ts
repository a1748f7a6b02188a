import { existsSync, readdirSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { createAccount, recordActivity, worldState } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import {
  clockOf,
  createTestDouble,
  forkWorld,
  requestFork,
  stateAt,
  worldNames,
} from "../../support/double/history-requests.ts";
import { doubleOfWorld, STORAGE_KINDS } from "../../support/double/storage-double.ts";

test.each(STORAGE_KINDS)(
  "%s: a fork equals the current world, with its own name and history id",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    const { history } = (await double.sim("GET", "/health")).body;
    const { status, body } = await requestFork(double, { name: "pull-request-7" });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        world: {
          name: "pull-request-7",
          api_url: "http://localhost/w/pull-request-7/api/v2",
          control_url: "http://localhost/w/pull-request-7/_sim",
          open: expect.any(Boolean),
          now: "2026-01-01T00:00:10.000Z",
          seq: history.seq,
          history_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          size_bytes: expect.any(Number),
          from: "default",
        },
      },
    });
    expect(body.world.history_id).not.toBe(history.id);
    expect(await worldState(kept.world("pull-request-7"))).toBe(await worldState(double));
    expect((await kept.world("pull-request-7").sim("GET", "/health")).body).toMatchObject({
      world: "pull-request-7",
      history: { id: body.world.history_id, seq: history.seq, forgotten_seq: 0 },
    });
  },
);

test.each(STORAGE_KINDS)("%s: a fork and its origin are independent", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  const { projectId } = await createProject(double);
  const copy = await forkWorld(double, { name: "copy" });
  const origin = await worldState(double);
  await createProject(copy, { name: "only in the copy" });
  await copy.api("DELETE", `/projects/${projectId}`);
  await copy.advance("3h");
  expect(await worldState(double)).toBe(origin);
  const copied = await worldState(copy);
  await double.api("PATCH", `/projects/${projectId}`, { project: { name: "only in the origin" } });
  await double.advance("1h");
  expect(await worldState(copy)).toBe(copied);
  expect((await copy.api("GET", "/projects")).body.projects).toMatchObject([{ name: "only in the copy" }]);
  for (const { ok, differences } of await kept.verify("default", "copy"))
    expect({ ok, differences }).toEqual({ ok: true, differences: [] });
});

test.each(STORAGE_KINDS)(
  "%s: unfinished operations of the origin end the same way in a fork",
  async (kind) => {
    const kept = await createTestDouble(kind, {
      startDelay: { kind: "uniform", minMs: 1_000, maxMs: 9_000 },
    });
    const double = kept.double();
    const { endpointId, path } = await createProject(double);
    await recordActivity(double, endpointId, { kind: "transaction", connection_id: "job" });
    await recordActivity(double, endpointId, { at: "2026-01-01T00:20:00Z", duration_ms: 90_000 });
    await recordActivity(double, endpointId, { at: "2026-01-01T02:00:00Z" });
    await double.api("POST", `${path}/restart`);
    const copy = await forkWorld(double, { name: "copy" });
    for (const by of ["2s", "10m", "3h"]) {
      await double.advance(by);
      await copy.advance(by);
      expect(await worldState(copy)).toBe(await worldState(double));
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: a fork at an instant is the world as it was then, with its clock at that instant",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    await double.advance("1h");
    for (const [name, at, stands] of [
      ["at-an-event", "2026-01-01T00:00:04Z", "2026-01-01T00:00:04.000Z"],
      ["just-before", "2026-01-01T00:00:03.999Z", "2026-01-01T00:00:03.999Z"],
      ["between", "2026-01-01T00:03:00.5Z", "2026-01-01T00:03:00.500Z"],
      ["elsewhere", "2026-01-01T02:00:05+02:00", "2026-01-01T00:00:05.000Z"],
      ["now", "2026-01-01T01:00:10Z", "2026-01-01T01:00:10.000Z"],
    ] as const) {
      const copy = await forkWorld(double, { name, at });
      expect(await clockOf(copy)).toMatchObject({ now: stands, mode: "manual" });
      expect(await worldState(copy)).toBe(await stateAt(double, stands));
    }
    // It continues from there like the origin did.
    const copy = doubleOfWorld(double, "between");
    await copy.sim("POST", "/clock/advance", { to: "2026-01-01T01:00:10Z" });
    expect(await worldState(copy)).toBe(await worldState(double));
  },
);

test.each(STORAGE_KINDS)("%s: a fork at an event is the world after the whole decision", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  await createProject(double);
  const { events } = (await double.sim("GET", "/events")).body;
  const created = events.find(({ type }) => type === "BranchCreated");
  const last = events.findLast(({ decision }) => decision === created.decision);
  expect(last.seq).toBeGreaterThan(created.seq);
  for (const [name, at] of [
    ["as-a-number", created.seq],
    ["as-text", String(created.seq)],
    ["its-end", last.seq],
  ] as const) {
    const { body } = await requestFork(double, { name, at });
    expect(body.world).toMatchObject({ seq: last.seq, now: last.at });
    expect(await worldState(doubleOfWorld(double, name))).toBe(await stateAt(double, last.seq));
  }
  const { body } = await requestFork(double, { name: "the-next", at: last.seq + 1 });
  expect(body.world.seq).toBeGreaterThan(last.seq);
});

test.each(STORAGE_KINDS)(
  "%s: a fork defaults to the addressed world, unless it names another one",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const first = await forkWorld(double, { name: "first" });
    await createProject(first, { name: "of the first" });
    const { body } = await requestFork(first, { name: "second" });
    expect(body.world).toMatchObject({
      name: "second",
      from: "first",
      api_url: "http://localhost/w/second/api/v2",
    });
    expect(await worldState(doubleOfWorld(double, "second"))).toBe(await worldState(first));
    expect((await requestFork(double, { name: "third", from: "first" })).body.world.from).toBe("first");
    expect(await worldState(doubleOfWorld(double, "third"))).toBe(await worldState(first));
    expect((await requestFork(first, { name: "fourth", from: "default" })).body.world.from).toBe("default");
    expect(await worldState(doubleOfWorld(double, "fourth"))).toBe(await worldState(double));
  },
);

test.each(STORAGE_KINDS)("%s: a fork of a fork can go back to before the first fork", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  const first = await forkWorld(double, { name: "first" });
  await first.advance("1h");
  const second = await forkWorld(double, { name: "second", at: "2026-01-01T00:00:02Z" }, first);
  expect(await worldState(second)).toBe(await stateAt(double, "2026-01-01T00:00:02Z"));
});

test.each([
  ["manual", { mode: "manual", factor: 0 }],
  ["real", { mode: "real", factor: 1 }],
  ["60x", { mode: "scaled", factor: 60 }],
] as const)("a fork inherits the mode of a %s clock", async (_, clock) => {
  const double = (await createTestDouble("in files", { clock })).double();
  const copy = await forkWorld(double, { name: "copy" });
  expect(await clockOf(copy)).toMatchObject(clock);
  expect(await clockOf(double)).toMatchObject(clock);
});

test.each([
  ["manual", { mode: "manual", factor: 0 }],
  ["real", { mode: "real", factor: 1 }],
  ["60x", { mode: "scaled", factor: 60 }],
  ["0.5x", { mode: "scaled", factor: 0.5 }],
  [{ mode: "manual" }, { mode: "manual", factor: 0 }],
  [{ mode: "real" }, { mode: "real", factor: 1 }],
  [
    { mode: "scaled", factor: 3600 },
    { mode: "scaled", factor: 3600 },
  ],
])(
  "a fork with clock %j uses it from the fork point, and the clock of its origin does not change",
  async (clock, expected) => {
    for (const kind of STORAGE_KINDS) {
      const double = (await createTestDouble(kind)).double();
      await createProject(double);
      await double.advance("1h");
      const copy = await forkWorld(double, { name: "copy", at: "2026-01-01T00:00:10Z", clock });
      const before = await clockOf(copy);
      expect(before).toMatchObject(expected);
      expect(before.now >= "2026-01-01T00:00:10.000Z").toBe(true);
      if (expected.mode === "manual") expect(before.now).toBe("2026-01-01T00:00:10.000Z");
      else await vi.waitUntil(async () => (await clockOf(copy)).now > before.now, { timeout: 60_000 });
      expect(await clockOf(double)).toMatchObject({ now: "2026-01-01T01:00:10.000Z", mode: "manual" });
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: forks draw what their origin would draw; with another seed, something else from then on",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const same = await forkWorld(double, { name: "same" });
    const given = await forkWorld(double, { name: "given", seed: 1 });
    const others = [
      await forkWorld(double, { name: "one", seed: 8 }),
      await forkWorld(double, { name: "other", seed: 8 }),
    ];
    expect((await others[0]?.sim("GET", "/state"))?.body.world.seed).toBe(8);
    expect((await same.sim("GET", "/state")).body.world.seed).toBe(1);
    const { history } = (await double.sim("GET", "/health")).body;
    const drawn: string[] = [];
    for (const world of [double, same, given, ...others])
      drawn.push((await createProject(world, { name: "next" })).projectId);
    const [origin, ...ids] = drawn;
    expect(ids.slice(0, 2)).toEqual([origin, origin]);
    expect(ids[2]).not.toBe(origin);
    expect(ids[3]).toBe(ids[2]);
    // Earlier draws stay.
    expect(await stateAt(others[0] as Double, history.seq)).toBe(await stateAt(double, history.seq));
  },
);

test.each(STORAGE_KINDS)(
  "%s: a fork has its origin's keys and passwords; later changes are independent",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { projectId, branchId } = await createProject(double);
    const { body: spare } = await double.api("POST", "/api_keys", { key_name: "spare" });
    const copy = await forkWorld(double, { name: "copy" });
    const password = (world: Double) =>
      world
        .api("GET", `/projects/${projectId}/branches/${branchId}/roles/neondb_owner/reveal_password`)
        .then(({ body }) => body.password);
    expect(await password(copy)).toBe(await password(double));
    const statusWith = async (world: Double, key: string) =>
      (await world.api("GET", "/projects", undefined, key)).status;
    expect(await statusWith(copy, spare.key)).toBe(200);
    await copy.api("DELETE", `/api_keys/${spare.id}`);
    const { body: own } = await copy.api("POST", "/api_keys", { key_name: "own" });
    expect([await statusWith(copy, spare.key), await statusWith(double, spare.key)]).toEqual([401, 200]);
    expect([await statusWith(copy, own.key), await statusWith(double, own.key)]).toEqual([200, 401]);
    const { key } = await createAccount(copy);
    expect([await statusWith(copy, key), await statusWith(double, key)]).toEqual([200, 401]);
  },
);

test.each(STORAGE_KINDS)("%s: a fork starts without snapshots and has its own", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await double.sim("POST", "/snapshots", { name: "of-the-origin" });
  const copy = await forkWorld(double, { name: "copy" });
  expect((await copy.sim("GET", "/snapshots")).body.snapshots).toEqual([]);
  expect((await copy.sim("POST", "/snapshots", { name: "of-the-origin" })).status).toBe(201);
  expect((await copy.sim("POST", "/snapshots", { name: "of-the-copy" })).status).toBe(201);
  const names = async (world: Double) =>
    (await world.sim("GET", "/snapshots")).body.snapshots.map(({ name }) => name);
  expect(await names(double)).toEqual(["of-the-origin"]);
  expect((await names(copy)).sort()).toEqual(["of-the-copy", "of-the-origin"]);
  expect((await double.sim("POST", "/snapshots/of-the-copy/restore")).status).toBe(404);
});

test.each(STORAGE_KINDS)("%s: resetting a fork does not affect its origin", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  const copy = await forkWorld(double, { name: "copy" });
  const before = await worldState(double);
  expect((await copy.sim("POST", "/reset")).status).toBe(200);
  expect((await copy.api("GET", "/projects")).body.projects).toEqual([]);
  expect(await worldState(double)).toBe(before);
});

test.each(STORAGE_KINDS)("%s: every world lists all worlds by name, with the same data", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  for (const name of ["b", "a-1", "0"]) await forkWorld(double, { name });
  await doubleOfWorld(double, "b").advance("1h");
  const { worlds } = (await double.sim("GET", "/worlds")).body;
  expect(worlds.map(({ name, api_url, now, open }) => ({ name, api_url, now, open }))).toEqual([
    { name: "0", api_url: "http://localhost/w/0/api/v2", now: "2026-01-01T00:00:10.000Z", open: false },
    { name: "a-1", api_url: "http://localhost/w/a-1/api/v2", now: "2026-01-01T00:00:10.000Z", open: false },
    { name: "b", api_url: "http://localhost/w/b/api/v2", now: "2026-01-01T01:00:10.000Z", open: true },
    { name: "default", api_url: "http://localhost/api/v2", now: "2026-01-01T00:00:10.000Z", open: true },
  ]);
  expect((await doubleOfWorld(double, "b").sim("GET", "/worlds")).body.worlds).toEqual(worlds);
  for (const world of worlds) {
    const { history } = (
      await (world.name === "default" ? double : doubleOfWorld(double, world.name)).sim("GET", "/health")
    ).body;
    expect(world).toMatchObject({ seq: history.seq, history_id: history.id });
    // The call above has opened it.
    expect((await double.sim("GET", `/worlds/${world.name}`)).body).toEqual({
      world: { ...world, open: true },
    });
  }
});

test.each(STORAGE_KINDS)(
  "%s: deleting a world deletes its snapshots, frees its name, and does not affect others",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    const copy = await forkWorld(double, { name: "copy" });
    await createProject(copy);
    await copy.sim("POST", "/snapshots", { name: "kept" });
    const grandchild = await forkWorld(double, { name: "grandchild" }, copy);
    const [origin, child] = [await worldState(double), await worldState(grandchild)];
    expect(await double.sim("DELETE", "/worlds/copy")).toMatchObject({
      status: 200,
      body: { name: "copy", deleted: true },
    });
    expect(await worldNames(double)).toEqual(["default", "grandchild"]);
    if (kind === "in files") {
      expect(readdirSync(`${kept.directory}/worlds`).filter((file) => file.startsWith("copy"))).toEqual([]);
      expect(existsSync(`${kept.directory}/snapshots/copy`)).toBe(false);
    }
    expect([await worldState(double), await worldState(grandchild)]).toEqual([origin, child]);
    const again = await forkWorld(double, { name: "copy" });
    expect(await worldState(again)).toBe(origin);
    expect((await again.sim("GET", "/snapshots")).body.snapshots).toEqual([]);
    expect((await again.sim("DELETE", "/worlds/copy")).status).toBe(200);
    expect(await worldNames(double)).toEqual(["default", "grandchild"]);
  },
);

test.each(STORAGE_KINDS)(
  "%s: worlds survive a restart, with their clocks, and are opened on first use",
  async (kind) => {
    const kept = await createTestDouble(kind);
    await createProject(kept.double());
    for (const [name, clock] of [
      ["on-manual", "manual"],
      ["on-real", "real"],
      ["on-scaled", "3600x"],
    ]) {
      await forkWorld(kept.double(), { name: name ?? "", clock });
    }
    await kept.world("on-manual").advance("1h");
    const manual = await worldState(kept.world("on-manual"));
    const real = await clockOf(kept.world("on-real"));
    const scaled = await clockOf(kept.world("on-scaled"));
    await kept.reopen();
    const { worlds } = (await kept.double().sim("GET", "/worlds")).body;
    expect(worlds.map(({ name, open }) => [name, open])).toEqual([
      ["default", true],
      ["on-manual", false],
      ["on-real", false],
      ["on-scaled", false],
    ]);
    // A world that has not been used yet is where it was left.
    expect(worlds[1]).toMatchObject({
      api_url: "http://localhost/w/on-manual/api/v2",
      now: "2026-01-01T01:00:10.000Z",
    });
    expect(await worldState(kept.world("on-manual"))).toBe(manual);
    expect(await clockOf(kept.world("on-manual"))).toMatchObject({
      now: "2026-01-01T01:00:10.000Z",
      mode: "manual",
      factor: 0,
    });
    const later = await clockOf(kept.world("on-real"));
    expect(later).toMatchObject({ mode: "real", factor: 1 });
    expect(later.now >= real.now).toBe(true);
    expect(await clockOf(kept.world("on-scaled"))).toMatchObject({ mode: "scaled", factor: 3600 });
    expect((await clockOf(kept.world("on-scaled"))).now >= scaled.now).toBe(true);
    expect((await kept.double().sim("GET", "/worlds/on-manual")).body.world).toMatchObject({
      open: true,
      now: "2026-01-01T01:00:10.000Z",
    });
  },
);
