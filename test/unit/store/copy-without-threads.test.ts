import path from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../support/process/process.ts";

let openCopyWriter: typeof import("../../../src/store/file/open-copy-writer.ts").openCopyWriter;
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
  ({ openCopyWriter } = await import("../../../src/store/file/open-copy-writer.ts"));
});
afterAll(() => {
  vi.doUnmock("node:worker_threads");
  vi.resetModules();
});

test("a large copy is written in steps if Node does not permit threads", async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory.path, "copy.sqlite");
  const sqlite = new BetterSqlite3(file);
  sqlite.exec("CREATE TABLE numbers (number INTEGER, checksum INTEGER)");
  try {
    const writer = openCopyWriter(file, 0);
    await writer.runChecked("INSERT INTO numbers VALUES (?, ?)", "[1]\n[2]");
    await writer.commit();
    expect(sqlite.prepare("SELECT number FROM numbers").pluck().all()).toEqual([1, 2]);
  } finally {
    sqlite.close();
    directory.remove();
  }
});
