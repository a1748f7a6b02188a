import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import BetterSqlite3 from "better-sqlite3";
import { beforeAll, expect, test } from "vitest";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { completeCopyAside } from "../../../src/worlds/copies/copy-thread.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { bundleThreadScript } from "../../support/store/thread-script.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { copyOf, inDatabase, inMemory, MIGRATIONS } from "../../support/store/world-files.ts";

const files = worldFiles();
let scripts: { complete: URL; noSqlite: URL; ends: URL };

beforeAll(async () => {
  const directory = temporaryDirectory();
  const bundle = (name: string, code: string) => bundleThreadScript(join(directory.path, name), code);
  scripts = {
    complete: await bundle(
      "complete",
      `import { copyJob } from "./src/worlds/copies/copy-worker.ts"; await copyJob();`,
    ),
    noSqlite: await bundle(
      "no-sqlite",
      `import { createRequire } from "node:module";
       import { copyJob } from "./src/worlds/copies/copy-worker.ts";
       process.dlopen = () => { throw Object.assign(new Error("not for threads"), { code: "ERR_DLOPEN_FAILED" }); };
       await copyJob();`,
    ),
    ends: await bundle(
      "ends",
      `import { parentPort } from "node:worker_threads"; parentPort.postMessage({ hasBegun: true }); setTimeout(() => process.exit(), 10);`,
    ),
  };
  return () => directory.remove();
});

/** Completes a copy of a file as of an event: in a thread if `script` is given. */
async function completed(
  seq: number,
  script?: URL,
  change: (sqlite: BetterSqlite3.Database) => void = () => undefined,
  seed?: number,
) {
  const path = copyOf(files.complete);
  inDatabase(path, change);
  const result = await completeCopyAside(
    {
      path,
      migrationsFolder: MIGRATIONS,
      divergence: {
        historyId: "fork",
        originWorld: "default",
        clock: { wallNow: 5_000 },
        rewindTo: { seq, at: files.simulated.events[seq - 1]?.at ?? 0 },
      },
      seed,
    },
    script === undefined ? { fromBytes: Number.POSITIVE_INFINITY } : { fromBytes: 0, script },
  );
  return { path, result };
}

/** All rows of all tables, as SQLite stores them. */
function dump(file: string): unknown {
  const sqlite = inMemory(file);
  const names = sqlite
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .pluck()
    .all();
  return names.map((name) => [name, sqlite.prepare(`SELECT rowid, * FROM "${name}" ORDER BY 1`).all()]);
}

test("a thread completes a copy as this thread does, and leaves one file", async () => {
  const seqs = inMemory(files.complete)
    .prepare<[], number>("SELECT max(seq) FROM events GROUP BY decision ORDER BY 1")
    .pluck()
    .all();
  for (const [index, seq] of seqs.filter((_, index) => index % 4 === 0).entries()) {
    const seed = index % 2 === 0 ? undefined : 7;
    const here = await completed(seq, undefined, undefined, seed);
    const inThread = await completed(seq, scripts.complete, undefined, seed);
    expect(inThread.result).toEqual({ ok: true });
    expect(dump(inThread.path)).toEqual(dump(here.path));
    expect(inMemory(inThread.path).pragma("integrity_check", { simple: true })).toBe("ok");
    expect(existsSync(`${inThread.path}-wal`)).toBe(false);
    expect(await verifyFile(inMemory(inThread.path), async () => undefined)).toMatchObject({
      ok: true,
      differences: [],
    });
  }
});

test("a copy that cannot be written fails with the same error in a thread", async () => {
  const noComputes = (sqlite: BetterSqlite3.Database) => sqlite.exec("DROP TABLE computes");
  for (const script of [undefined, scripts.complete]) {
    const failed = completed(files.first, script, noComputes);
    await expect(failed).rejects.toThrow(BetterSqlite3.SqliteError);
    await expect(failed).rejects.toMatchObject({
      code: "SQLITE_ERROR",
      message: "no such table: computes",
    });
  }
});

test("a damaged copy fails with the same error in a thread", async () => {
  const noEvent = (sqlite: BetterSqlite3.Database) =>
    sqlite.prepare("DELETE FROM events WHERE seq = ?").run(files.first);
  for (const script of [undefined, scripts.complete])
    await expect(completed(files.first, script, noEvent)).rejects.toEqual(
      new CorruptFile(`event ${files.first} is missing`),
    );
});

test("a thread that has no script, or cannot load SQLite, leaves the copy to this thread", async () => {
  const here = await completed(files.first);
  for (const script of [pathToFileURL("/nowhere/copy-worker.js"), scripts.noSqlite])
    expect(dump((await completed(files.first, script)).path)).toEqual(dump(here.path));
});

test("a thread that ends before it is done fails the copy", async () => {
  await expect(completed(files.first, scripts.ends)).rejects.toThrow(
    "the thread that completes the copy has ended",
  );
});

test("a small copy, and one of the present, need no thread", async () => {
  const path = copyOf(files.complete);
  const divergence = { historyId: "fork", originWorld: "default", clock: { wallNow: 5_000 } };
  const copy = { path, migrationsFolder: MIGRATIONS, divergence };
  expect(await completeCopyAside(copy, { fromBytes: 0, script: scripts.ends })).toEqual({ ok: true });
  const past = { ...copy, divergence: { ...divergence, rewindTo: { seq: files.first, at: 0 } } };
  expect(await completeCopyAside(past, { script: scripts.ends })).toEqual({ ok: true });
});
