import { describe, expect, onTestFinished, test } from "vitest";
import { memoryStorage } from "../../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openForReading } from "../../../src/store/file/open-read-only.ts";
import { readWorldRow } from "../../../src/store/file/read-world.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { WorldStorage } from "../../../src/worlds/world-storage.ts";
import { createDouble, createProject, type Double, START } from "../../support/double/double.ts";
import { TestHost } from "../../support/double/test-host.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const SECOND = 1_000;
const DAY = 86_400_000;
/** The host clock at the start of a test. */
const WALL = Date.parse("2026-06-01T12:00:00Z");

const SHELVES: Readonly<Record<string, () => WorldStorage>> = {
  "in files": () => {
    const directory = new DataDirectory(testDirectory(), MIGRATIONS_FOLDER);
    onTestFinished(() => directory.release());
    return directory;
  },
  "in memory": () => memoryStorage(),
};
const MODES = [
  { name: "real", mode: "real", factor: 1 },
  { name: "60x", mode: "scaled", factor: 60 },
] as const;
const STEPS = [-DAY, 0, DAY];
const shown = (step: number) => (step === 0 ? "stays" : `steps ${step < 0 ? "back" : "forward"}`);

const scenes = Object.keys(SHELVES).flatMap((shelf) =>
  MODES.flatMap((clock) =>
    STEPS.flatMap((before) => STEPS.map((after) => ({ shelf, clock, before, after }))),
  ),
);

describe.each(
  scenes.map((scene) => ({
    ...scene,
    name: `${scene.shelf}, ${scene.clock.name}: the host clock ${shown(scene.before)} before and ${shown(scene.after)} after`,
  })),
)("$name", ({ shelf, clock: { mode, factor }, before, after }) => {
  const open = async () => {
    const storage = (SHELVES[shelf] as () => WorldStorage)();
    const host = new TestHost(WALL);
    const double = await createDouble({ storage, clock: { mode, factor }, hostClock: host.clock });
    onTestFinished(() => double.close());
    await createProject(double);
    host.passes(10 * SECOND);
    return { double, host };
  };

  test("the clock of a world keeps its pace over every step", async () => {
    const { double, host } = await open();
    let latest = await now(double);
    for (const step of [before, after, -before, -after]) {
      host.setsBy(step);
      expect(await now(double)).toBe(latest);
      host.passes(SECOND);
      expect(await now(double)).toBe(latest + SECOND * factor);
      latest += SECOND * factor;
    }
    expect(host.steps).toHaveLength([before, after, -before, -after].filter((step) => step !== 0).length);
    await expectSound(double);
  });

  test("a restored world continues from the time of its snapshot, at its own pace", async () => {
    const { double, host } = await open();
    const taken = await now(double);
    const { snapshot } = (await double.sim("POST", "/snapshots", { name: "kept" })).body;
    expect(Date.parse(snapshot.now)).toBe(taken);
    host.setsBy(before);
    host.passes(20 * SECOND);
    const beforeRestore = await now(double);
    expect((await double.sim("POST", "/snapshots/kept/restore", {})).status).toBe(200);
    expect(await now(double)).toBe(taken);
    await expectPace(double, host, taken, factor, after);
    const { snapshots } = (await double.sim("GET", "/snapshots")).body;
    const former = snapshots.find(({ kind }) => kind === "automatic");
    expect(Date.parse(former.now)).toBe(beforeRestore);
    await expectSound(double);
  });

  test.each(["at the current state", "in the past"])(
    "a world forked %s continues from there, and the original continues as before",
    async (where) => {
      const { double, host } = await open();
      const past = START + 5 * SECOND;
      host.setsBy(before);
      host.passes(20 * SECOND);
      const head = await now(double);
      const at = where === "at the current state" ? {} : { at: new Date(past).toISOString() };
      const { status, body } = await double.sim("POST", "/worlds", { name: "side", ...at });
      expect([status, Date.parse(body.world.now)]).toEqual([
        201,
        where === "at the current state" ? head : past,
      ]);
      const side = inWorld(double, "side");
      expect(await now(double)).toBe(head);
      await expectPace(side, host, where === "at the current state" ? head : past, factor, after);
      expect(await now(double)).toBeGreaterThanOrEqual(head);
      await expectSound(double);
      await expectSound(side);
    },
  );
});

