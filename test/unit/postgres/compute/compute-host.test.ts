import { expect, onTestFinished, test, vi } from "vitest";
import type { ComputeCluster } from "../../../../src/postgres/compute/compute-cluster.ts";
import { ComputeHost } from "../../../../src/postgres/compute/compute-host.ts";
import type { RunningEngine } from "../../../../src/postgres/engine/engine.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** A host whose clusters the test opens one after another. */
function hostOf(dataDirectory: string) {
  const stopped: string[] = [];
  const outdated = new Set<string>();
  const opens: ((volumeId: string) => void)[] = [];
  const clusterOn = (volumeId: string): ComputeCluster => ({
    mayHaveExpired: () => false,
    hasExpired: async () => false,
    branchId: "br-1",
    dataDirectory,
    volumeId,
    cacheStatistics: { hits: 0, misses: 0, used: 0, writes: 0, size: 0 } as never,
    start: async () =>
      ({
        exited: new Promise(() => undefined),
        query: async () => [],
        stop: async () => void stopped.push(volumeId),
      }) as unknown as RunningEngine,
    prepare: async () => undefined,
    isOutdated: async () => outdated.has(volumeId),
    release: () => undefined,
    syncContent: async () => undefined,
    mark: async () => undefined,
    ending: async () => undefined,
    ended: async () => undefined,
  });
  const host = new ComputeHost({
    open: () => new Promise((resolve) => opens.push((volumeId) => resolve(clusterOn(volumeId)))),
    reserve: async () => () => undefined,
    onReady: () => undefined,
    onAcquired: async () => undefined,
    onStarted: () => undefined,
    onWritten: () => undefined,
    onUnexpectedExit: () => undefined,
  });
  const opened = async (volumeId: string) => {
    await expect.poll(() => opens.length).toBe(1);
    opens.pop()?.(volumeId);
  };
  return { host, stopped, opens, opened, outdated };
}

test("while an engine starts on new data, it does not count as that of the former volume", async () => {
  const { host, stopped, opens, opened } = hostOf(testDirectory());
  const first = host.acquire();
  expect(host.volumeId).toBeUndefined();
  await opened("former");
  await first;
  expect(host.volumeId).toBe("former");
  await host.stop();
  expect([host.volumeId, stopped]).toEqual(["former", ["former"]]);
  const second = host.acquire();
  await expect.poll(() => opens.length).toBe(1);
  // The former volume is removed now, and its engine would be stopped.
  expect(host.volumeId).toBeUndefined();
  await opened("new");
  await second;
  expect([host.volumeId, host.isRunning, stopped]).toEqual(["new", true, ["former"]]);
});

test("an engine without sessions ends after 60 s, and the next session starts it again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { host, stopped, opens } = hostOf(testDirectory());
  const session = async () => {
    const acquired = host.acquire();
    await vi.waitFor(() => {
      if (!host.isRunning || opens.length === 0) throw new Error("not opened yet");
    });
    opens.pop()?.("data");
    await acquired;
  };
  await session();
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect([host.isRunning, stopped]).toEqual([true, []]);
  host.release();
  await vi.advanceTimersByTimeAsync(59_999);
  // A session meanwhile begins the 60 s anew.
  await host.acquire();
  host.release();
  await vi.advanceTimersByTimeAsync(59_999);
  expect([host.isRunning, stopped]).toEqual([true, []]);
  await vi.advanceTimersByTimeAsync(1);
  expect(host.isRunning).toBe(false);
  await vi.waitFor(() => expect(stopped).toEqual(["data"]));
  await session();
  expect(host.isRunning).toBe(true);
});

test("an engine that was started ahead is that of the session, unless it would be started otherwise by then", async () => {
  const { host, stopped, opened } = hostOf(testDirectory());
  const ahead = host.startAhead(async () => true);
  await opened("data");
  await ahead;
  await host.acquire();
  expect([host.volumeId, stopped]).toEqual(["data", []]);
});

test("an engine that was started ahead on what is outdated now is started again, once for all sessions", async () => {
  const { host, stopped, opens, opened, outdated } = hostOf(testDirectory());
  const ahead = host.startAhead(async () => true);
  await opened("data");
  await ahead;
  outdated.add("data");
  const sessions = [host.acquire(), host.acquire()];
  await opened("newer");
  await Promise.all(sessions);
  // Once it has a session, only a restart of the compute ends it.
  outdated.add("newer");
  await host.acquire();
  expect([host.volumeId, host.isRunning, stopped, opens]).toEqual(["newer", true, ["data"], []]);
});

test("an engine that was started ahead stops at once if its compute has failed before it could be stopped", async () => {
  const { host, stopped, opened } = hostOf(testDirectory());
  const ahead = host.startAhead(async () => false);
  // The failure: no engine runs yet.
  await host.stop();
  await opened("data");
  await ahead;
  expect([host.isRunning, stopped]).toEqual([false, ["data"]]);
});

test("an engine that was started ahead serves a session that came meanwhile, whatever its first client does", async () => {
  const { host, stopped, opened } = hostOf(testDirectory());
  const ahead = host.startAhead(async () => false);
  const session = host.acquire();
  await opened("data");
  await Promise.all([ahead, session]);
  expect([host.isRunning, stopped]).toEqual([true, []]);
});
