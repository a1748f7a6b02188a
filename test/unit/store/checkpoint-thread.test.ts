import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../support/process/process.ts";

/** Begins each checkpoint and then ends, as a thread that runs out of memory does. */
const DYING = `
const { parentPort, workerData } = require("node:worker_threads");
parentPort.on("message", ({ state }) => {
  Atomics.store(state, 0, 1);
  Atomics.store(workerData, 0, 1);
  Atomics.notify(workerData, 0);
  process.exit();
});
`;
const begun = new Int32Array(new SharedArrayBuffer(4));
const LONGEST_WAIT_MS = 30_000;

let requestCheckpoints: typeof import("../../../src/store/file/checkpoint-thread.ts").requestCheckpoints;
// Other files of the same process have loaded the module with the real threads.
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("node:worker_threads", async (original) => {
    const threads = await original<typeof import("node:worker_threads")>();
    class Worker extends threads.Worker {
      constructor(_: string, options: import("node:worker_threads").WorkerOptions) {
        super(DYING, { ...options, workerData: begun });
      }
    }
    return { ...threads, Worker };
  });
  ({ requestCheckpoints } = await import("../../../src/store/file/checkpoint-thread.ts"));
});
afterAll(() => {
  vi.doUnmock("node:worker_threads");
  vi.resetModules();
});

test("a write goes on when the thread of a checkpoint has died, whether this thread waits for it or not", async () => {
  const directory = temporaryDirectory();
  const checkpoints = requestCheckpoints(path.join(directory.path, "world.db"), undefined, 300);
  try {
    const first = checkpoints.request();
    await first?.ended;
    expect(first?.end()).toBe(true);

    Atomics.store(begun, 0, 0);
    const second = checkpoints.request();
    // The news of its end cannot arrive meanwhile.
    expect(Atomics.wait(begun, 0, 0, LONGEST_WAIT_MS)).not.toBe("timed-out");
    expect(second?.end()).toBe(true);
    await second?.ended;

    const third = checkpoints.request();
    expect(third).toBeDefined();
    await third?.ended;
  } finally {
    checkpoints.release();
    directory.remove();
  }
});
