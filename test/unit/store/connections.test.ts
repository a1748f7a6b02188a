import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type BetterSqlite3 from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkSchema } from "../../../src/store/file/check-schema.ts";
import { isPinned, whilePinned } from "../../../src/store/file/copy.ts";
import { HeadMark } from "../../../src/store/file/head-mark.ts";
import { readLoadedWorld } from "../../../src/store/file/loaded-world.ts";
import { findLosses } from "../../../src/store/file/lost-changes.ts";
import { openForReading, vacuumCopy } from "../../../src/store/file/open-read-only.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { redactSecrets } from "../../../src/store/file/redact-secrets.ts";
import {
  checkpoint,
  checkpointAndClose,
  checkpointWal,
  connect,
  connectReadOnly,
  removeEmptyWal,
} from "../../../src/store/file/sqlite-connection.ts";
import { upgradeFile } from "../../../src/store/file/upgrade.ts";
import { finalizeSnapshot, readBranchData, readFileInfo } from "../../../src/store/file/world-snapshot.ts";
import { cutWal, findWalDamage, makeWalDurable } from "../../../src/store/journal/wal-file.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { copyOf, MIGRATIONS, OPTIONS, testDirectory } from "../../support/store/world-files.ts";

const files = worldFiles();

type Sqlite = BetterSqlite3.Database;
const pragma = (sqlite: Sqlite, name: string) => sqlite.pragma(name, { simple: true });
const seqIn = (sqlite: Sqlite) => sqlite.prepare("SELECT seq FROM world").pluck().get();
const setSeq = (sqlite: Sqlite, seq: number) => sqlite.prepare("UPDATE world SET seq = ?").run(seq);
const walBytes = (path: string) => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

function opened<T extends Sqlite>(sqlite: T): T {
  onTestFinished(() => void sqlite.close());
  return sqlite;
}

describe("a connection", () => {
  test("makes each commit durable, blocks no reader, and trusts no function of the file", () => {
    const sqlite = opened(connect(copyOf(files.complete)));
    expect(pragma(sqlite, "synchronous")).toBe(2);
    expect(pragma(sqlite, "journal_mode")).toBe("wal");
    expect(pragma(sqlite, "trusted_schema")).toBe(0);
    expect(pragma(sqlite, "secure_delete")).toBe(2);
    expect(pragma(sqlite, "wal_autocheckpoint")).toBeGreaterThan(0);
    expect(pragma(sqlite, "busy_timeout")).toBe(100);
  });

  test("leaves the log to a replicator, and waits longer for it", () => {
    const sqlite = opened(connect(copyOf(files.complete), true));
    expect(pragma(sqlite, "wal_autocheckpoint")).toBe(0);
    expect(pragma(sqlite, "busy_timeout")).toBe(5_000);
  });

  test("for reading sees the file as of its first read, and cannot write", () => {
    const path = copyOf(files.complete);
    const writer = opened(connect(path));
    const reader = opened(connectReadOnly(path));
    expect([pragma(reader, "trusted_schema"), pragma(reader, "busy_timeout")]).toEqual([0, 100]);
    expect(seqIn(reader)).toBe(files.head);
    setSeq(writer, 7);
    expect(seqIn(reader)).toBe(files.head);
    expect(() => setSeq(reader, 8)).toThrow("attempt to write a readonly database");
    reader.exec("ROLLBACK");
    expect(seqIn(reader)).toBe(7);
  });

  test("to a file that is no database is an error, and leaves it unlocked", () => {
    const path = join(testDirectory(), "text.sqlite");
    writeFileSync(path, "no database ".repeat(100));
    expect(() => connect(path)).toThrow("file is not a database");
    expect(() => connectReadOnly(join(testDirectory(), "missing.sqlite"))).toThrow(
      "unable to open database file",
    );
  });
});

