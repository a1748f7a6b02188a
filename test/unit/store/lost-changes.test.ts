import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Head, HeadMark, headMarkPath, readHeadMark } from "../../../src/store/file/head-mark.ts";
import {
  checkForLoss,
  checkpointOrPreserveWal,
  findLosses,
  LostChanges,
  preserveDamagedWal,
} from "../../../src/store/file/lost-changes.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { walPath } from "../../../src/store/journal/wal-file.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { readHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import { copyOf, inDatabase, inMemory, OPTIONS, testDirectory } from "../../support/store/world-files.ts";

const files = worldFiles();
const LOG =
  "; the write-ahead log world.sqlite-wal is lost or damaged, or world.sqlite was replaced by an older file";

/** Marks a file as if this head had been acknowledged. */
function setMark(path: string, head: Partial<Head>): void {
  const headMark = new HeadMark(path);
  const { historyId } = inMemory(path).prepare("SELECT history_id AS historyId FROM history").get() as Head;
  headMark.write({ historyId, seq: 0, chain: 0, now: 0, ...head });
  headMark.close();
}

/** A file with so many commits in its log, which no connection has open. */
function withLog(commits: number): string {
  const path = copyOf(files.complete);
  const store = openStore(path, { ...OPTIONS, marksHead: true });
  const { settings, numbers } = store.world;
  const now = store.clock?.now ?? 0;
  const clock = { mode: "manual", factor: 0, simAnchor: now, wallAnchor: 0 } as const;
  for (let number = 1; number <= commits; number += 1)
    store.journal.write({ events: [], changes: [], settings, numbers, clock, now: now + number });
  const copy = join(testDirectory(), "world.sqlite");
  for (const suffix of ["", "-wal", "-head"]) copyFileSync(path + suffix, copy + suffix);
  store.close();
  return copy;
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

/** Damages the first frame of a log: no commit in it can be read any more. */
const damageLog = (path: string) => flipByte(walPath(path), 32 + 24 + 100);
/** Damages the page with the schema: no connection can open the file. */
const damageFile = (path: string) => writeFileSync(path, Buffer.alloc(8_192, "no database "));

describe("a file with a mark", () => {
  const head = () => ({ seq: files.head, now: files.simulated.now });
  const lossesAfter = (mark: Partial<Head>) => {
    const path = copyOf(files.complete);
    setMark(path, mark);
    return findLosses(path);
  };

  test("lacks the events between its end and the mark", () => {
    const { seq } = head();
    expect(lossesAfter({ seq: seq + 3 })).toEqual([
      `the file ends at event ${seq}, but event ${seq + 3} was acknowledged, so 3 events are missing${LOG}`,
    ]);
  });

  test("lacks a change of the clock", () => {
    const [now, later] = [head().now, head().now + 1].map((at) => new Date(at).toISOString());
    expect(lossesAfter({ ...head(), now: head().now + 1 })).toEqual([
      `the file ends at ${now}, but its clock had reached ${later}${LOG}`,
    ]);
    // Events of the past may follow: work that was due while no server ran, and what Postgres clients did.
    expect(lossesAfter({ now: head().now + 1 })).toEqual([]);
  });

  test("of another history is not compared with it", () => {
    expect(lossesAfter({ seq: head().seq + 3, historyId: "other" })).toEqual([]);
  });

  test("has lost nothing if it contains the event of the mark, also a later one", () => {
    const path = copyOf(files.complete);
    const events = inMemory(path)
      .prepare<[], { seq: number; chain: number }>("SELECT seq, chain FROM events")
      .all();
    for (const { seq, chain } of events) {
      setMark(path, { seq, chain });
      expect(findLosses(path)).toEqual([]);
    }
    setMark(path, { seq: files.head, chain: events.at(-1)?.chain ?? 0, now: files.simulated.now });
    expect(findLosses(path)).toEqual([]);
  });

  test("is only compared with events that are not truncated", () => {
    const path = copyOf(files.truncated);
    setMark(path, { seq: files.first, chain: 1 });
    expect(findLosses(path)).toEqual([]);
    setMark(path, { seq: files.first + 1, chain: 1 });
    expect(findLosses(path)).toEqual([`event ${files.first + 1} is not the one that was acknowledged${LOG}`]);
  });

  test("of a world that is not created yet ends at the beginning", () => {
    const path = copyOf(files.empty);
    setMark(path, { seq: 0, now: 1_000 });
    expect(findLosses(path)).toEqual([
      `the file ends at the beginning, but its clock had reached 1970-01-01T00:00:01.000Z${LOG}`,
    ]);
    setMark(path, { seq: 2, now: 1_000 });
    expect(findLosses(path)).toEqual([
      `the file ends at event 0, but event 2 was acknowledged, so 2 events are missing${LOG}`,
    ]);
  });

  test("of the first release, which had none, is not compared with it", () => {
    const path = copyOf("test/replay/fixtures/0.1.0/world.sqlite");
    const headMark = new HeadMark(path);
    headMark.write({ historyId: "other", seq: 1_000, chain: 0, now: 0 });
    headMark.close();
    expect(findLosses(path)).toEqual([]);
  });

  test("that is damaged is reported as damaged", () => {
    const path = copyOf(files.complete);
    setMark(path, {});
    inDatabase(path, (sqlite) => sqlite.exec("UPDATE history SET forgotten_seq = 7"));
    expect(() => findLosses(path)).toThrow(new CorruptFile("the history row is damaged"));
    damageFile(path);
    expect(() => findLosses(path)).toThrow(new CorruptFile("file is not a database"));
  });
});

test("a damaged log and what the mark says are both reported; the first is the error", () => {
  const path = withLog(4);
  expect(findLosses(path)).toEqual([]);
  damageLog(path);
  const [first = "", second = "", ...others] = findLosses(path);
  expect(others).toEqual([]);
  expect(first).toMatch(
    /^the write-ahead log world.sqlite-wal is damaged at byte 32, and at least \d+ commits after/,
  );
  expect(second).toMatch(/^the file ends at 2026-01-22T.*, but its clock had reached 2026-01-22T.*$/);
  expect(() => checkForLoss(path)).toThrow(LostChanges);
  expect(() => checkForLoss(path)).toThrow(expect.objectContaining({ name: "LostChanges", message: first }));
  expect(() => openStore(path, OPTIONS)).toThrow(first);
});

test("a file that has lost changes is opened if that is accepted, and its log is kept", () => {
  const path = withLog(4);
  damageLog(path);
  const log = readFileSync(walPath(path));
  const expected = findLosses(path);
  let missing: readonly string[] = [];
  const onAcceptedLoss = (losses: readonly string[]) => {
    missing = losses;
  };
  const store = openStore(path, { ...OPTIONS, onAcceptedLoss });
  expect(store.world.seq).toBe(files.head);
  store.close();
  expect(missing).toEqual(expected);
  expect(readFileSync(`${walPath(path)}.damaged`).equals(log)).toBe(true);
});

test("what is missing is reported without a log, too", () => {
  const path = withLog(4);
  rmSync(walPath(path));
  const reported: (readonly string[])[] = [];
  preserveDamagedWal(path, (losses) => reported.push(losses));
  expect(reported).toEqual([[expect.stringContaining("but its clock had reached")]]);
  expect(existsSync(`${walPath(path)}.damaged`)).toBe(false);
  rmSync(headMarkPath(path));
  preserveDamagedWal(path, (losses) => reported.push(losses));
  expect(reported).toHaveLength(1);
});

test("a world whose file is missing has lost everything", () => {
  const path = withLog(1);
  for (const suffix of ["", "-wal"]) rmSync(path + suffix);
  const losses = [
    `world.sqlite is missing, and its last acknowledged event is ${files.head}. To begin a new world, also delete world.sqlite-head`,
  ];
  expect(findLosses(path)).toEqual(losses);
  let reported: readonly string[] = [];
  preserveDamagedWal(path, (missing) => {
    reported = missing;
  });
  expect(reported).toEqual(losses);
  rmSync(headMarkPath(path));
  expect(findLosses(path)).toEqual([]);
  expect(() => checkForLoss(path)).not.toThrow();
});

describe("before a file is replaced, its log", () => {
  const preserved = (path: string) => join(path, "..", "snapshots", "previous.sqlite");

  test("is merged into it", () => {
    const path = withLog(4);
    checkpointOrPreserveWal(path, preserved(path));
    expect(existsSync(walPath(path))).toBe(false);
    expect(existsSync(`${walPath(path)}.damaged`)).toBe(false);
    expect(existsSync(preserved(path))).toBe(false);
    expect(readHistoryRow(inMemory(path)).historyId).toBe(readHeadMark(path)?.historyId);
    const now = inMemory(path).prepare("SELECT now FROM world").pluck().get();
    expect(now).toBe(files.simulated.now + 4);
  });

  test("is preserved with it if the file is damaged", () => {
    const path = withLog(4);
    damageFile(path);
    const log = readFileSync(walPath(path));
    checkpointOrPreserveWal(path, preserved(path));
    expect(existsSync(walPath(path))).toBe(false);
    expect(readFileSync(walPath(preserved(path))).equals(log)).toBe(true);
  });

  test("is copied if SQLite cannot read it completely", () => {
    for (const isFileDamaged of [false, true]) {
      const path = withLog(4);
      damageLog(path);
      if (isFileDamaged) damageFile(path);
      const log = readFileSync(walPath(path));
      checkpointOrPreserveWal(path, preserved(path));
      expect(existsSync(walPath(path))).toBe(false);
      expect(readFileSync(`${walPath(path)}.damaged`).equals(log)).toBe(true);
    }
  });

  test("is not preserved if it is empty", () => {
    const path = copyOf(files.complete);
    damageFile(path);
    writeFileSync(walPath(path), "");
    checkpointOrPreserveWal(path, preserved(path));
    expect(existsSync(walPath(path))).toBe(false);
    expect(existsSync(join(preserved(path), ".."))).toBe(false);
  });

  test("stays while another program reads it, and the file must not be replaced", () => {
    const path = withLog(4);
    inDatabase(path, (reader) => {
      reader.exec("BEGIN");
      reader.prepare("SELECT seq FROM world").get();
      expect(() => checkpointOrPreserveWal(path, preserved(path))).toThrow(
        "is being read by another program",
      );
    });
    expect(existsSync(preserved(path))).toBe(false);
  });
});
