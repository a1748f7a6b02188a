import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { takeCheckpoint } from "../../../src/simulation/checkpoint.ts";
import { Simulation } from "../../../src/simulation/simulation.ts";
import { checkSchema } from "../../../src/store/file/check-schema.ts";
import { HeadMark, headMarkPath, readHeadMark } from "../../../src/store/file/head-mark.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { eventOf, rowOf, verifyChain } from "../../../src/store/journal/event-rows.ts";
import { isFileFailure, isIoFailure } from "../../../src/store/journal/file-failure.ts";
import { unpackCheckpoint } from "../../../src/store/journal/stored-checkpoint.ts";
import { NotAWorldFile } from "../../../src/store/tables/format-version.ts";
import {
  asCorruptFile,
  CorruptFile,
  chainChecksum,
  checksumOf,
} from "../../../src/store/tables/journal-checksum.ts";
import { readHistoryRow, writeHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { temporaryDirectory } from "../../support/process/process.ts";
import { worldWithProject } from "../../support/rules/rule-worlds.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const MIGRATIONS = "migrations";

function directory(): string {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  return path;
}

const templates = temporaryDirectory();
const emptyTemplate = join(templates.path, "empty.sqlite");

beforeAll(() => openStore(emptyTemplate, { migrationsFolder: MIGRATIONS }).close());
afterAll(templates.remove);

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

  test("is the last one of many, in two slots", () => {
    const path = marked(1, 2, 3, 4, 5, 6, 7);
    expect(readHeadMark(path)).toMatchObject({ number: 7, seq: 7 });
    expect(readFileSync(headMarkPath(path))).toHaveLength(1_024);
    flipByte(headMarkPath(path), 512 + 5);
    expect(readHeadMark(path)).toMatchObject({ number: 6, seq: 6 });
  });

  test("is the one before if a digit of the last one was changed", () => {
    const path = marked(1, 2, 3);
    const text = readFileSync(headMarkPath(path), "latin1");
    writeFileSync(headMarkPath(path), text.replace('"h",3,', '"h",4,'));
    expect(readHeadMark(path)).toMatchObject({ seq: 2 });
  });

  test("that cannot be read is an error", () => {
    const path = join(directory(), "world.sqlite");
    mkdirSync(headMarkPath(path));
    expect(() => readHeadMark(path)).toThrow("EISDIR");
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
  expect(() => checkSchema(path, MIGRATIONS)).toThrow(NotAWorldFile);
});

test("a file from elsewhere may have the tables of a replicator, but nothing else of their names", () => {
  const path = emptyFile();
  inDatabase(path, (sqlite) =>
    sqlite.exec("CREATE TABLE _litestream_seq (id); CREATE TABLE _litestream_lock (id)"),
  );
  expect(() => checkSchema(path, MIGRATIONS)).not.toThrow();
  const other = emptyFile();
  inDatabase(other, (sqlite) => sqlite.exec("CREATE INDEX _litestream_seq ON events (at)"));
  expect(() => checkSchema(other, MIGRATIONS)).toThrow('unexpected index "_litestream_seq"');
});

test.each([
  ["trigger", "CREATE TRIGGER other AFTER UPDATE ON events BEGIN SELECT RAISE(ABORT, 'fired'); END"],
  ["view", "ALTER TABLE accounts RENAME TO hidden; CREATE VIEW other AS SELECT * FROM hidden"],
])(
  "a file of an older release is not upgraded with a %s, which could change what is written",
  (type, sql) => {
    for (const release of ["0.1.0", "0.4.0"]) {
      const path = join(directory(), "world.sqlite");
      copyFileSync(`test/replay/fixtures/${release}/world.sqlite`, path);
      inDatabase(path, (sqlite) => sqlite.exec(sql));
      expect(() => checkSchema(path, MIGRATIONS)).toThrow(`its schema has an unexpected ${type} "other"`);
    }
  },
);

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
    expect(unpackCheckpoint(3, world)).toEqual(JSON.parse(JSON.stringify(checkpoint)));
    expect(() => unpackCheckpoint(3, Buffer.from("x"))).toThrow("checkpoint 3 is damaged");
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
