import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { emptyWorld } from "../../../src/platform/core/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { checkSchema } from "../../../src/store/file/check-schema.ts";
import { HeadMark, headMarkPath, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { checkForLoss, findLosses, preserveDamagedWal } from "../../../src/store/file/lost-changes.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { findWalDamage, WalScan, walPath } from "../../../src/store/file/wal-file.ts";
import { checkpointOf, eventOf, rowOf, verifyChain } from "../../../src/store/journal/event-rows.ts";
import { isFileFailure, isIoFailure } from "../../../src/store/journal/file-failure.ts";
import {
  asCorruptFile,
  CorruptFile,
  chainChecksum,
  checksumOf,
} from "../../../src/store/journal/journal-checksum.ts";
import { readHistoryRow, writeHistoryRow } from "../../../src/store/journal/journal-row.ts";
import {
  markVersion,
  NewerFile,
  NotAWorldFile,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "../../../src/store/tables/format-version.ts";
import { temporaryDirectory } from "../../support/process.ts";
import { worldWithProject } from "../../support/rule-worlds.ts";
import { START } from "../../support/rules.ts";
import { SimulatedWorld } from "../../support/simulated-world.ts";

const MIGRATIONS = "migrations";
const PAGE_BYTES = 4_096;
const FRAME_BYTES = 24 + PAGE_BYTES;

function directory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

const templates = temporaryDirectory();
const template = join(templates.path, "world.sqlite");
const emptyTemplate = join(templates.path, "empty.sqlite");

/** Writes a world with one commit for each event of a new project. Copies its file, its log and its mark as they are. */
beforeAll(() => {
  const path = join(templates.path, "open.sqlite");
  const store = openStore(path, { migrationsFolder: MIGRATIONS, marksHead: true });
  const { settings, numbers } = emptyWorld();
  for (const [index, event] of new SimulatedWorld(worldWithProject()).events.entries())
    store.journal.write({
      events: [{ ...event, decision: event.seq }],
      changes: [],
      settings: { ...settings, startAt: START },
      numbers,
      clock: { mode: "manual", factor: 0, simAnchor: event.at, wallAnchor: 0 },
      now: event.at + index,
    });
  for (const suffix of ["", "-wal", "-head"]) copyFileSync(`${path}${suffix}`, `${template}${suffix}`);
  store.close();
  openStore(emptyTemplate, { migrationsFolder: MIGRATIONS }).close();
});
afterAll(templates.remove);

function writtenWorld(): { path: string; head: { seq: number; chain: number } } {
  const path = join(directory(), "copy.sqlite");
  for (const suffix of ["", "-wal", "-head"]) copyFileSync(`${template}${suffix}`, `${path}${suffix}`);
  const mark = readHeadMark(path);
  return { path, head: { seq: mark?.seq ?? 0, chain: mark?.chain ?? 0 } };
}

function emptyFile(): string {
  const path = join(directory(), "world.sqlite");
  copyFileSync(emptyTemplate, path);
  return path;
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 0xff;
  writeFileSync(path, bytes);
}

function inDatabase<T>(path: string, work: (sqlite: BetterSqlite3.Database) => T): T {
  const sqlite = new BetterSqlite3(path);
  try {
    return work(sqlite);
  } finally {
    sqlite.close();
  }
}

describe("the mark of the head", () => {
  const head = (seq: number) => ({ historyId: "h", seq, chain: seq * 7, now: seq * 11 });
  const marked = (...seqs: readonly number[]) => {
    const path = join(directory(), "world.sqlite");
    const mark = new HeadMark(path);
    for (const seq of seqs) mark.write(head(seq));
    mark.sync();
    mark.close();
    return path;
  };

  test("is the last one that was written", () => {
    const path = marked(1, 2, 3);
    expect(headMarkPath(path)).toBe(`${path}-head`);
    expect(readHeadMark(path)).toEqual({ number: 3, ...head(3) });
    expect(readFileSync(headMarkPath(path))).toHaveLength(1_024);
  });

  test("is the one before if the last one is damaged", () => {
    const path = marked(1, 2, 3);
    // Odd numbers are in the second slot.
    flipByte(headMarkPath(path), 512 + 5);
    expect(readHeadMark(path)).toMatchObject({ seq: 2 });
    flipByte(headMarkPath(path), 5);
    expect(readHeadMark(path)).toBeUndefined();
  });

  test("is continued by the next process", () => {
    const path = marked(1, 2, 3);
    const mark = new HeadMark(path);
    mark.write(head(4));
    mark.close();
    expect(readHeadMark(path)).toMatchObject({ number: 4, seq: 4 });
    flipByte(headMarkPath(path), 5);
    expect(readHeadMark(path)).toMatchObject({ number: 3, seq: 3 });
  });

  test("is absent without a file, and in an empty one", () => {
    expect(readHeadMark(join(directory(), "world.sqlite"))).toBeUndefined();
    expect(readHeadMark(marked())).toBeUndefined();
  });

  test("that cannot be written does not fail the commit", () => {
    const mark = new HeadMark(join(directory(), "world.sqlite"));
    mark.close();
    expect(() => mark.write(head(1))).not.toThrow();
  });
});

describe("the write-ahead log", () => {
  test("without damage has none", () => {
    const { path } = writtenWorld();
    expect(readFileSync(walPath(path)).length).toBeGreaterThan(32 + 3 * FRAME_BYTES);
    expect(findWalDamage(path)).toBeUndefined();
    expect(findLosses(path)).toEqual([]);
    expect(() => checkForLoss(path)).not.toThrow();
    preserveDamagedWal(path, () => undefined);
    expect(existsSync(`${walPath(path)}.damaged`)).toBe(false);
  });

  test("without a file, or with a header that was never completed, has no damage", () => {
    const { path } = writtenWorld();
    truncateSync(walPath(path), 31);
    expect(findWalDamage(path)).toBeUndefined();
    expect(findWalDamage(join(directory(), "none.sqlite"))).toBeUndefined();
  });

  test.each([
    ["the data", 24 + 100],
    ["the header", 0],
    ["the salt", 8],
    ["the checksum", 16],
  ])("with %s of a frame damaged, states where, and that commits after it cannot be read", (_, within) => {
    const { path } = writtenWorld();
    const frames = (readFileSync(walPath(path)).length - 32) / FRAME_BYTES;
    const third = 32 + 2 * FRAME_BYTES;
    flipByte(walPath(path), third + within);
    const damage = findWalDamage(path);
    expect(damage?.atByte).toBe(third);
    expect(damage?.unreadableCommits).toBeGreaterThan(1);
    expect(damage?.unreadableCommits).toBeLessThan(frames);
    const [loss] = findLosses(path);
    expect(loss).toBe(
      `the write-ahead log copy.sqlite-wal is damaged at byte ${third}, and at least ${damage?.unreadableCommits} commits after it cannot be read`,
    );
    expect(() => checkForLoss(path)).toThrow(loss);
    preserveDamagedWal(path, () => undefined);
    expect(readFileSync(`${walPath(path)}.damaged`)).toEqual(readFileSync(walPath(path)));
  });

  test.each([1, 31, 32, 33, FRAME_BYTES, 100_000])(
    "has the same damage if it is read %i bytes at a time",
    (portion) => {
      const { path } = writtenWorld();
      flipByte(walPath(path), 32 + 2 * FRAME_BYTES + 100);
      const bytes = readFileSync(walPath(path)).subarray(0, 32 + 40 * FRAME_BYTES);
      const scan = new WalScan();
      for (let from = 0; from < bytes.length; from += portion) scan.add(bytes.subarray(from, from + portion));
      writeFileSync(walPath(path), bytes);
      expect(scan.damage).toEqual(findWalDamage(path));
      expect(scan.damage?.atByte).toBe(32 + 2 * FRAME_BYTES);
    },
  );

  test("with the last commit damaged has lost nothing that was synced", () => {
    const { path } = writtenWorld();
    const bytes = readFileSync(walPath(path)).length;
    flipByte(walPath(path), bytes - 100);
    expect(findWalDamage(path)).toBeUndefined();
  });

  test("of another format has no frames", () => {
    const { path } = writtenWorld();
    for (const at of [0, 4, 16, 24]) {
      flipByte(walPath(path), at);
      flipByte(walPath(path), 32 + 30);
      expect(findWalDamage(path)).toBeUndefined();
      flipByte(walPath(path), at);
      flipByte(walPath(path), 32 + 30);
    }
  });
});

describe("missing changes", () => {
  const markAs = (path: string, fields: object) => {
    const mark = new HeadMark(path);
    const { number: _, ...head } = { ...readHeadMark(path), number: 0 } as never as Parameters<
      HeadMark["write"]
    >[0] & {
      number: number;
    };
    mark.write({ ...head, ...fields });
    mark.close();
  };
  const log =
    "; the write-ahead log copy.sqlite-wal is lost or damaged, or copy.sqlite was replaced by an older file";

  test("are those between the end of the file and the mark", () => {
    const { path, head } = writtenWorld();
    markAs(path, { seq: head.seq + 3 });
    expect(findLosses(path)).toEqual([
      `the file ends at event ${head.seq}, but event ${head.seq + 3} was acknowledged, so 3 events are missing${log}`,
    ]);
  });

  test("are known by the clock, without an event", () => {
    const { path } = writtenWorld();
    const now = readHeadMark(path)?.now ?? 0;
    markAs(path, { now: now + 1 });
    expect(findLosses(path)).toEqual([
      `the file ends at ${new Date(now).toISOString()}, but its clock had reached ${new Date(now + 1).toISOString()}${log}`,
    ]);
  });

  test("are known by the chain", () => {
    const { path, head } = writtenWorld();
    markAs(path, { chain: head.chain + 1 });
    expect(findLosses(path)).toEqual([`event ${head.seq} is not the one that was acknowledged${log}`]);
  });

  test("are not known of another history, or without a mark", () => {
    const { path, head } = writtenWorld();
    markAs(path, { seq: head.seq + 3, historyId: "other" });
    expect(findLosses(path)).toEqual([]);
    const unmarked = writtenWorld().path;
    writeFileSync(headMarkPath(unmarked), "");
    expect(findLosses(unmarked)).toEqual([]);
  });

  test("are all, if the file is missing", () => {
    const { path, head } = writtenWorld();
    const moved = join(directory(), "moved.sqlite");
    copyFileSync(headMarkPath(path), headMarkPath(moved));
    expect(findLosses(moved)).toEqual([
      `moved.sqlite is missing, and its last acknowledged event is ${head.seq}. To begin a new world, also delete moved.sqlite-head`,
    ]);
    expect(findLosses(join(directory(), "new.sqlite"))).toEqual([]);
  });
});

describe("the version of a file", () => {
  const changed = (change: (sqlite: BetterSqlite3.Database) => void) => () => {
    const path = emptyFile();
    return inDatabase(path, (sqlite) => {
      change(sqlite);
      return schemaVersionOf(sqlite);
    });
  };
  const damaged = "its header does not match its tables";

  test("is the number of migrations", () => {
    expect(changed(() => undefined)()).toBe(SCHEMA_VERSION);
    expect(changed((sqlite) => markVersion(sqlite))()).toBe(SCHEMA_VERSION);
  });

  test("of a newer release is refused", () => {
    const newer = changed((sqlite) => sqlite.pragma(`user_version = ${SCHEMA_VERSION + 1}`));
    expect(newer).toThrow(NewerFile);
    expect(newer).toThrow(/its schema has version \d+, this release supports up to \d+/);
    const journal = changed((sqlite) => sqlite.exec("UPDATE history SET journal_version = 99"));
    expect(journal).toThrow(/its journal has version 99, this release supports up to 4/);
  });

  test("that does not match the tables is damage", () => {
    expect(changed((sqlite) => sqlite.pragma(`user_version = ${SCHEMA_VERSION - 1}`))).toThrow(damaged);
    expect(changed((sqlite) => sqlite.pragma("application_id = 0"))).toThrow(damaged);
    expect(
      changed((sqlite) =>
        sqlite.exec(
          "DELETE FROM __drizzle_migrations WHERE rowid = (SELECT max(rowid) FROM __drizzle_migrations)",
        ),
      ),
    ).toThrow(damaged);
    expect(changed((sqlite) => sqlite.exec("UPDATE history SET forgotten_seq = 7"))).toThrow(
      /history row is damaged/,
    );
  });

  test("of a database that is no world is refused", () => {
    const empty = new BetterSqlite3(":memory:");
    expect(() => schemaVersionOf(empty)).toThrow(CorruptFile);
    expect(() => schemaVersionOf(empty)).toThrow("it is empty");
    empty.exec("CREATE TABLE events (seq)");
    expect(() => schemaVersionOf(empty)).toThrow(NotAWorldFile);
    for (const table of ["events", "world", "__drizzle_migrations"])
      expect(changed((sqlite) => sqlite.exec(`DROP TABLE ${table}`))).toThrow("it is empty");
  });
});

test.each([
  ["CREATE TABLE other (x)", /unexpected table "other"/],
  ["CREATE INDEX other ON events (at)", /unexpected index "other"/],
  ["CREATE VIEW other AS SELECT 1", /unexpected view "other"/],
  ["CREATE TRIGGER other AFTER INSERT ON events BEGIN SELECT 1; END", /unexpected trigger "other"/],
  ["DROP TABLE api_key_uses", /its schema lacks table api_key_uses/],
])("a file from elsewhere with the schema change %s is refused", (sql, message) => {
  const path = emptyFile();
  expect(() => checkSchema(path, MIGRATIONS)).not.toThrow();
  inDatabase(path, (sqlite) => sqlite.exec(sql));
  expect(() => checkSchema(path, MIGRATIONS)).toThrow(message);
});

test("the history row is stored with its checksum", () => {
  const path = emptyFile();
  const origin = { world: "w", historyId: "o", seq: 3, at: 4 };
  const row = { historyId: "h", journalVersion: 3, forgottenSeq: 5, operationsForgottenBefore: 6 };
  inDatabase(path, (sqlite) => {
    writeHistoryRow(sqlite, row);
    expect(readHistoryRow(sqlite)).toEqual(row);
    writeHistoryRow(sqlite, { ...row, origin });
    expect(readHistoryRow(sqlite)).toEqual({ ...row, origin });
    expect(sqlite.prepare("SELECT count(*) FROM history").pluck().get()).toBe(1);
    sqlite.exec("DELETE FROM history");
    expect(() => readHistoryRow(sqlite)).toThrow("the history row is damaged");
  });
});

describe("stored events", () => {
  const event = (seq: number, payload = "{}") => ({ seq, decision: seq, at: seq * 10, type: "T", payload });
  const chained = (before: number, ...events: ReturnType<typeof event>[]) => {
    let chain = before;
    return events.map((row) => {
      chain = chainChecksum([row], chain);
      return { ...row, chain };
    });
  };

  test("continue the chain", () => {
    const rows = chained(7, event(3), event(4), event(5));
    expect(() => verifyChain(rows, 2, 7)).not.toThrow();
    expect(chainChecksum([event(3), event(4), event(5)], 7)).toBe(rows[2]?.chain);
    expect(() => verifyChain(rows, 2, 8)).toThrow("event 3 or the one before it is damaged");
    expect(() => verifyChain(rows, 1, 7)).toThrow("event 2 or the one before it is damaged");
    expect(() => verifyChain(rows.slice(1), 2, 7)).toThrow("event 3 or the one before it is damaged");
    expect(() => verifyChain([rows[0], rows[2]] as typeof rows, 2, 7)).toThrow(/^event 4 /);
  });

  test.each(["decision", "at", "type", "payload"] as const)("with another %s break the chain", (field) => {
    const rows = chained(7, event(3), event(4));
    const changed = rows.map((row) =>
      row.seq === 4 ? { ...row, [field]: field === "type" ? "U" : 99 } : row,
    );
    expect(() => verifyChain(changed as typeof rows, 2, 7)).toThrow(
      "event 4 or the one before it is damaged",
    );
  });

  test("are read from their columns", () => {
    const row = rowOf([3, 30, "T", 3, '{"projectId":"p"}', 9]);
    expect(row).toEqual({ seq: 3, at: 30, type: "T", decision: 3, payload: '{"projectId":"p"}', chain: 9 });
    expect(eventOf(row)).toEqual({ seq: 3, at: 30, type: "T", decision: 3, projectId: "p" });
    const blob = Buffer.from("T") as never as string;
    expect(() => rowOf([3, 30, blob, 3, "{}", 9])).toThrow("event 3 is damaged");
    expect(() => rowOf([3, 30, "T", 3, blob, 9])).toThrow("event 3 is damaged");
  });

  test("a checkpoint is read from its compressed text", () => {
    const checkpoint = takeCheckpoint(emptyWorld());
    const world = gzipSync(JSON.stringify(checkpoint));
    expect(checkpointOf({ seq: 3, world } as never)).toEqual(JSON.parse(JSON.stringify(checkpoint)));
    expect(() => checkpointOf({ seq: 3, world: Buffer.from("x") } as never)).toThrow(
      "checkpoint 3 is damaged",
    );
  });
});

test("a checksum is the CRC-32 of the values as JSON", () => {
  expect(checksumOf([1, "a", null])).toBe(crc32('[1,"a",null]'));
  expect(chainChecksum([{ seq: 1, decision: 2, at: 3, type: "T", payload: "{}" }], 0)).toBe(
    crc32("1 2 3 T {}"),
  );
});

test.each([
  ["SQLITE_CORRUPT", "x", true, false],
  ["SQLITE_CORRUPT_VTAB", "x", true, false],
  ["SQLITE_NOTADB", "x", true, false],
  ["SQLITE_ERROR", "no such table: x", true, false],
  ["SQLITE_ERROR", "no such column: x", true, false],
  ["SQLITE_ERROR", "table x has no column named y", true, false],
  ["SQLITE_ERROR", "malformed JSON", true, false],
  ["SQLITE_ERROR", "JSON cannot hold BLOB values", true, false],
  ["SQLITE_ERROR", "syntax error", false, false],
  ["SQLITE_CONSTRAINT", "x", false, false],
  ["SQLITE_IOERR_FSYNC", "x", false, true],
  ["SQLITE_FULL", "x", false, true],
  ["SQLITE_CANTOPEN", "x", false, true],
  ["SQLITE_NOMEM", "x", false, true],
  ["SQLITE_BUSY", "x", false, false],
])("%s (%s) means damage: %s, a failed call of the system: %s", (code, message, isDamage, isIo) => {
  const error = new BetterSqlite3.SqliteError(message, code);
  const converted = asCorruptFile(error);
  expect(converted instanceof CorruptFile).toBe(isDamage);
  if (isDamage) expect(converted).toMatchObject({ message, cause: error, name: "CorruptFile" });
  else expect(converted).toBe(error);
  expect(isIoFailure(error)).toBe(isIo);
  expect(isFileFailure(error)).toBe(isDamage || isIo);
});

test("other errors are no failures of the file", () => {
  const error = new Error("SQLITE_IOERR");
  expect(asCorruptFile(error)).toBe(error);
  expect(isIoFailure(error)).toBe(false);
  expect(isFileFailure(error)).toBe(false);
});

test("a world is read again from its file", () => {
  const path = join(directory(), "world.sqlite");
  const store = openStore(path, { migrationsFolder: MIGRATIONS, marksHead: true });
  const simulated = new SimulatedWorld();
  simulated.use(new Simulation(store.world, store.journal));
  simulated.run(worldWithProject());
  store.close();
  const again = openStore(path, { migrationsFolder: MIGRATIONS });
  expect(again.journal.events(0, 1_000)).toEqual(simulated.events);
  expect(takeCheckpoint(again.world)).toEqual(takeCheckpoint(simulated.world));
  expect(again.clock?.now).toBe(simulated.now);
  again.close();
});
