import { readdirSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { DAY } from "../../../src/kernel/time.ts";
import { recordActivity, worldState } from "../../support/double/compute.ts";
import { createProject, type Double } from "../../support/double/double.ts";
import {
  clockOf,
  createBusyWorld,
  createTestDouble,
  forkWorld,
  fullState,
} from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";

const keep = ({ sim }: Pick<Double, "sim">, name: unknown) => sim("POST", "/snapshots", { name });
const restore = ({ sim }: Pick<Double, "sim">, name: string) => sim("POST", `/snapshots/${name}/restore`);
const listOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/snapshots")).body.snapshots;
const historyOf = async ({ sim }: Pick<Double, "sim">) => (await sim("GET", "/health")).body.history;
const eventsOf = async ({ sim }: Pick<Double, "sim">) =>
  (await sim("GET", "/events?limit=10000")).body.events;

test.each(STORAGE_KINDS)(
  "%s: a snapshot has its name, wall-clock and world instants, event and history",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const { id, seq } = await historyOf(double);
    const before = Date.now();
    const { status, body } = await keep(double, "before-migration");
    const snapshot = {
      name: "before-migration",
      kind: "manual",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      now: "2026-01-01T00:00:10.000Z",
      seq,
      history_id: id,
      size_bytes: kind === "in files" ? expect.any(Number) : 0,
    };
    expect({ status, body }).toEqual({ status: 201, body: { snapshot } });
    // The file system may store times with less than millisecond precision.
    expect(Date.parse(body.snapshot.created_at)).toBeGreaterThan(before - 5_000);
    expect(await listOf(double)).toEqual([body.snapshot]);
    expect((await double.sim("GET", "/snapshots/before-migration")).body).toEqual(body);
  },
);

test.each(STORAGE_KINDS)("%s: taking a snapshot does not change the world", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createProject(double);
  const [state, history] = [await worldState(double), await historyOf(double)];
  await keep(double, "kept");
  expect([await worldState(double), await historyOf(double)]).toEqual([state, history]);
});

test.each(STORAGE_KINDS)(
  "%s: a restore resets the world, clock and journal to the snapshot, with a new history id",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    const { projectId, path } = await createProject(double);
    await keep(double, "kept");
    const [state, history, events] = [
      await worldState(double),
      await historyOf(double),
      await eventsOf(double),
    ];
    await double.api("DELETE", `/projects/${projectId}`);
    await createProject(double);
    await double.advance("3d");
    const { status, body } = await restore(double, "kept");
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        restored: "kept",
        former_kept_as: expect.stringMatching(/^auto-before-restore-\d{8}t\d{6}z$/),
        now: "2026-01-01T00:00:10.000Z",
        seq: history.seq,
        history_id: expect.any(String),
      },
    });
    expect(body.history_id).not.toBe(history.id);
    expect(await historyOf(double)).toEqual({ ...history, id: body.history_id });
    expect(await worldState(double)).toBe(state);
    expect(await eventsOf(double)).toEqual(events);
    expect(await clockOf(double)).toMatchObject({
      now: "2026-01-01T00:00:10.000Z",
      mode: "manual",
      next_due: "2026-01-01T00:05:04.000Z",
    });
    const read = await double.api("GET", path);
    expect([read.status, read.headers.get("date")]).toEqual([200, "Thu, 01 Jan 2026 00:00:10 GMT"]);
    for (const { ok } of await kept.verify("default")) expect(ok).toBe(true);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a restored world continues as it would have from the snapshot",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { endpointId, path } = await createProject(double);
    await recordActivity(double, endpointId, { at: "2026-01-01T00:30:00Z", duration_ms: 60_000 });
    await double.api("POST", `${path}/restart`);
    await keep(double, "kept");
    const live = async () => {
      await double.advance("2s");
      await createProject(double);
      await double.advance("2h");
      return worldState(double);
    };
    const lived = await live();
    await restore(double, "kept");
    expect(await live()).toBe(lived);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a restore stores the state before it as a snapshot, which can be restored too",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "empty");
    await createProject(double);
    await double.advance("1h");
    const [state, { id, seq }, { now }] = [
      await worldState(double),
      await historyOf(double),
      await clockOf(double),
    ];
    const { former_kept_as } = (await restore(double, "empty")).body;
    const { body } = await double.sim("GET", `/snapshots/${former_kept_as}`);
    expect(body.snapshot).toMatchObject({
      name: former_kept_as,
      kind: "automatic",
      now,
      seq,
      history_id: id,
    });
    expect((await restore(double, former_kept_as)).status).toBe(200);
    expect(await worldState(double)).toBe(state);
    expect((await clockOf(double)).now).toBe(now);
  },
);

