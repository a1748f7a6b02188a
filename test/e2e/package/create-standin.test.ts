import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createApiClient } from "@neondatabase/api-client";
import { createStandin, type Standin, StandinError, type StandinOptions } from "@standin/standin";
import { afterEach, expect, test } from "vitest";
import { verifyWorld } from "../../../src/cli/history/world-history.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const open: Standin[] = [];
afterEach(async () => {
  for (const sim of open.splice(0)) await sim.close();
});

async function create(options: StandinOptions = {}): Promise<Standin> {
  const sim = await createStandin(options);
  open.push(sim);
  return sim;
}

/** A project with an idle compute. */
async function createProject(sim: Standin): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const response = await sim.fetch("/api/v2/projects", {
    method: "POST",
    headers,
    body: JSON.stringify({ project: { name: "shop" } }),
  });
  expect(response.status).toBe(201);
  const { endpoints } = (await response.json()) as { endpoints: [{ id: string }] };
  await sim.advance("10m");
  return endpoints[0].id;
}

const text = async (sim: Standin) => JSON.stringify(await sim.state());

test("a public client can use it over its port", async () => {
  const sim = await create();
  const client = createApiClient({ apiKey: sim.apiKey, baseURL: sim.url });
  const { data } = await client.createProject({ project: { name: "shop" } });
  expect((await client.getProject(data.project.id)).data.project.name).toBe("shop");
});

test.each([0, false] as const)(
  "with port %j, a test controls time and activity and reads the journal",
  async (port) => {
    const sim = await create({ port });
    const endpointId = await createProject(sim);
    const served = await sim.activity({ endpoint_id: endpointId, duration_ms: 250, source: "checkout" });
    expect(served).toMatchObject({ outcome: "waits", woke: true });
    const { now, events } = await sim.advance({ next: true });
    expect(events.map(({ type }) => type)).toEqual(["OperationFinished", "ComputeActivated"]);
    expect(events.every(({ at }) => at === now)).toBe(true);
    expect((await sim.explain(endpointId)).summary).toContain(
      'a client\'s query from "checkout" that found the compute idle',
    );
    expect(await sim.activity([{ endpoint_id: endpointId }, { endpoint_id: endpointId }])).toHaveLength(2);
    expect(await sim.invariants()).toMatchObject({ ok: true, violations: [] });
  },
);

test("an advance returns all events, however many", async () => {
  const sim = await create({ port: false });
  const endpoint_id = await createProject(sim);
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 2) + minute * 60_000).toISOString();
  await sim.activity(Array.from({ length: 2_500 }, (_, minute) => ({ endpoint_id, at: at(minute) })));
  const { events } = await sim.advance("3d");
  expect(events.filter(({ type }) => type === "ActivityRecorded")).toHaveLength(2_500);
});

test("the same options and calls give the same world on any day", async () => {
  // A key that is not given comes from the operating system.
  const apiKey = "a-key-of-the-test";
  const [one, other] = [await create({ apiKey, port: false }), await create({ apiKey })];
  for (const sim of [one, other]) await createProject(sim);
  expect(await other.events()).toEqual(await one.events());
  expect(await text(other)).toBe(await text(one));
  const third = await create({ port: false, seed: 2 });
  await createProject(third);
  expect(await text(third)).not.toBe(await text(one));
});

test.each([true, false])(
  "in files %j: a snapshot restores a world, and a fork is independent",
  async (inFiles) => {
    const directory = temporaryDirectory();
    try {
      const sim = await create(inFiles ? { data: directory.path } : {});
      const endpointId = await createProject(sim);
      const kept = await sim.snapshot("asleep");
      const before = await text(sim);
      await sim.activity({ endpoint_id: endpointId });
      const fork = await sim.fork();
      expect(await text(fork)).toBe(await text(sim));
      const past = await sim.fork({ at: kept.seq, clock: "60x" });
      expect(await text(past)).toBe(before);
      await fork.advance("1h");
      expect(await text(fork)).not.toBe(await text(sim));
      const former = await sim.restore("asleep");
      expect(await text(sim)).toBe(before);
      await sim.restore(former);
      expect((await sim.state())["operations"]).toHaveLength(1);
      await fork.close();
      await expect(fork.state()).rejects.toMatchObject({ code: "WORLD_NOT_FOUND", status: 404 });
      await sim.close();
    } finally {
      directory.remove();
    }
  },
);