test.each(STEPS)(
  "over a restart with a host clock step of %d ms, no world's clock goes back or stands still",
  async (step) => {
    const directory = new DataDirectory(testDirectory(), MIGRATIONS_FOLDER);
    onTestFinished(() => directory.release());
    const host = new TestHost(WALL);
    const open = () =>
      createDouble({ storage: directory, clock: { mode: "real", factor: 1 }, hostClock: host.clock });
    let double = await open();
    await createProject(double);
    host.passes(10 * SECOND);
    await double.sim("POST", "/worlds", { name: "side" });
    host.passes(10 * SECOND);
    const worlds = () => [double, inWorld(double, "side")] as const;
    const [first, side] = await Promise.all(worlds().map(now));
    await double.close();
    host.setsBy(step);
    host.restart();
    double = await open();
    for (const [index, latest] of [first, side].entries()) {
      const world = worlds()[index] as Double;
      expect(await now(world)).toBe((latest as number) + Math.max(0, step));
    }
    host.passes(SECOND);
    for (const [index, latest] of [first, side].entries()) {
      const world = worlds()[index] as Double;
      expect(await now(world)).toBe((latest as number) + Math.max(0, step) + SECOND);
    }
    await double.close();
  },
);

test("a server killed after a step of the host clock does not jump at its next start", async () => {
  const path = testDirectory();
  const host = new TestHost(WALL);
  const open = (directory: DataDirectory) =>
    createDouble({ storage: directory, clock: { mode: "real", factor: 1 }, hostClock: host.clock });
  const directory = new DataDirectory(path, MIGRATIONS_FOLDER);
  const killed = await open(directory);
  await createProject(killed);
  host.setsBy(DAY);
  const latest = await now(killed);
  // The changed offset is stored without any event.
  await expect.poll(() => storedWallAnchor(path), { timeout: 10_000 }).toBeGreaterThan(WALL + DAY / 2);
  directory.release();
  host.restart();
  const reopened = new DataDirectory(path, MIGRATIONS_FOLDER);
  onTestFinished(() => reopened.release());
  const double = await open(reopened);
  expect(await now(double)).toBe(latest);
  await double.close();
});

function storedWallAnchor(directory: string): number {
  const { sqlite, close } = openForReading(`${directory}/worlds/default.sqlite`, MIGRATIONS_FOLDER);
  try {
    return readWorldRow(sqlite)?.clock.wallAnchor ?? 0;
  } finally {
    close();
  }
}

type Clocked = Pick<Double, "sim">;

/** Checks that the clock runs from `from` at its pace, also over a step of the host clock. */
async function expectPace(
  world: Clocked,
  host: TestHost,
  from: number,
  factor: number,
  step: number,
): Promise<void> {
  host.passes(SECOND);
  expect(await now(world)).toBe(from + SECOND * factor);
  host.setsBy(step);
  expect(await now(world)).toBe(from + SECOND * factor);
  host.passes(SECOND);
  expect(await now(world)).toBe(from + 2 * SECOND * factor);
}

async function now(world: Clocked): Promise<number> {
  const { status, body } = await world.sim("GET", "/clock");
  expect(status).toBe(200);
  return Date.parse(body.now);
}

async function expectSound(world: Clocked): Promise<void> {
  const { events } = (await world.sim("GET", "/events?limit=10000")).body;
  expect(events.filter(({ at }, index) => index > 0 && at < (events[index - 1]?.at ?? ""))).toEqual([]);
  expect((await world.sim("GET", "/invariants")).body).toMatchObject({ ok: true });
}

function inWorld(double: Double, name: string): Clocked {
  return {
    async sim(method, path, body) {
      const content =
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
      const response = await double.fetch(
        new Request(`http://localhost/w/${name}/_sim${path}`, { method, ...content }),
      );
      return { status: response.status, headers: response.headers, body: (await response.json()) as never };
    },
  };
}