test.each(STORAGE_KINDS)(
  "%s: many restores within a second store each previous world under its own name",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "start");
    const formers = new Map<string, string>();
    for (let round = 0; round < 4; round += 1) {
      for (let project = 0; project <= round; project += 1) await createProject(double);
      const state = await worldState(double);
      formers.set((await restore(double, "start")).body.former_kept_as, state);
    }
    expect(formers.size).toBe(4);
    for (const [name, state] of formers) {
      await restore(double, name);
      expect(await worldState(double)).toBe(state);
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: two concurrent restores run one after the other, and each stores the previous world",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "one");
    await createProject(double);
    await keep(double, "other");
    await createProject(double);
    const precious = await historyOf(double);
    const seqs = new Map((await listOf(double)).map(({ name, seq }) => [name, seq]));
    const responses = await Promise.all([restore(double, "one"), restore(double, "other")]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    const formers: string[] = responses.map(({ body }) => body.former_kept_as);
    expect(new Set(formers).size).toBe(2);
    const list = await listOf(double);
    expect(list.filter(({ name }) => formers.includes(name)).map(({ seq }) => seq)).toContain(precious.seq);
    // The order of the two is not determined.
    expect([seqs.get("one"), seqs.get("other")]).toContain((await historyOf(double)).seq);
    await restore(
      double,
      list.find(({ seq, kind: its }) => its === "automatic" && seq === precious.seq).name,
    );
    expect((await double.api("GET", "/projects")).body.projects).toHaveLength(2);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a restore brings back the passwords and keys of the snapshot, also revoked ones",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    const { projectId, branchId } = await createProject(double);
    const path = `/projects/${projectId}/branches/${branchId}/roles/neondb_owner/reveal_password`;
    const { password } = (await double.api("GET", path)).body;
    const { body: spare } = await double.api("POST", "/api_keys", { key_name: "spare" });
    await keep(double, "kept");
    await double.api("DELETE", `/api_keys/${spare.id}`);
    const { body: later } = await double.api("POST", "/api_keys", { key_name: "later" });
    await double.api("DELETE", `/projects/${projectId}`);
    await restore(double, "kept");
    expect((await double.api("GET", path)).body.password).toBe(password);
    const statusWith = async (key: string) => (await double.api("GET", "/projects", undefined, key)).status;
    expect([await statusWith(spare.key), await statusWith(later.key)]).toEqual([200, 401]);
  },
);

test.each([
  ["auto-mine", /^name: must not begin with auto- or backup-/],
  ["auto-before-restore-20260101t000000z", /^name: must not begin with auto- or backup-/],
  ["backup-mine", /^name: must not begin with auto- or backup-/],
  ["before migration", /^name: must be 1 to 63 of/],
  ["", /^name: must be 1 to 63 of/],
  ["a".repeat(64), /^name: must be 1 to 63 of/],
  ["Before", /^name: must be 1 to 63 of/],
  [".hidden", /^name: must be 1 to 63 of/],
  ["-dash", /^name: must be 1 to 63 of/],
  ["..", /^name: must be 1 to 63 of/],
  ["../up", /^name: must be 1 to 63 of/],
  ["a/b", /^name: must be 1 to 63 of/],
  ["a\n", /^name: must be 1 to 63 of/],
  [7, /^name: /],
  [null, /^name: /],
  [undefined, /^name: /],
] as const)("a snapshot name %j gets 400, and no snapshot is taken", async (name, message) => {
  for (const kind of STORAGE_KINDS) {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    const before = await fullState(double);
    const { status, body } = await keep(double, name);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.message).toMatch(message);
    expect(await fullState(double)).toEqual(before);
  }
});