test("a world in files exists when it is opened again, with a valid key", async () => {
  const directory = temporaryDirectory();
  try {
    const first = await create({ data: directory.path, seed: 7 });
    await createProject(first);
    const before = await first.state();
    await first.close();
    const again = await create({ data: directory.path });
    expect((await again.state())["projects"]).toEqual(before["projects"]);
    expect((await again.fetch(`${again.url}/projects`)).status).toBe(200);
    await again.close();
    await expect(createStandin({ data: directory.path, seed: 8 })).rejects.toMatchObject({
      name: "StandinError",
      code: "WORLD_MISMATCH",
      status: 409,
      message: expect.stringContaining("this world was created with --seed 7"),
    });
    const held = await create({ data: directory.path });
    await expect(createStandin({ data: directory.path })).rejects.toMatchObject({
      name: "StandinError",
      code: "DIRECTORY_IN_USE",
    });
    await held.close();
  } finally {
    directory.remove();
  }
});

test("a start delay and limits stay with the world until they are reset to the profile's and the plan's", async () => {
  const directory = temporaryDirectory();
  const shapeWith = async (options: StandinOptions) => {
    const sim = await create({ data: directory.path, ...options });
    const events = await sim.events();
    const shape = (await sim.state())["world"];
    await sim.close();
    return {
      shape,
      configured: events.filter(({ type }) => type === "WorldConfigured").map(({ changes }) => changes),
    };
  };
  try {
    const { shape } = await shapeWith({ limits: { snapshots: "plan" }, startDelay: "profile" });
    expect(shape).not.toHaveProperty("limits");
    const delay = { kind: "fixed", ms: 9_000 };
    const given = { start_delay: delay, limits: { branches: 2, projects: 7 } };
    expect(await shapeWith({ startDelay: "9s", limits: { branches: 2, projects: 7 } })).toEqual({
      shape: { ...(shape as object), ...given },
      configured: [given],
    });
    expect((await shapeWith({})).shape).toMatchObject(given);
    await shapeWith({ startDelay: "profile" });
    await shapeWith({ limits: { branches: "plan" } });
    await shapeWith({ limits: { projects: "plan", endpoints: "plan" } });
    const changes = [given, { start_delay: null }, { limits: { projects: 7 } }, { limits: null }];
    expect(await shapeWith({ startDelay: "profile", limits: { projects: "plan" } })).toEqual({
      shape,
      configured: changes,
    });
    expect(await verifyWorld(directory.path, "default")).toMatchObject({ ok: true });
  } finally {
    directory.remove();
  }
});

test("an invalid option is rejected with its name, and nothing is opened", async () => {
  await expect(createStandin({ clock: "fast" })).rejects.toThrow(
    "clock: must be real, manual, or a factor like 60x",
  );
  await expect(createStandin({ sed: 1 } as StandinOptions)).rejects.toThrow(
    'options: there is no field "sed"',
  );
  await expect(createStandin({ limits: { branches: 0 } })).rejects.toThrow(
    "limits.branches: must be a whole number from 1, or plan",
  );
  const sim = await create({ port: false });
  await expect(sim.advance("backwards")).rejects.toBeInstanceOf(StandinError);
  await expect(sim.fork({ at: 1_000 })).rejects.toMatchObject({ code: "POINT_NOT_REACHED" });
  await expect(sim.restore("nothing")).rejects.toMatchObject({ code: "SNAPSHOT_NOT_FOUND" });
});

test("fetch resolves a path within the world of its object, unless the path names a world", async () => {
  const sim = await create({ port: false });
  const fork = await sim.fork({ name: "one" });
  const post = { method: "POST", headers: { "Content-Type": "application/json" } };
  const body = JSON.stringify({ project: { name: "shop" } });
  expect((await fork.fetch("/api/v2/projects", { ...post, body })).status).toBe(201);
  await fork.fetch("/_sim/clock/advance", { ...post, body: JSON.stringify({ by: "1h" }) });
  const worldOf = async (read: (path: string) => Promise<Response>) => {
    const { projects } = (await (await read("/api/v2/projects")).json()) as { projects: unknown[] };
    const { now } = (await (await read("/_sim/clock")).json()) as { now: string };
    return { projects: projects.length, now };
  };
  const changed = { projects: 1, now: "2026-01-01T01:00:00.000Z" };
  const unchanged = { projects: 0, now: "2026-01-01T00:00:00.000Z" };
  expect(await worldOf((path) => fork.fetch(path))).toEqual(changed);
  expect(await worldOf((path) => sim.fetch(path))).toEqual(unchanged);
  expect(await worldOf((path) => sim.fetch(`/w/one${path}`))).toEqual(changed);
  expect(await worldOf((path) => fork.fetch(`/w/default${path}`))).toEqual(unchanged);
});

