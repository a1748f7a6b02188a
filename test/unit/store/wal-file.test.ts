import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  cutWal,
  findWalDamage,
  makeWalDurable,
  WalScan,
  walPath,
} from "../../../src/store/journal/wal-file.ts";
import { testDirectory } from "../../support/store/world-files.ts";

const PAGE_BYTES = 512;
const FRAME_BYTES = 24 + PAGE_BYTES;
const offsetOf = (frame: number) => 32 + frame * FRAME_BYTES;

/** An open database whose log is empty. Each update is one frame, which commits it. */
function createDatabase() {
  const path = join(testDirectory(), "some.sqlite");
  const sqlite = new BetterSqlite3(path);
  onTestFinished(() => void sqlite.close());
  sqlite.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`);
  sqlite.exec("CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (0)");
  sqlite.pragma("wal_checkpoint(TRUNCATE)");
  const update = sqlite.prepare("UPDATE counter SET value = value + 1");
  const commit = (count: number) => {
    for (let index = 0; index < count; index += 1) update.run();
  };
  return { path, sqlite, commit };
}

/** A copy of a database with a log of so many commits, which no connection has open. */
function writtenLog(commits: number): string {
  const { path, commit } = createDatabase();
  commit(commits);
  const copy = `${path}-copy`;
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
  expect(statSync(walPath(copy)).size).toBe(offsetOf(commits));
  return copy;
}

/** The counter, as another program reads it. */
function valueIn(path: string): unknown {
  const sqlite = new BetterSqlite3(path, { readonly: true });
  try {
    return sqlite.prepare("SELECT value FROM counter").pluck().get();
  } finally {
    sqlite.close();
  }
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

function damage(path: string, ...frames: readonly number[]): void {
  for (const frame of frames) flipByte(walPath(path), offsetOf(frame) + 100);
}

/** Sets the time of the last write to 1970. */
function markUnwritten(path: string): void {
  utimesSync(walPath(path), 1, 1);
}

function isUnwritten(path: string): boolean {
  return statSync(walPath(path)).mtimeMs === 1_000;
}

/** Rewrites the header of a log, and its checksums: those of a machine of the other order of bytes, if it says so. */
function rewriteHeader(path: string, { magic = 0x377f0682, version = 3_007_000 }): void {
  const bytes = readFileSync(walPath(path));
  bytes.writeUInt32BE(magic, 0);
  bytes.writeUInt32BE(version, 4);
  let [s0, s1] = [0, 0];
  const read = (at: number) => (magic % 2 === 1 ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  const add = (from: number, to: number) => {
    for (let at = from; at < to; at += 8) {
      s0 = (s0 + read(at) + s1) >>> 0;
      s1 = (s1 + read(at + 4) + s0) >>> 0;
    }
  };
  const store = (at: number) => {
    bytes.writeUInt32BE(s0, at);
    bytes.writeUInt32BE(s1, at + 4);
  };
  add(0, 24);
  store(24);
  for (let at = 32; at < bytes.length; at += FRAME_BYTES) {
    add(at, at + 8);
    add(at + 24, at + FRAME_BYTES);
    store(at + 16);
  }
  writeFileSync(walPath(path), bytes);
}

describe("the commits after a damaged frame", () => {
  test("are lost if at least one of them was followed by another one", () => {
    for (const [commits, damaged, unreadable] of [
      [5, 2, 2],
      [5, 1, 3],
      [9, 0, 8],
      [5, 3, undefined],
      [5, 4, undefined],
    ] as const) {
      const path = writtenLog(commits);
      damage(path, damaged);
      expect(findWalDamage(path)).toEqual(
        unreadable && { atByte: offsetOf(damaged), unreadableCommits: unreadable },
      );
      expect(valueIn(path)).toBe(damaged);
    }
  });

  test("are those after the first of several damaged frames", () => {
    const path = writtenLog(9);
    damage(path, 2, 5);
    // A frame continues the checksum that the one before it states, even if that one is damaged.
    expect(findWalDamage(path)).toEqual({ atByte: offsetOf(2), unreadableCommits: 5 });
  });

  test("are found far behind the beginning of the log", () => {
    const path = writtenLog(2_200);
    expect(statSync(walPath(path)).size).toBeGreaterThan(2 ** 20);
    expect(findWalDamage(path)).toBeUndefined();
    damage(path, 2_100);
    expect(findWalDamage(path)).toEqual({ atByte: offsetOf(2_100), unreadableCommits: 99 });
  });

  test.each([1, 31, 32, 33, FRAME_BYTES, 10_000])(
    "are the same in a log that is read %i bytes at a time",
    (portion) => {
      const path = writtenLog(9);
      damage(path, 2, 5);
      const bytes = readFileSync(walPath(path));
      const scan = new WalScan();
      for (let from = 0; from < bytes.length; from += portion) scan.add(bytes.subarray(from, from + portion));
      expect(scan.damage).toEqual({ atByte: offsetOf(2), unreadableCommits: 5 });
    },
  );

  test("are found in a log of a machine with the other order of bytes", () => {
    const path = writtenLog(6);
    for (const magic of [0x377f0683, 0x377f0682]) {
      rewriteHeader(path, { magic });
      expect(findWalDamage(path)).toBeUndefined();
      expect(valueIn(path)).toBe(6);
    }
    rewriteHeader(path, { magic: 0x377f0683 });
    damage(path, 2);
    expect(findWalDamage(path)).toEqual({ atByte: offsetOf(2), unreadableCommits: 3 });
    expect(valueIn(path)).toBe(2);
  });

  test("are not looked for in a log of another format, or whose header is damaged", () => {
    for (const change of [
      (path: string) => rewriteHeader(path, { magic: 0x377f0684 }),
      (path: string) => rewriteHeader(path, { version: 3_007_001 }),
      ...[0, 4, 8, 16, 24].map((at) => (path: string) => flipByte(walPath(path), at)),
      (path: string) => truncateSync(walPath(path), 31),
    ]) {
      const path = writtenLog(6);
      change(path);
      if (statSync(walPath(path)).size > 32) damage(path, 2);
      expect(findWalDamage(path)).toBeUndefined();
    }
  });

  test.each([
    ["the page number", 0, 3],
    ["the salt", 8, 3],
    // The next frame continues the damaged checksum, so it is not known to be intact.
    ["the checksum", 16, 2],
    ["the data", 24, 3],
  ])("are lost whatever is damaged: %s", (_, within, unreadableCommits) => {
    const path = writtenLog(6);
    flipByte(walPath(path), offsetOf(2) + within);
    expect(findWalDamage(path)).toEqual({ atByte: offsetOf(2), unreadableCommits });
  });

  test("may have several frames", () => {
    const { path, sqlite, commit } = createDatabase();
    sqlite.exec("CREATE TABLE large (value BLOB)");
    commit(1);
    const first = (statSync(walPath(path)).size - 32) / FRAME_BYTES;
    for (let index = 0; index < 3; index += 1) sqlite.exec("INSERT INTO large VALUES (zeroblob(5000))");
    expect(statSync(walPath(path)).size).toBeGreaterThan(offsetOf(first + 30));
    const copy = `${path}-copy`;
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
    damage(copy, first - 1);
    expect(findWalDamage(copy)).toEqual({ atByte: offsetOf(first - 1), unreadableCommits: 3 });
    damage(copy, first);
    expect(findWalDamage(copy)).toEqual({ atByte: offsetOf(first - 1), unreadableCommits: 3 });
  });

  test("do not include a transaction that was not committed, or a frame that is not complete", () => {
    const path = writtenLog(5);
    damage(path, 1);
    truncateSync(walPath(path), offsetOf(5) - 1);
    expect(findWalDamage(path)).toEqual({ atByte: offsetOf(1), unreadableCommits: 2 });
  });

  test("are not those of the log before it was restarted", () => {
    const { path, sqlite, commit } = createDatabase();
    commit(9);
    sqlite.pragma("wal_checkpoint(RESTART)");
    commit(2);
    expect(statSync(walPath(path)).size).toBe(offsetOf(9));
    expect(findWalDamage(path)).toBeUndefined();
  });

  test("are not looked for without a log, and in a log without frames", () => {
    const { path, sqlite } = createDatabase();
    expect(findWalDamage(path)).toBeUndefined();
    sqlite.close();
    expect(existsSync(walPath(path))).toBe(false);
    expect(findWalDamage(path)).toBeUndefined();
  });
});

describe("cutting the log after a failed commit", () => {
  test("removes what follows the last commit, and nothing else", () => {
    const { path, sqlite, commit } = createDatabase();
    const cut = cutWal(sqlite);
    commit(3);
    const log = readFileSync(walPath(path));
    appendFileSync(walPath(path), log.subarray(32, offsetOf(2)));
    cut();
    expect(readFileSync(walPath(path)).equals(log)).toBe(true);
    commit(1);
    expect(valueIn(path)).toBe(4);
    expect(findWalDamage(path)).toBeUndefined();
  });

  test("empties a log without a commit", () => {
    const { path, sqlite } = createDatabase();
    const cut = cutWal(sqlite);
    appendFileSync(walPath(path), Buffer.alloc(5_000, 1));
    cut();
    expect(statSync(walPath(path)).size).toBe(0);
    expect(valueIn(path)).toBe(0);
  });

  test("does not write a log that ends there", () => {
    const { path, sqlite, commit } = createDatabase();
    const cut = cutWal(sqlite);
    commit(2);
    markUnwritten(path);
    cut();
    expect(isUnwritten(path)).toBe(true);
  });

  test("is an error if there is no log", () => {
    const sqlite = new BetterSqlite3(join(testDirectory(), "some.sqlite"));
    onTestFinished(() => void sqlite.close());
    expect(cutWal(sqlite)).toThrow("the database has no write-ahead log");
    const { path, sqlite: removed, commit } = createDatabase();
    const cut = cutWal(removed);
    commit(1);
    rmSync(walPath(path));
    expect(cut).toThrow("ENOENT");
  });
});

describe("making a log durable again", () => {
  test.each([1, 3_000])("writes the same bytes: %i commits", (commits) => {
    const path = writtenLog(commits);
    const bytes = readFileSync(walPath(path));
    markUnwritten(path);
    makeWalDurable(path);
    expect(readFileSync(walPath(path)).equals(bytes)).toBe(true);
    expect(isUnwritten(path)).toBe(false);
    expect(valueIn(path)).toBe(commits);
  });

  test("creates and changes nothing without a log, or with an empty one", () => {
    const path = join(testDirectory(), "none.sqlite");
    makeWalDurable(path);
    expect(existsSync(walPath(path))).toBe(false);
    writeFileSync(walPath(path), "");
    markUnwritten(path);
    makeWalDurable(path);
    expect(isUnwritten(path)).toBe(true);
  });
});