test.each(["a", "7", "before.migration_2-b", "a".repeat(63), "auto", "backup"])(
  "%s is a good name for a snapshot",
  async (name) => {
    for (const kind of STORAGE_KINDS) {
      const double = (await createTestDouble(kind)).double();
      expect((await keep(double, name)).status).toBe(201);
      await createProject(double);
      expect((await restore(double, name)).status).toBe(200);
      expect((await double.api("GET", "/projects")).body.projects).toEqual([]);
      expect((await double.sim("DELETE", `/snapshots/${name}`)).body).toEqual({ name, deleted: true });
    }
  },
);

test.each(STORAGE_KINDS)(
  "%s: a name in use gets 409, and the first snapshot stays unchanged",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "kept");
    const kept = await listOf(double);
    await createProject(double);
    const { status, body } = await keep(double, "kept");
    expect([status, body.code]).toEqual([409, "SNAPSHOT_EXISTS"]);
    expect(body.message).toBe('name: world "default" already has a snapshot "kept"');
    expect(await listOf(double)).toEqual(kept);
  },
);

test.each(STORAGE_KINDS)("%s: of two concurrent snapshots with one name, one succeeds", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  const responses = await Promise.all([keep(double, "kept"), keep(double, "kept")]);
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(await listOf(double)).toHaveLength(1);
});

test.each([
  ["GET", "/snapshots/missing"],
  ["POST", "/snapshots/missing/restore"],
  ["DELETE", "/snapshots/missing"],
  ["POST", "/snapshots/..%2Fdefault%2Fkept/restore"],
  ["DELETE", "/snapshots/..%2F..%2Fworlds%2Fdefault"],
] as const)("%s %s is 404 and changes nothing", async (method, path) => {
  for (const kind of STORAGE_KINDS) {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "kept");
    const before = await fullState(double);
    const { status, body } = await double.sim(method, path);
    expect([status, body.code]).toEqual([404, "SNAPSHOT_NOT_FOUND"]);
    expect(body.message).toContain('of world "default"');
    expect(await fullState(double)).toEqual(before);
  }
});

test("a restore rejects options", async () => {
  const double = (await createTestDouble("in memory")).double();
  await keep(double, "kept");
  const { status, body } = await double.sim("POST", "/snapshots/kept/restore", { force: true });
  expect([status, body.message]).toEqual([400, expect.stringContaining("force")]);
  expect((await double.sim("POST", "/snapshots/kept/restore", {})).status).toBe(200);
});

test.each(STORAGE_KINDS)("%s: the name of a deleted snapshot is free", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  await keep(double, "kept");
  await keep(double, "other");
  expect((await double.sim("DELETE", "/snapshots/kept")).body).toEqual({ name: "kept", deleted: true });
  expect((await listOf(double)).map(({ name }) => name)).toEqual(["other"]);
  expect((await double.sim("DELETE", "/snapshots/kept")).status).toBe(404);
  if (kind === "in files")
    expect(readdirSync(`${kept.directory}/snapshots/default`)).toEqual(["other.sqlite"]);
  await createProject(double);
  expect((await keep(double, "kept")).status).toBe(201);
  expect((await restore(double, "kept")).body.seq).toBe((await historyOf(double)).seq);
  expect((await double.api("GET", "/projects")).body.projects).toHaveLength(1);
});

