import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Engine, EngineError, type RunningEngine } from "../../../src/engine/engine.ts";
import { BranchVolumes } from "../../../src/gateway/data/branch-volumes.ts";
import { ConnectionRejected } from "../../../src/gateway/errors.ts";
import { ServedWorld } from "../../../src/gateway/world/served-world.ts";
import { Volumes } from "../../../src/volumes/volumes.ts";
import type { HostedWorld } from "../../../src/worlds/hosted-world.ts";
import { createDouble, createProject } from "../../support/double.ts";
import { temporaryDirectory } from "../../support/process.ts";

/** A world with an idle compute, served with an engine whose start the test decides. */
async function servedWorld() {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const double = await createDouble({ operations: "immediate" });
  onTestFinished(() => double.close());
  const { endpointId } = await createProject(double);
  let failStart: (error: Error) => void = () => undefined;
  const starting = new Promise<RunningEngine>((_, reject) => {
    failStart = reject;
  });
  starting.catch(() => undefined);
  const engine: Engine = {
    versions: [17],
    emptyCluster: async () => join(path, "template"),
    copyCluster: async ({ to }) => {
      mkdirSync(to, { recursive: true });
    },
    advanceCluster: async () => undefined,
    logStart: () => 0,
    trimLog: async () => undefined,
    start: () => starting,
    startStandby: () => Promise.reject(new Error("not used")),
    stopLeftover: async () => false,
    close: () => undefined,
  };
  const volumes = new Volumes(join(path, "volumes"), path);
  const served = new ServedWorld(double.world, {
    engine,
    volumes,
    branchVolumes: new BranchVolumes(engine, volumes),
    isTooLong: () => false,
    shortenLogs: () => undefined,
    reserveEngine: async () => () => undefined,
    onEngineStarted: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  const { world } = double;
  return { double, served, endpointId, world: world as HostedWorld, failStart };
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