describe("the log", () => {
  /** A file with a commit in its log, and its connection. */
  function written() {
    const path = copyOf(files.complete);
    const sqlite = opened(connect(path));
    setSeq(sqlite, 7);
    expect(walBytes(path)).toBeGreaterThan(0);
    return { path, sqlite };
  }

  /** Another program that reads the file as it was before the next commit. */
  function readerOf(path: string): Sqlite {
    const reader = opened(connectReadOnly(path));
    seqIn(reader);
    return reader;
  }

  test("is merged when the file is closed, which is then a single file", () => {
    const { path, sqlite } = written();
    checkpointAndClose(sqlite);
    expect(sqlite.open).toBe(false);
    for (const suffix of ["-wal", "-shm"]) expect(existsSync(path + suffix)).toBe(false);
  });

  test("stays when the file is closed while another program reads it", () => {
    const { path, sqlite } = written();
    const reader = readerOf(path);
    setSeq(sqlite, 8);
    checkpointAndClose(sqlite);
    expect(sqlite.open).toBe(false);
    expect(walBytes(path)).toBeGreaterThan(0);
    reader.close();
    expect(seqIn(opened(connect(path)))).toBe(8);
  });

  test("is merged into the file unless a reader prevents it", () => {
    const { path, sqlite } = written();
    const reader = readerOf(path);
    setSeq(sqlite, 8);
    expect(checkpoint(sqlite)).toBe(false);
    reader.close();
    expect(checkpoint(sqlite)).toBe(true);
    expect(walBytes(path)).toBe(0);
  });

  test("is merged and removed before the file is replaced, or that is an error", () => {
    const { path, sqlite } = written();
    const reader = readerOf(path);
    setSeq(sqlite, 8);
    sqlite.close();
    expect(() => checkpointWal(path)).toThrow(
      `${path} is being read by another program, or its disk is full; try again later`,
    );
    reader.close();
    checkpointWal(path);
    for (const suffix of ["-wal", "-shm"]) expect(existsSync(path + suffix)).toBe(false);
    expect(seqIn(opened(connectReadOnly(path)))).toBe(8);
  });

  test("is removed only if it is empty", () => {
    const path = join(testDirectory(), "world.sqlite");
    expect(removeEmptyWal(path)).toBe(true);
    writeFileSync(`${path}-wal`, "x");
    writeFileSync(`${path}-shm`, "x");
    expect(removeEmptyWal(path)).toBe(false);
    expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([true, true]);
    writeFileSync(`${path}-wal`, "");
    expect(removeEmptyWal(path)).toBe(true);
    expect([existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([false, false]);
  });
});

describe("work that pins a file", () => {
  test("runs one after the other, also after one that failed", async () => {
    const path = copyOf(files.complete);
    const sqlite = opened(connect(path));
    const steps: string[] = [];
    const work = (name: string, fails = false) =>
      whilePinned(sqlite, path, pinOptions(false), async () => {
        steps.push(`${name} begins`);
        expect(isPinned(sqlite)).toBe(true);
        await new Promise((resolve) => setImmediate(resolve));
        steps.push(`${name} ends`);
        if (fails) throw new Error("failed");
        return name;
      });
    const results = await Promise.allSettled([work("one", true), work("two"), work("three")]);
    expect(results.map((result) => ("value" in result ? result.value : result.reason.message))).toEqual([
      ...["failed", "two", "three"],
    ]);
    expect(steps).toEqual(["one", "two", "three"].flatMap((name) => [`${name} begins`, `${name} ends`]));
    expect(isPinned(sqlite)).toBe(false);
    expect(checkpoint(sqlite)).toBe(true);
  });

  test("keeps the file as it is, with all commits from before", async () => {
    const path = copyOf(files.complete);
    const sqlite = opened(connect(path));
    setSeq(sqlite, 7);
    await whilePinned(sqlite, path, pinOptions(false), async () => {
      expect(walBytes(path)).toBe(0);
      setSeq(sqlite, 8);
      expect(checkpoint(sqlite)).toBe(false);
      expect(seqIn(opened(connectReadOnly(copyOf(path))))).toBe(7);
    });
  });

  test("is an error after the file was closed, and while another program reads it", async () => {
    const path = copyOf(files.complete);
    const sqlite = opened(connect(path));
    const reader = opened(connectReadOnly(path));
    seqIn(reader);
    setSeq(sqlite, 7);
    const pin = () => whilePinned(sqlite, path, pinOptions(false), async () => undefined);
    await expect(pin()).rejects.toThrow(
      "another program is reading the world's file; try again when it has finished",
    );
    // A log that another program checkpoints is left alone.
    await whilePinned(sqlite, path, pinOptions(true), async () => expect(walBytes(path)).toBeGreaterThan(0));
    sqlite.close();
    await expect(pin()).rejects.toThrow("the world was closed before it could be copied");
    expect(isPinned(sqlite)).toBe(false);
  });
});

test("what reads or writes a file that is not open leaves no descriptor behind", async ({ skip }) => {
  if (!existsSync("/proc/self/fd")) return skip();
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const path = copyOf(files.complete);
  const work = async () => {
    readFileInfo(path);
    readBranchData(path);
    finalizeSnapshot(path);
    const mark = new HeadMark(path);
    mark.write({ historyId: "other", seq: 1, chain: 1, now: 1 });
    mark.close();
    findLosses(path);
    await readLoadedWorld(path, async () => undefined);
    vacuumCopy(path, join(testDirectory(), "copy.sqlite"));
    openForReading(path, MIGRATIONS).close();
    checkSchema(path, MIGRATIONS);
    const { journal, copyTo, close } = openStore(path, { ...OPTIONS, marksHead: true });
    journal.clearRequests();
    await copyTo(join(testDirectory(), "copy.sqlite"));
    close();
    const sqlite = connect(path);
    setSeq(sqlite, files.head);
    makeWalDurable(path);
    findWalDamage(path);
    cutWal(sqlite)();
    checkpointAndClose(sqlite);
    redactSecrets(path, OPTIONS);
    const old = copyOf("test/replay/fixtures/0.4.0/world.sqlite");
    upgradeFile(old, MIGRATIONS, `${old}-before`);
    expect(() => openStore(`${old}-none/world.sqlite`, OPTIONS)).toThrow("ENOENT");
  };
  await work();
  const before = openFiles();
  const rounds = 4;
  for (let round = 0; round < rounds; round += 1) await work();
  // Whatever is left behind is left behind in each round.
  expect(openFiles() - before).toBeLessThan(rounds);
});

function pinOptions(leavesLog: boolean) {
  return { leavesLog, settle: () => undefined };
}