test.each(STORAGE_KINDS)("%s: snapshots are listed oldest first", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  for (const name of ["c", "a", "b"]) {
    await keep(double, name);
    const { created_at } = (await double.sim("GET", `/snapshots/${name}`)).body.snapshot;
    // The next snapshot must have a later wall-clock time.
    await vi.waitUntil(() => Date.now() > Date.parse(created_at) + 10);
  }
  expect((await listOf(double)).map(({ name }) => name)).toEqual(["c", "a", "b"]);
});

test.each(STORAGE_KINDS)(
  "%s: the snapshot of the previous world has the instant of the restore",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await createProject(double);
    const { created_at } = (await keep(double, "kept")).body.snapshot;
    await vi.waitUntil(() => Date.now() > Date.parse(created_at) + 50);
    const { former_kept_as } = (await restore(double, "kept")).body;
    expect((await listOf(double)).map(({ name }) => name)).toEqual(["kept", former_kept_as]);
  },
);

test.each(STORAGE_KINDS)(
  "%s: snapshots survive a restart of the server and can be restored",
  async (kind) => {
    const kept = await createTestDouble(kind);
    await createProject(kept.double());
    await keep(kept.double(), "kept");
    const [list, state] = [await listOf(kept.double()), await worldState(kept.double())];
    await kept.double().advance("1h");
    await kept.reopen();
    expect(await listOf(kept.double())).toEqual(list);
    await restore(kept.double(), "kept");
    expect(await worldState(kept.double())).toBe(state);
  },
);

test.each(STORAGE_KINDS)(
  "%s: a restored world stays restored after a restart of the server",
  async (kind) => {
    const kept = await createTestDouble(kind);
    await createProject(kept.double());
    await keep(kept.double(), "kept");
    const state = await worldState(kept.double());
    await kept.double().advance("1h");
    const { history_id, now } = (await restore(kept.double(), "kept")).body;
    await kept.reopen();
    expect(await worldState(kept.double())).toBe(state);
    expect((await historyOf(kept.double())).id).toBe(history_id);
    expect((await clockOf(kept.double())).now).toBe(now);
  },
);

test.each(STORAGE_KINDS)("%s: a snapshot belongs to one world and restores only that world", async (kind) => {
  const kept = await createTestDouble(kind);
  const double = kept.double();
  const copy = await forkWorld(double, { name: "copy" });
  await createProject(copy);
  await keep(copy, "kept");
  await copy.advance("1h");
  const before = await fullState(double);
  expect((await restore(copy, "kept")).body).toMatchObject({
    restored: "kept",
    now: "2026-01-01T00:00:10.000Z",
  });
  expect((await fullState(double)) as unknown[]).toMatchObject([{}, ...(before as unknown[]).slice(1)]);
  expect((await restore(double, "kept")).status).toBe(404);
});

test.each(STORAGE_KINDS)("%s: a restore requested during a long advance runs after it", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await createBusyWorld(double);
  await keep(double, "kept");
  const state = await worldState(double);
  const [advanced, restored] = await Promise.all([
    double.world.advance({ by: 60 * DAY }),
    restore(double, "kept"),
  ]);
  expect(advanced?.now).toBe(Date.parse("2026-03-02T00:00:10Z"));
  expect(restored.status).toBe(200);
  expect(await worldState(double)).toBe(state);
  await restore(double, restored.body.former_kept_as);
  expect((await clockOf(double)).now).toBe("2026-03-02T00:00:10.000Z");
});

