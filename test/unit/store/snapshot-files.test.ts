import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openForReading, vacuumCopy } from "../../../src/store/file/open-read-only.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { connectReadOnly } from "../../../src/store/file/sqlite-connection.ts";
import { finalizeSnapshot, readBranchData, readFileInfo } from "../../../src/store/file/world-snapshot.ts";
import { SCHEMA_VERSION, schemaVersionOf } from "../../../src/store/tables/format-version.ts";
import { readHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { worldFiles } from "../../support/store/verified-files.ts";
import {
  copyOf,
  inDatabase,
  inMemory,
  MIGRATIONS,
  OPTIONS,
  testDirectory,
} from "../../support/store/world-files.ts";

const files = worldFiles();
const RELEASES = ["0.1.0", "0.2.0", "0.3.0", "0.4.0"];
const fileOf = (release: string) => copyOf(`test/replay/fixtures/${release}/world.sqlite`);
const journalMode = (file: string) =>
  inDatabase(file, (sqlite) => sqlite.pragma("journal_mode", { simple: true }));

test("a snapshot is a single file, also while it is read", () => {
  const file = copyOf(files.complete);
  expect(journalMode(file)).toBe("wal");
  finalizeSnapshot(file);
  expect(journalMode(file)).toBe("delete");
  const reader = connectReadOnly(file);
  reader.prepare("SELECT seq FROM world").get();
  for (const suffix of ["-wal", "-shm"]) expect(existsSync(file + suffix)).toBe(false);
  reader.close();
  const store = openStore(file, OPTIONS);
  expect(store.world.seq).toBe(files.head);
  store.close();
});

describe("the summary of a file", () => {
  test("is its history, its last event and its clock", () => {
    const { historyId } = readHistoryRow(inMemory(files.complete));
    expect(readFileInfo(copyOf(files.complete))).toEqual({
      historyId,
      seq: files.head,
      now: files.simulated.now,
    });
  });

  test("of a world that is not created yet is its history", () => {
    const { historyId } = readHistoryRow(inMemory(files.empty));
    expect(historyId).toMatch(/^[0-9a-f-]{36}$/);
    expect(readFileInfo(copyOf(files.empty))).toEqual({ historyId, seq: 0, now: 0 });
  });

  test.each(RELEASES)(
    "of release %s states its last event; the first release had no histories",
    (release) => {
      const file = fileOf(release);
      const expected = inDatabase(
        file,
        (sqlite) => sqlite.prepare("SELECT seq, now FROM world").get() as object,
      );
      const { historyId, ...info } = readFileInfo(file);
      expect(info).toEqual(expected);
      expect(historyId.length > 0).toBe(release !== "0.1.0");
      expect(readFileInfo(file)).toEqual({ historyId, ...info });
    },
  );

  test("of a file that cannot be read says why", () => {
    const text = join(testDirectory(), "text.sqlite");
    writeFileSync(text, "no database ".repeat(1_000));
    const unknown = { historyId: "", seq: 0, now: 0 };
    expect(readFileInfo(text)).toEqual({ ...unknown, error: "file is not a database" });
    const missing = readFileInfo(join(testDirectory(), "missing.sqlite"));
    expect(missing).toEqual({ ...unknown, error: "unable to open database file" });
    const damaged = copyOf(files.complete);
    inDatabase(damaged, (sqlite) => sqlite.exec("UPDATE world SET seq = seq + 1"));
    expect(readFileInfo(damaged)).toEqual({ ...unknown, error: "the world row is damaged" });
    const newer = copyOf(files.complete);
    inDatabase(newer, (sqlite) => sqlite.pragma(`user_version = ${SCHEMA_VERSION + 1}`));
    expect(readFileInfo(newer).error).toMatch(/^it was written by a newer standin: its schema has version/);
  });
});

test("the places of the data of branches are read; older releases have none", () => {
  expect(readBranchData(copyOf(files.complete))).toEqual(
    files.simulated.world.branchData.toArray().sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
  for (const release of RELEASES) expect(readBranchData(fileOf(release))).toEqual([]);
  expect(() => readBranchData(join(testDirectory(), "missing.sqlite"))).toThrow(
    "unable to open database file",
  );
});

describe("a file opened for reading", () => {
  test("of this release is read where it is, while another connection writes", () => {
    const file = copyOf(files.complete);
    const store = openStore(file, OPTIONS);
    const { sqlite, close } = openForReading(file, MIGRATIONS);
    expect(sqlite.name).toBe(file);
    expect(sqlite.readonly).toBe(true);
    close();
    expect(sqlite.open).toBe(false);
    store.close();
  });

  test.each(RELEASES)("of release %s is read as an upgraded copy, which is removed", (release) => {
    const file = fileOf(release);
    const before = readFileSync(file);
    const { sqlite, close } = openForReading(file, MIGRATIONS);
    expect(schemaVersionOf(sqlite)).toBe(SCHEMA_VERSION);
    const copy = sqlite.name;
    expect(copy).not.toBe(file);
    expect(existsSync(copy)).toBe(true);
    expect(statSync(copy).mode & 0o077).toBe(0);
    close();
    expect(sqlite.open).toBe(false);
    expect(existsSync(join(copy, ".."))).toBe(false);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("that is damaged or no database is an error that says so", () => {
    const text = join(testDirectory(), "text.sqlite");
    writeFileSync(text, "no database ".repeat(1_000));
    for (const read of [() => openForReading(text, MIGRATIONS), () => vacuumCopy(text, `${text}-copy`)])
      expect(read).toThrow(
        expect.objectContaining({ name: "CorruptFile", message: "file is not a database" }),
      );
  });

  test("and is a damaged one of an older release leaves no copy", () => {
    const damaged = fileOf("0.4.0");
    inDatabase(damaged, (sqlite) => sqlite.exec("UPDATE projects SET name = 'x'"));
    const [temporary, previous] = [testDirectory(), process.env["TMPDIR"]];
    process.env["TMPDIR"] = temporary;
    try {
      expect(() => openForReading(damaged, MIGRATIONS)).toThrow("a row of projects is damaged");
      expect(readdirSync(temporary)).toEqual([]);
    } finally {
      if (previous === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = previous;
    }
  });
});

describe("a copy of a file in use", () => {
  test("has everything that was committed, no free pages, and is private", () => {
    const file = copyOf(files.complete);
    const store = openStore(file, OPTIONS);
    inDatabase(file, (sqlite) => {
      sqlite.exec(
        "CREATE TABLE filler (x); INSERT INTO filler VALUES (randomblob(500000)); DROP TABLE filler",
      );
    });
    const copy = `${file}-copy`;
    vacuumCopy(file, copy);
    store.close();
    expect(inDatabase(copy, (sqlite) => sqlite.pragma("freelist_count", { simple: true }))).toBe(0);
    expect(statSync(copy).size).toBeLessThan(statSync(file).size - 400_000);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readFileInfo(copy)).toEqual(readFileInfo(file));
  });

  test("does not replace another database", () => {
    const [file, other] = [copyOf(files.complete), copyOf(files.empty)];
    expect(() => vacuumCopy(file, other)).toThrow("output file already exists");
    expect(readFileInfo(other)).toMatchObject({ seq: 0 });
  });
});
