import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { copyOf, inMemory, MIGRATIONS } from "../../support/store/world-files.ts";

const files = worldFiles();
let completeCopyAside: typeof import("../../../src/worlds/copies/copy-thread.ts").completeCopyAside;
// Other files of the same process have loaded the module with threads.
beforeAll(async () => {
  vi.resetModules();
  vi.doMock("node:worker_threads", async (original) => {
    class Worker {
      constructor() {
        throw new Error("Access to this API has been restricted");
      }
    }
    return { ...(await original<typeof import("node:worker_threads")>()), Worker };
  });
  ({ completeCopyAside } = await import("../../../src/worlds/copies/copy-thread.ts"));
});
afterAll(() => {
  vi.doUnmock("node:worker_threads");
  vi.resetModules();
});

test("a large copy is completed in this thread if Node does not permit threads", async () => {
  const path = copyOf(files.complete);
  const rewindTo = { seq: files.first, at: files.simulated.events[files.first - 1]?.at ?? 0 };
  const divergence = { historyId: "fork", originWorld: "default", clock: { wallNow: 5_000 }, rewindTo };
  expect(
    await completeCopyAside({ path, migrationsFolder: MIGRATIONS, divergence }, { fromBytes: 0 }),
  ).toEqual({
    ok: true,
  });
  expect(await verifyFile(inMemory(path), async () => undefined)).toMatchObject({
    ok: true,
    to: files.first,
  });
});
