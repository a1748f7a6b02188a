import { readdirSync, readlinkSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { worldState } from "../../support/double/compute.ts";
import { createProject, type Double, START } from "../../support/double/double.ts";
import { createTestDouble, forkWorld, worldNames } from "../../support/double/history-requests.ts";
import { doubleOfWorld, STORAGE_KINDS, type StorageKind } from "../../support/double/storage-double.ts";
import { TestHost } from "../../support/double/test-host.ts";

const MINUTE = 60_000;
const LIMITS = { closeIdleAfterMs: 10 * MINUTE };
const EXPIRE = { ...LIMITS, expireAfterMs: 60 * MINUTE };
const REAL = { mode: "real", factor: 1 } as const;

/** A double whose host's time the test moves. */
async function createHostedDouble(kind: StorageKind, limits: object, clock = { mode: "manual", factor: 0 }) {
  const host = new TestHost(START);
  const expired: string[] = [];
  const onExpired = (name: string) => {
    expired.push(name);
  };
  const options = { hostClock: host.clock, limits, clock: clock as typeof REAL, onExpired };
  const stored = await createTestDouble(kind, options);
  const double = stored.double();
  const idles = async (ms: number) => {
    host.passes(ms);
    await double.worlds.tidy();
  };
  return { host, stored, double, idles, expired };
}

const isOpen = async ({ sim }: Double, name: string): Promise<boolean> =>
  (await sim("GET", `/worlds/${name}`)).body.world.open;

const eventsOf = async ({ sim }: Double) => (await sim("GET", "/events?limit=10000")).body.events;

/** The number of open files whose path begins with this. */
const descriptorsOf = (prefix: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(prefix);
    } catch {
      return false;
    }
  }).length;

test.each(STORAGE_KINDS)(
  "%s: an idle world is closed, and its next request opens it unchanged",
  async (kind) => {
    const { stored, double, idles } = await createHostedDouble(kind, LIMITS);
    await createProject(double);
    const side = await forkWorld(double, { name: "side" });
    await createProject(side);
    const [state, events] = [await worldState(side), await eventsOf(side)];
    await idles(10 * MINUTE - 1);
    expect(await isOpen(double, "side")).toBe(true);
    await idles(1);
    const { body } = await double.sim("GET", "/worlds/side");
    expect(body.world).toMatchObject({ open: false, seq: events.length, now: "2026-01-01T00:00:20.000Z" });
    expect(await isOpen(double, "side")).toBe(false);
    expect(double.worlds.counts).toMatchObject({ open: 1, idleClosings: 1, expired: 0 });
    expect(await worldState(side)).toBe(state);
    expect(await eventsOf(side)).toEqual(events);
    expect(await isOpen(double, "side")).toBe(true);
    expect(side.world.diagnostics().reopens).toBe(0);
    await createProject(side);
    for (const { ok, differences } of await stored.verify("side"))
      expect({ ok, differences }).toEqual({ ok: true, differences: [] });
  },
);

test.each(STORAGE_KINDS)(
  "%s: the default world stays open, and so do all worlds with a time of 0",
  async (kind) => {
    const { double, idles } = await createHostedDouble(kind, LIMITS);
    await idles(1_000 * MINUTE);
    expect(await isOpen(double, "default")).toBe(true);
    const never = await createHostedDouble(kind, { closeIdleAfterMs: 0 });
    await (await forkWorld(never.double, { name: "side" })).sim("GET", "/clock");
    await never.idles(1_000_000 * MINUTE);
    expect(await isOpen(never.double, "side")).toBe(true);
  },
);

test.each([
  ["real", REAL],
  ["scaled", { mode: "scaled", factor: 60 }],
])(
  "on a %s clock, a world that was closed has the same history as one that stayed open",
  async (_, clock) => {
    const { double, host, idles } = await createHostedDouble("in files", LIMITS, clock);
    const worlds = [];
    for (const name of ["closed", "followed"]) worlds.push(await forkWorld(double, { name }));
    const [closed, followed] = worlds as [Double, Double];
    const projects = [];
    for (const world of worlds) projects.push((await world.api("POST", "/projects", { project: {} })).body);
    host.passes(20 * MINUTE);
    for (const [index, world] of worlds.entries())
      await world.sim("POST", "/activity", [
        { endpoint_id: projects[index]?.endpoints[0].id, duration_ms: 1_000 },
        { endpoint_id: projects[index]?.endpoints[0].id, at: "2026-01-05T00:00:00Z", duration_ms: 1_000 },
      ]);
    const unsubscribe = followed.world.subscribe(() => undefined);
    for (let hour = 0; hour < 24 * 6; hour += 1) {
      await idles(60 * MINUTE);
      // The timer of an open world is a timer of the real host: the test runs its work instead.
      await followed.sim("GET", "/clock");
    }
    unsubscribe();
    expect([await isOpen(double, "closed"), await isOpen(double, "followed")]).toEqual([false, true]);
    const [events, expected] = [await eventsOf(closed), await eventsOf(followed)];
    expect(events.length).toBeGreaterThan(10);
    expect(events).toEqual(expected);
    expect(await worldState(closed)).toBe(await worldState(followed));
  },
);