test("closing a fork deletes its own forks, and ignores one that was already deleted", async () => {
  const sim = await create({ port: false });
  const fork = await sim.fork({ name: "one" });
  const deeper = await fork.fork({ name: "two" });
  await sim.fork({ name: "three" });
  await fork.close();
  await expect(deeper.state()).rejects.toMatchObject({ code: "WORLD_NOT_FOUND" });
  await sim.fetch(`${sim.controlUrl}/worlds/three`, { method: "DELETE" });
  await sim.close();
});

test("faults are added, listed and cleared, and requests are listed by filter", async () => {
  const sim = await create({ port: false });
  await createProject(sim);
  const gone = await sim.faults.add("gone", {
    on: { operation: "listProjects" },
    when: { first: 1 },
    effect: { answer: { status: 503 } },
  });
  expect(gone).toMatchObject({ name: "gone", hits: 0, effect: { answer: { status: 503 } } });
  await sim.faults.add("slow", { effect: { latency: "2s" } });
  expect((await sim.fetch("/api/v2/projects")).status).toBe(503);
  await sim.faults.clear("slow");
  expect(await sim.faults.list()).toMatchObject([{ name: "gone", hits: 1 }]);
  await sim.faults.clear();
  expect(await sim.faults.list()).toEqual([]);
  const all = await sim.requests.list();
  expect(all.map(({ operation_id, status }) => [operation_id, status])).toEqual([
    ["createProject", 201],
    ["listProjects", 503],
  ]);
  expect(await sim.requests.list({ status: 503, path: "/projects" })).toEqual([all[1]]);
  expect(await sim.requests.list({ method: "DELETE" })).toEqual([]);
  await expect(sim.faults.add("x", { effect: "nonsense" })).rejects.toMatchObject({ code: "BAD_REQUEST" });
});

test("endpoints are listed, started, suspended and used; a wait advances a manual clock to its condition", async () => {
  const sim = await create({ port: false, startDelay: "3s" });
  const id = await createProject(sim);
  const before = await sim.now();
  expect(await sim.endpoints.list()).toMatchObject([{ endpoint_id: id, current_state: "idle" }]);
  const [start] = await sim.endpoints.start(id);
  expect(start).toMatchObject({ action: "start_compute", status: "running" });
  const { now } = await sim.wait({ operation_id: start?.id ?? "" });
  expect(Date.parse(now) - Date.parse(before)).toBe(3_000);
  expect(await sim.now()).toBe(now);
  expect(await sim.endpoints.activity(id)).toMatchObject({ outcome: "served" });
  await sim.endpoints.suspend(id);
  await sim.wait({ endpoint_id: id, state: "idle" });
  await sim.endpoints.activity(id, { kind: "connect" });
  await sim.wait({ endpoint_id: id, state: "active" });
  await expect(sim.endpoints.start("ep-none")).rejects.toMatchObject({ status: 404 });
});

test("a wait for what cannot happen is rejected: nothing is due, or the time is up", async () => {
  const sim = await create({ port: false });
  const id = await createProject(sim);
  await expect(sim.wait({ endpoint_id: id, state: "active" })).rejects.toMatchObject({
    code: "NOTHING_DUE",
    status: 409,
  });
  const scaled = await sim.fork({ clock: "60x" });
  await expect(scaled.wait({ endpoint_id: id, state: "active" }, { timeout: "20ms" })).rejects.toMatchObject({
    code: "TIMED_OUT",
    status: 408,
  });
});

test("it takes a profile file, whose figures, plan and limits its world has, and names a mistake in one", async () => {
  const { path, remove } = temporaryDirectory();
  try {
    const file = join(path, "shop.profile.yaml");
    writeFileSync(
      file,
      "{like: '2026', plan: {projects: 3, branches: 4}, failures: {apply_config: {share: 0.5}}}",
    );
    const sim = await create({ profile: file, limits: { branches: 9 } });
    expect((await sim.state()).world).toMatchObject({
      ...{ profile: "2026", limits: { projects: 3, branches: 9 } },
      calibration: { name: "shop", failures: [{ action: "apply_config", share: 0.5 }] },
    });
    writeFileSync(file, "{failures: {apply_config: {share: 2}}}");
    await expect(createStandin({ profile: file })).rejects.toThrow(
      /^profile: .*failures.apply_config.share: /,
    );
    await expect(createStandin({ profile: "2025" })).rejects.toThrow(
      "expected 2024, 2026 or a readable file",
    );
  } finally {
    remove();
  }
});
