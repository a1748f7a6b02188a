import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { memoryStorage } from "../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../src/app/package-root.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import type { WorldStorage } from "../../src/worlds/world-storage.ts";
import { createDouble, createProject, type Double, START } from "../support/double.ts";
import { testDirectory } from "../support/running-server.ts";

const SECOND = 1_000;
const DAY = 86_400_000;
/** The host clock at the start of a test. */
const WALL = Date.parse("2026-06-01T12:00:00Z");

// Only the displayed time is controlled; timers and the event loop run normally.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: WALL });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Advances or sets the host clock. */
const passes = (ms: number) => vi.setSystemTime(Date.now() + ms);

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
    const kept = (SHELVES[shelf] as () => WorldStorage)();
    const double = await createDouble({ storage: kept, clock: { mode, factor } });
    onTestFinished(() => double.close());
    await createProject(double);
    passes(10 * SECOND);
    return { double, kept };
  };

  test("the clock of a world never goes back, and continues once the host has caught up", async () => {
    const { double } = await open();
    let latest = await now(double);
    for (const step of [before, SECOND, after, SECOND, before, SECOND]) {
      passes(step);
      const read = await now(double);
      expect(read).toBeGreaterThanOrEqual(latest);
      latest = read;
    }
    vi.setSystemTime(WALL + 10 * DAY);
    const caughtUp = await now(double);
    passes(SECOND);
    expect((await now(double)) - caughtUp).toBe(SECOND * factor);
    await expectSound(double);
  });

  test("a restored world continues from the time of its snapshot, at its own pace", async () => {
    const { double } = await open();
    const taken = await now(double);
    const { snapshot } = (await double.sim("POST", "/snapshots", { name: "kept" })).body;
    expect(Date.parse(snapshot.now)).toBe(taken);
    passes(before);
    passes(20 * SECOND);
    const beforeRestore = await now(double);
    expect((await double.sim("POST", "/snapshots/kept/restore", {})).status).toBe(200);
    expect(await now(double)).toBe(taken);
    await expectPace(double, taken, factor, after);
    const { snapshots } = (await double.sim("GET", "/snapshots")).body;
    const former = snapshots.find(({ kind }: any) => kind === "automatic");
    expect(Date.parse(former.now)).toBe(beforeRestore);
    await expectSound(double);
  });

  test.each(["at the current state", "in the past"])(
    "a world forked %s continues from there, and the original continues as before",
    async (where) => {
      const { double } = await open();
      const past = START + 5 * SECOND;
      passes(before);
      passes(20 * SECOND);
      const head = await now(double);
      const at = where === "at the current state" ? {} : { at: new Date(past).toISOString() };
      const { status, body } = await double.sim("POST", "/worlds", { name: "side", ...at });
      expect([status, Date.parse(body.world.now)]).toEqual([
        201,
        where === "at the current state" ? head : past,
      ]);
      const side = inWorld(double, "side");
      expect(await now(double)).toBe(head);
      await expectPace(side, where === "at the current state" ? head : past, factor, after);
      expect(await now(double)).toBeGreaterThanOrEqual(head);
      await expectSound(double);
      await expectSound(side);
    },
  );
});

test.each(STEPS)(
  "over a restart with a host clock step of %d ms, no world's clock goes back",
  async (step) => {
    const directory = new DataDirectory(testDirectory(), MIGRATIONS_FOLDER);
    onTestFinished(() => directory.release());
    const open = (clock: { clock?: { mode: "real"; factor: 1 } }) =>
      createDouble({ storage: directory, ...clock });
    let double = await open({ clock: { mode: "real", factor: 1 } });
    await createProject(double);
    passes(10 * SECOND);
    await double.sim("POST", "/worlds", { name: "side" });
    passes(10 * SECOND);
    const worlds = () => [double, inWorld(double, "side")] as const;
    const [first, side] = await Promise.all(worlds().map(now));
    await double.close();
    passes(step);
    double = await open({ clock: { mode: "real", factor: 1 } });
    for (const [index, latest] of [first, side].entries()) {
      const world = worlds()[index] as Double;
      expect(await now(world)).toBe((latest as number) + Math.max(0, step));
    }
    vi.setSystemTime(WALL + 10 * DAY);
    const [caughtUp] = await Promise.all(worlds().map(now));
    passes(SECOND);
    expect((await now(double)) - (caughtUp as number)).toBe(SECOND);
    await double.close();
  },
);

type Clocked = Pick<Double, "sim">;

/** Checks that the clock runs from `from` at its pace, and waits if the host clock steps back. */
async function expectPace(world: Clocked, from: number, factor: number, step: number): Promise<void> {
  passes(SECOND);
  expect(await now(world)).toBe(from + SECOND * factor);
  passes(step);
  expect(await now(world)).toBe(from + (SECOND + Math.max(0, step)) * factor);
  passes(Math.abs(step) + SECOND);
  expect(await now(world)).toBe(from + (SECOND + step + Math.abs(step) + SECOND) * factor);
}

async function now(world: Clocked): Promise<number> {
  const { status, body } = await world.sim("GET", "/clock");
  expect(status).toBe(200);
  return Date.parse(body.now);
}

async function expectSound(world: Clocked): Promise<void> {
  const { events } = (await world.sim("GET", "/events?limit=10000")).body;
  expect(events.filter(({ at }: any, index: number) => index > 0 && at < events[index - 1].at)).toEqual([]);
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
      return { status: response.status, headers: response.headers, body: await response.json() };
    },
  };
}