test.each(STORAGE_KINDS)(
  "%s: requests during a restore are answered in the old or the new history",
  async (kind) => {
    const double = (await createTestDouble(kind)).double();
    await keep(double, "kept");
    await createProject(double);
    const precious = await historyOf(double);
    const reads = () => Array.from({ length: 20 }, () => double.api("GET", "/projects"));
    const writes = () =>
      Array.from({ length: 5 }, (_, index) =>
        double.api("POST", "/projects", { project: { name: `p${index}` } }),
      );
    const [restored, ...responses] = await Promise.all([
      restore(double, "kept"),
      ...reads(),
      ...writes(),
      ...reads(),
    ]);
    expect(restored?.status).toBe(200);
    expect(responses.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]);
    // Everything answered with 201 is in the restored world or in the snapshot of the previous one.
    const written = responses.flatMap(({ status, body }) =>
      status === 201 && "project" in body ? [body.project.name] : [],
    );
    const projects = async () =>
      (await double.api("GET", "/projects?limit=100")).body.projects.map(({ name }) => name);
    const after = await projects();
    await restore(double, restored?.body.former_kept_as);
    const before = await projects();
    expect((await historyOf(double)).seq).toBeGreaterThanOrEqual(precious.seq);
    for (const name of written) expect([...after, ...before]).toContain(name);
  },
);

test("a restore does not affect requests to another world", async () => {
  const double = (await createTestDouble("in files")).double();
  const copy = await forkWorld(double, { name: "copy" });
  await keep(double, "kept");
  const [restored, ...responses] = await Promise.all([
    restore(double, "kept"),
    ...Array.from({ length: 10 }, () => copy.api("GET", "/projects")),
    ...Array.from({ length: 10 }, () => copy.sim("GET", "/health")),
  ]);
  expect(restored?.status).toBe(200);
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
});

test.each(["real", "60x"] as const)(
  "on a %s clock, a restored world continues from the instant of its snapshot",
  async (mode) => {
    const clock = mode === "real" ? { mode, factor: 1 } : ({ mode: "scaled", factor: 60 } as const);
    for (const kind of STORAGE_KINDS) {
      const double = (await createTestDouble(kind, { clock })).double();
      await keep(double, "kept");
      const { now: taken } = (await double.sim("GET", "/snapshots/kept")).body.snapshot;
      await double.advance("10d");
      const { now } = (await restore(double, "kept")).body;
      expect(now >= taken).toBe(true);
      expect(Date.parse(now)).toBeLessThan(Date.parse(taken) + 5 * DAY);
      expect(await clockOf(double)).toMatchObject(clock);
      await vi.waitUntil(async () => (await clockOf(double)).now > now, { timeout: 60_000 });
    }
  },
);

test.each(STORAGE_KINDS)("%s: a restore brings back the clock mode of the snapshot", async (kind) => {
  const double = (await createTestDouble(kind)).double();
  await keep(double, "on-manual");
  await double.sim("PUT", "/clock", { mode: "scaled", factor: 60 });
  await restore(double, "on-manual");
  expect(await clockOf(double)).toMatchObject({ mode: "manual", now: "2026-01-01T00:00:00.000Z" });
});

test("requests of the previous history do not count against the rate limit of the restored world", async () => {
  const double = (await createTestDouble("in memory", { rateLimit: true })).double();
  await keep(double, "kept");
  await double.advance("1h");
  await double.api("GET", "/projects");
  await restore(double, "kept");
  const statuses: number[] = [];
  for (let request = 0; request < 60; request += 1) {
    statuses.push((await double.api("GET", "/projects")).status);
    await double.advance("1s");
  }
  expect(statuses).toEqual(statuses.map(() => 200));
});

test.each(STORAGE_KINDS)(
  "%s: a snapshot of a world with truncated history restores the rest",
  async (kind) => {
    const kept = await createTestDouble(kind);
    const double = kept.double();
    await createProject(double);
    await double.advance("1h");
    await double.sim("POST", "/compact", { keep: "0s" });
    await createProject(double);
    await keep(double, "kept");
    const [state, history] = [await worldState(double), await historyOf(double)];
    expect(history.forgotten_seq).toBeGreaterThan(0);
    await double.advance("1h");
    await restore(double, "kept");
    expect(await worldState(double)).toBe(state);
    expect(await historyOf(double)).toMatchObject({ seq: history.seq, forgotten_seq: history.forgotten_seq });
    for (const { ok } of await kept.verify("default")) expect(ok).toBe(true);
  },
);