test("a step of the host's clock does not move the clock of a closed world", async () => {
  const { double, host, stored, idles } = await createHostedDouble("in files", LIMITS, REAL);
  await (await forkWorld(double, { name: "side" })).sim("GET", "/clock");
  await idles(10 * MINUTE);
  host.setsBy(365 * 1440 * MINUTE);
  await double.sim("GET", "/clock");
  const now = async () => (await stored.world("side").sim("GET", "/clock")).body.now;
  expect(await now()).toBe("2026-01-01T00:10:00.000Z");
  await idles(10 * MINUTE);
  host.setsBy(-730 * 1440 * MINUTE);
  expect(await now()).toBe("2026-01-01T00:20:00.000Z");
});

test("a follower, a running request and a running snapshot keep a world open", async () => {
  const { double, host, idles } = await createHostedDouble("in files", LIMITS);
  const side = await forkWorld(double, { name: "side" });
  await side.sim("GET", "/clock");
  const unsubscribe = side.world.subscribe(() => undefined);
  await idles(60 * MINUTE);
  expect(await isOpen(double, "side")).toBe(true);
  unsubscribe();
  await idles(9 * MINUTE);
  expect(await isOpen(double, "side")).toBe(true);
  const end = double.worlds.use("side");
  await idles(60 * MINUTE);
  expect(await isOpen(double, "side")).toBe(true);
  end();
  const snapshot = side.sim("POST", "/snapshots", { name: "kept" });
  host.passes(60 * MINUTE);
  await double.worlds.tidy();
  expect((await snapshot).status).toBe(201);
  expect(await isOpen(double, "side")).toBe(true);
  await idles(10 * MINUTE);
  expect(await isOpen(double, "side")).toBe(false);
});

test("200 idle worlds hold no descriptors, and each continues where it was", async () => {
  const { double, stored, idles } = await createHostedDouble("in files", LIMITS);
  await createProject(double);
  const descriptors = () => descriptorsOf(`${stored.directory}/worlds/world-`);
  const names = Array.from({ length: 200 }, (_, index) => `world-${index}`);
  for (const name of names) {
    const { status } = await (await forkWorld(double, { name })).api("POST", "/projects", {
      project: { name },
    });
    expect(status).toBe(201);
  }
  expect(descriptors()).toBeGreaterThan(200);
  await idles(10 * MINUTE);
  expect(descriptors()).toBe(0);
  expect(double.worlds.counts).toMatchObject({ open: 1, idleClosings: 200 });
  for (const name of [names[0] ?? "", names[199] ?? ""]) {
    const { body } = await doubleOfWorld(double, name).api("GET", "/projects");
    expect(body.projects.map((project: { name: string }) => project.name)).toContain(name);
  }
}, 60_000);

test.each(STORAGE_KINDS)("%s: a world that is not used for the time of expiry is deleted", async (kind) => {
  const { double, idles, expired } = await createHostedDouble(kind, EXPIRE);
  const side = await forkWorld(double, { name: "side" });
  await forkWorld(double, { name: "unused" });
  await side.sim("POST", "/snapshots", { name: "of-side" });
  await idles(59 * MINUTE);
  await side.sim("GET", "/clock");
  await idles(1 * MINUTE);
  expect(await worldNames(double)).toEqual(["default", "side"]);
  await idles(59 * MINUTE);
  expect(await worldNames(double)).toEqual(["default"]);
  expect(expired).toEqual(["unused", "side"]);
  expect(double.worlds.counts.expired).toBe(2);
  expect((await double.fetch(new Request("http://localhost/w/side/_sim/clock"))).status).toBe(404);
});

test("after a restart, a world was last used when its file was last written", async () => {
  const { double, host, stored } = await createHostedDouble("in files", EXPIRE);
  await forkWorld(double, { name: "side" });
  utimesSync(stored.file("side"), START / 1_000, START / 1_000);
  host.passes(59 * MINUTE);
  await stored.reopen();
  const { worlds } = stored.double();
  await worlds.tidy();
  // A step of the host's clock makes no world older.
  host.setsBy(365 * 1440 * MINUTE);
  await worlds.tidy();
  expect(await worldNames(stored.double())).toEqual(["default", "side"]);
  host.passes(MINUTE);
  await worlds.tidy();
  expect(await worldNames(stored.double())).toEqual(["default"]);
});
