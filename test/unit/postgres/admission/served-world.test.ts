import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { MINUTE } from "../../../../src/kernel/time.ts";
import { ServedWorld } from "../../../../src/postgres/admission/served-world.ts";
import { BranchVolumes } from "../../../../src/postgres/data/branch-volumes.ts";
import { WorldData } from "../../../../src/postgres/data/world-data.ts";
import { type Engine, EngineError, type RunningEngine } from "../../../../src/postgres/engine/engine.ts";
import { ConnectionRejected } from "../../../../src/postgres/protocol/errors.ts";
import { Volumes } from "../../../../src/postgres/volumes/volumes.ts";
import type { HostedWorld } from "../../../../src/worlds/hosted-world.ts";
import { createDouble, createProject, type DoubleOptions, START } from "../../../support/double/double.ts";
import { TestHost } from "../../../support/double/test-host.ts";
import { temporaryDirectory } from "../../../support/process/process.ts";

/** A world with an idle compute, served with an engine whose start the test decides. */
async function servedWorld(options: DoubleOptions = {}) {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const double = await createDouble({ operations: "immediate", ...options });
  onTestFinished(() => double.close());
  const { projectId, endpointId } = await createProject(double);
  let failStart: (error: Error) => void = () => undefined;
  const starting = new Promise<RunningEngine>((_, reject) => {
    failStart = reject;
  });
  starting.catch(() => undefined);
  let starts = 0;
  const engine: Engine = {
    versions: [17],
    emptyCluster: async () => {
      mkdirSync(join(path, "template"), { recursive: true });
      return join(path, "template");
    },
    copyCluster: async ({ to }) => {
      mkdirSync(to, { recursive: true });
    },
    advanceCluster: async () => undefined,
    logStart: () => 0,
    dropLog: async () => undefined,
    trimLog: async () => undefined,
    start: () => {
      starts += 1;
      return starting;
    },
    ensureExtension: () => Promise.resolve(),
    startStandby: () => Promise.reject(new Error("not used")),
    stopLeftover: async () => false,
    close: () => undefined,
  };
  const volumes = new Volumes(join(path, "volumes"), path);
  const served = new ServedWorld(double.world, {
    engine,
    branchVolumes: new BranchVolumes(engine, volumes),
    isTooLong: () => false,
    shortenLogs: () => undefined,
    reserveEngine: async () => () => undefined,
    dataProblem: () => undefined,
    onEngineStarted: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  const { world } = double;
  return {
    double,
    served,
    projectId,
    endpointId,
    world: world as HostedWorld,
    failStart,
    starts: () => starts,
  };
}

test("a world is in use while a client is connected, and may close afterwards", async () => {
  const { served, endpointId, world } = await servedWorld();
  expect(world.isInUse).toBe(false);
  const first = await served.admit(endpointId, "neondb", false, "test");
  const second = await served.admit(endpointId, "neondb", false, "test");
  await served.leave(first);
  expect(world.isInUse).toBe(true);
  await served.leave(second);
  expect(world.isInUse).toBe(false);
  expect(await world.closeUntilNextUse(() => false)).toBe(true);

  const third = await served.admit(endpointId, "neondb", false, "test");
  expect(world.isInUse).toBe(true);
  await served.leave(third);
});

test("a client that is rejected does not leave the world in use", async () => {
  const { served, world } = await servedWorld();
  await expect(served.admit("ep-missing", "neondb", false, "test")).rejects.toThrow(ConnectionRejected);
  expect(world.isInUse).toBe(false);
});

test("a world is in use while an engine runs, also without a client", async () => {
  const { served, endpointId, world, failStart } = await servedWorld();
  const admitted = await served.admit(endpointId, "neondb", false, "test");
  const { host } = served.attach(admitted, { isRelaying: () => false, end: () => undefined });
  const acquired = host.acquire();
  acquired.catch(() => undefined);
  await served.leave(admitted);
  await expect.poll(() => host.isRunning && world.isInUse).toBe(true);
  failStart(new EngineError("no memory"));
  await expect(acquired).rejects.toThrow(ConnectionRejected);
  expect(world.isInUse).toBe(false);
});

test("work continues without a transaction until something happens in the world", async () => {
  const { served, endpointId, world } = await servedWorld();
  const admitted = await served.admit(endpointId, "neondb", false, "test");
  const transactions = vi.spyOn(world, "transactForClient");
  const query = async () => {
    transactions.mockClear();
    const mayWork = await served.beginWork(admitted);
    const needsTransaction = transactions.mock.calls.length > 0;
    served.endWork(admitted);
    return { mayWork, needsTransaction };
  };
  expect(await query()).toEqual({ mayWork: true, needsTransaction: true });
  expect(await query()).toEqual({ mayWork: true, needsTransaction: false });

  const other = await served.admit(endpointId, "neondb", false, "test");
  expect(await query()).toEqual({ mayWork: true, needsTransaction: true });
  expect(await query()).toEqual({ mayWork: true, needsTransaction: false });
  await served.leave(other);
});

test("the clock moves after a sample that had begun before", async () => {
  const { double, served, endpointId, world } = await servedWorld();
  const admitted = await served.admit(endpointId, "neondb", false, "test");
  const compute = served.attach(admitted, { isRelaying: () => false, end: () => undefined });
  let sizeIsRead: (size: number) => void = () => undefined;
  const size = new Promise<number>((resolve) => {
    sizeIsRead = resolve;
  });
  const samples = vi
    .spyOn(compute.host, "sampleData")
    .mockImplementation(async () => ({ logicalSizeBytes: await size }));
  await served.beginWork(admitted);
  served.endWork(admitted);
  void compute.sampleNow();
  const advanced = double.advance("1m");
  await expect.poll(() => samples.mock.calls.length).toBe(1);
  sizeIsRead(7_000_000);
  await advanced;
  const branches = await world.transact((transaction) => [...transaction.world.branches.values()]);
  expect(branches).toMatchObject([{ logicalSizeBytes: 7_000_000 }]);
});

test("a suspend that is due by now is noticed before the next work", async () => {
  const host = new TestHost(START);
  const clock = { mode: "real", factor: 1 } as const;
  const { served, endpointId, world } = await servedWorld({ clock, hostClock: host.clock });
  const admitted = await served.admit(endpointId, "neondb", false, "test");
  expect(await served.beginWork(admitted)).toBe(true);
  served.endWork(admitted);
  expect(await served.beginWork(admitted)).toBe(true);
  served.endWork(admitted);
  expect(world.settledSeq()).toBeDefined();

  host.passes(6 * MINUTE);
  expect(world.settledSeq()).toBeUndefined();
  expect(await served.beginWork(admitted)).toBe(false);
});

test("a manual clock moves only after the data of running engines is marked at the instant before", async () => {
  const { double, world } = await servedWorld();
  const before = world.now();
  const markedAt: number[] = [];
  const marks = vi.spyOn(WorldData.prototype, "markAll").mockImplementation(async () => {
    // Marks take a while.
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    markedAt.push(world.now());
  });
  onTestFinished(() => marks.mockRestore());
  await double.advance("10m");
  expect(markedAt).toEqual([before]);
  expect(world.now()).toBe(before + 10 * MINUTE);
});

test("two computes that have worked at one instant suspend both", async () => {
  const { double, served, endpointId } = await servedWorld();
  const other = await createProject(double);
  for (const id of [endpointId, other.endpointId]) {
    const admitted = await served.admit(id, "neondb", false, "test");
    served.attach(admitted, { isRelaying: () => false, end: () => undefined });
    expect(await served.beginWork(admitted)).toBe(true);
    served.endWork(admitted);
  }
  await double.advance("10m");
  for (const id of [endpointId, other.endpointId])
    expect(await double.world.transact(({ world }) => world.computes.get(id)?.phase.state)).toBe("idle");
});

test("a client whose data cannot be copied to a full disk gets the cause", async () => {
  const { served, endpointId, failStart } = await servedWorld();
  const admitted = await served.admit(endpointId, "neondb", false, "test");
  const { host } = served.attach(admitted, { isRelaying: () => false, end: () => undefined });
  failStart(Object.assign(new Error("ENOSPC: no space left on device, copyfile"), { code: "ENOSPC" }));
  await expect(host.acquire()).rejects.toMatchObject({ clientError: { code: "53100" } });
  await served.leave(admitted);
});

test("on a running clock, the engine starts while the compute does", async () => {
  const host = new TestHost(START);
  const { double, served, projectId, endpointId, world, starts } = await servedWorld({
    clock: { mode: "real", factor: 1 },
    hostClock: host.clock,
    operations: "timed",
    startDelay: { kind: "fixed", ms: 3_000 },
  });
  const passes = async (ms: number) => {
    host.passes(ms);
    await world.transact(() => undefined);
  };
  const stateOf = () => double.world.transact(({ world }) => world.computes.get(endpointId)?.phase.state);
  await passes(20_000);
  await double.api("POST", `/projects/${projectId}/endpoints/${endpointId}/suspend`);
  await passes(20_000);
  expect(await stateOf()).toBe("idle");
  const admitting = served.admit(endpointId, "neondb", false, "test");
  admitting.catch(() => undefined);
  await expect.poll(starts).toBe(1);
  expect(await stateOf()).toBe("idle");
  await passes(3_000);
  expect(await stateOf()).toBe("active");
  // It is still starting, and the client waits for the same one.
  expect(starts()).toBe(1);
});

test("on a manual clock, which moves by itself meanwhile, the engine starts after the compute", async () => {
  const { served, endpointId, starts } = await servedWorld({
    operations: "timed",
    startDelay: { kind: "fixed", ms: 3_000 },
  });
  await served.admit(endpointId, "neondb", false, "test");
  expect(starts()).toBe(0);
});
