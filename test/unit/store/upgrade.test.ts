import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../../src/store/file/open-world.ts";
import { connect } from "../../../src/store/file/sqlite-connection.ts";
import { createFile, markJournalVersion, upgradeFile } from "../../../src/store/file/upgrade.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import {
  JOURNAL_VERSION,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "../../../src/store/tables/format-version.ts";
import { readHistoryRow, writeHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { copyOf, inDatabase, inMemory, MIGRATIONS, testDirectory } from "../../support/store/world-files.ts";

const RELEASES = ["0.1.0", "0.2.0", "0.3.0", "0.4.0"];
const fileOf = (release: string) => copyOf(`test/replay/fixtures/${release}/world.sqlite`);
const filesBeside = (path: string) => readdirSync(dirname(path)).sort();
const historyOf = (path: string) => inDatabase(path, readHistoryRow);

describe("a new file", () => {
  const created = () => {
    const path = join(testDirectory(), "new.sqlite");
    createFile(path, MIGRATIONS);
    return path;
  };

  test("is complete, private, and of this version", () => {
    const path = created();
    expect(filesBeside(path)).toEqual(["new.sqlite"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(inDatabase(path, schemaVersionOf)).toBe(SCHEMA_VERSION);
  });

  test("begins a complete history of its own", () => {
    const [one, other] = [historyOf(created()), historyOf(created())];
    expect(one).toEqual({
      historyId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      journalVersion: JOURNAL_VERSION,
      forgottenSeq: 0,
      operationsForgottenBefore: 0,
    });
    expect(one.historyId).not.toBe(other.historyId);
  });

  test("replaces what an interrupted creation has left", () => {
    const path = join(testDirectory(), "new.sqlite");
    for (const suffix of ["", "-wal", "-journal"]) writeFileSync(`${path}.unfinished${suffix}`, "half of it");
    createFile(path, MIGRATIONS);
    expect(filesBeside(path)).toEqual(["new.sqlite"]);
    expect(inDatabase(path, schemaVersionOf)).toBe(SCHEMA_VERSION);
  });

  test("does not appear if it cannot be completed", () => {
    const path = join(testDirectory(), "new.sqlite");
    expect(() => createFile(path, "no-such-folder")).toThrow();
    expect(existsSync(path)).toBe(false);
  });
});

describe.each(RELEASES)("a file of release %s", (release) => {
  test("is upgraded to a file of this version, which verifies", async () => {
    const path = fileOf(release);
    const before = inDatabase(path, (sqlite) => sqlite.prepare("SELECT seq, at, now FROM world").get());
    upgradeFile(path, MIGRATIONS);
    expect(filesBeside(path)).toEqual(["world.sqlite"]);
    const sqlite = inMemory(path);
    expect(schemaVersionOf(sqlite)).toBe(SCHEMA_VERSION);
    expect(sqlite.prepare("SELECT seq, at, now FROM world").get()).toEqual(before);
    expect(await verifyFile(sqlite, async () => undefined)).toMatchObject({ ok: true, differences: [] });
  });

  test("is preserved as it was, if a name is given", () => {
    const path = fileOf(release);
    const before = readFileSync(path);
    const backup = join(dirname(path), "snapshots", "before.sqlite");
    upgradeFile(path, MIGRATIONS, backup);
    expect(readFileSync(backup).equals(before)).toBe(true);
    expect(filesBeside(path)).toEqual(["snapshots", "world.sqlite"]);
  });

  test("with commits in its log only is upgraded with them", () => {
    const path = fileOf(release);
    const sqlite = connect(path);
    sqlite.exec("CREATE TABLE of_the_log (x)");
    for (const suffix of ["", "-wal"]) {
      const bytes = readFileSync(path + suffix);
      writeFileSync(`${path}.copy${suffix}`, bytes);
    }
    sqlite.close();
    upgradeFile(`${path}.copy`, MIGRATIONS);
    const names = "SELECT count(*) FROM sqlite_master WHERE name = 'of_the_log'";
    expect(inMemory(`${path}.copy`).prepare(names).pluck().get()).toBe(1);
  });

  test("keeps its history; the first release had none", () => {
    const path = fileOf(release);
    const before = release === "0.1.0" ? undefined : historyOf(path);
    upgradeFile(path, MIGRATIONS);
    if (before !== undefined) expect(historyOf(path)).toEqual(before);
    else expect(historyOf(path)).toMatchObject({ journalVersion: JOURNAL_VERSION, forgottenSeq: 0 });
  });
});

test("events of the first release at one instant count as one decision", () => {
  const path = fileOf("0.1.0");
  upgradeFile(path, MIGRATIONS);
  const events = inMemory(path)
    .prepare<[], { seq: number; at: number; decision: number }>(
      "SELECT seq, at, decision FROM events ORDER BY seq",
    )
    .all();
  const instants = new Set(events.map(({ at }) => at));
  expect(new Set(events.map(({ decision }) => decision)).size).toBe(instants.size);
  for (const { at, decision } of events) expect(decision).toBe(events.find((event) => event.at === at)?.seq);
});

test.each(["0.2.0", "0.3.0", "0.4.0"])("a damaged file of release %s is not upgraded", (release) => {
  const path = fileOf(release);
  inDatabase(path, (sqlite) => sqlite.exec("UPDATE projects SET name = 'x'"));
  const before = readFileSync(path);
  const backup = join(dirname(path), "before.sqlite");
  expect(() => upgradeFile(path, MIGRATIONS, backup)).toThrow("a row of projects is damaged");
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(existsSync(backup)).toBe(false);
  // The next attempt replaces the copy that this one has left.
  inDatabase(path, (sqlite) => sqlite.exec("DELETE FROM projects"));
  upgradeFile(path, MIGRATIONS, backup);
  expect(existsSync(`${path}.unfinished`)).toBe(false);
});

test("opening a file of an older release upgrades it, reports that, and preserves the original", () => {
  const path = fileOf("0.4.0");
  const before = readFileSync(path);
  const backupPath = join(dirname(path), "before.sqlite");
  let upgrades = 0;
  const onUpgrade = () => {
    upgrades += 1;
  };
  for (let start = 0; start < 2; start += 1) {
    const store = openStore(path, { migrationsFolder: MIGRATIONS, backupPath, onUpgrade });
    expect(store.world.seq).toBe(254);
    store.close();
    expect(upgrades).toBe(1);
  }
  expect(readFileSync(backupPath).equals(before)).toBe(true);
});

test("a file that this release has opened may contain its events, so older releases reject it", () => {
  const path = join(testDirectory(), "new.sqlite");
  createFile(path, MIGRATIONS);
  const older = { ...historyOf(path), journalVersion: JOURNAL_VERSION - 1 };
  inDatabase(path, (sqlite) => {
    writeHistoryRow(sqlite, older);
    markJournalVersion(sqlite);
    expect(readHistoryRow(sqlite)).toEqual({ ...older, journalVersion: JOURNAL_VERSION });
    const changes = sqlite.prepare("SELECT total_changes()").pluck();
    const before = changes.get();
    markJournalVersion(sqlite);
    expect(changes.get()).toBe(before);
    writeHistoryRow(sqlite, older);
  });
  openStore(path, { migrationsFolder: MIGRATIONS }).close();
  expect(historyOf(path).journalVersion).toBe(JOURNAL_VERSION);
});
