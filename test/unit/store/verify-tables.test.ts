import BetterSqlite3 from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { Operation } from "../../../src/platform/model/operation.ts";
import { JOURNALED_TABLES, UNJOURNALED_TABLES } from "../../../src/platform/world/tables.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import { verifyFile } from "../../../src/store/file/verify-world.ts";
import { readHistoryRow, writeHistoryRow } from "../../../src/store/tables/journal-row.ts";
import { prepareReader, tableName } from "../../../src/store/tables/stored-tables.ts";
import { differencesAfter, worldFiles } from "../../support/store/verified-files.ts";
import { inMemory, removeRow, writeRow } from "../../support/store/world-files.ts";

type Sqlite = BetterSqlite3.Database;
type Row = Readonly<Record<string, unknown>>;
type Name = (typeof JOURNALED_TABLES)[number];

const files = worldFiles();

function rowsOf<T = Row>(file: string, name: Name): T[] {
  return prepareReader<T>(inMemory(file), name)();
}

/** The row with another instant, name or amount. */
function changed(row: Row): Row {
  if ("pooled" in row) return { ...row, pooled: row["pooled"] !== true };
  const property = ["updatedAt", "setAt", "name", "at", "cuMs", "keyId"].find((name) => name in row) ?? "id";
  const value = row[property];
  return { ...row, [property]: typeof value === "number" ? value + 1 : `${value} 2` };
}

/** No operation has this number, and it is not newer than the world. */
const FREE = 0;

/** The row with another key, so that it is a row of its own. */
function another(name: Name, row: Row): Row {
  if (name === "scheduledActivities") return { ...row, number: 99 };
  if (name === "apiKeys") return { ...row, id: 99 };
  if (name === "revokedHashes") return { ...row, keyId: 99, hash: "unknown" };
  if (name === "faults") return { ...row, name: "unknown" };
  if (name === "hourlyUsage") return { ...row, of: "unknown" };
  if (name === "branches") return { ...row, id: "unknown", name: "unknown", default: false };
  if (name === "computes") return { ...row, id: "unknown", branchId: "unknown" };
  if (name === "operations") return { ...row, id: "unknown", number: FREE };
  return { ...row, id: "unknown" };
}

describe.each(JOURNALED_TABLES)("in the table %s", (name) => {
  const where = tableName(name);
  const keyOf = (row: Row) => emptyWorld()[name].keyOf(row as never);
  const eachFile = async (check: (file: string, row: Row) => Promise<void>) => {
    for (const file of [files.complete, files.truncated]) await check(file, rowsOf(file, name).at(-1) as Row);
  };

  test("a row with another value is found", () =>
    eachFile(async (file, row) => {
      const change = (sqlite: Sqlite) => {
        removeRow(sqlite, name, row);
        writeRow(sqlite, name, changed(row));
      };
      const [difference, ...others] = await differencesAfter(file, change);
      expect([difference?.where, others]).toEqual([where, []]);
      const [, key, stored = "", journaled = ""] =
        /^(.+?) is (\{.*\}), but the journal gives (\{.*\})$/.exec(difference?.message ?? "") ?? [];
      expect([key, JSON.parse(stored), JSON.parse(journaled)]).toEqual([keyOf(row), changed(row), row]);
    }));

  test("a missing row is found", () =>
    eachFile(async (file, row) => {
      expect(await differencesAfter(file, (sqlite) => removeRow(sqlite, name, row))).toEqual([
        { where, message: `${keyOf(row)} is in the journal but not in the table` },
      ]);
    }));

  test("a row that no event has created is found", () =>
    eachFile(async (file, row) => {
      const other = another(name, row);
      expect(await differencesAfter(file, (sqlite) => void writeRow(sqlite, name, other))).toEqual([
        { where, message: `${keyOf(other)} is in the table but not in the journal` },
      ]);
    }));
});

test.each([...JOURNALED_TABLES, ...UNJOURNALED_TABLES])("a damaged row of %s is found", async (name) => {
  const where = tableName(name);
  const damage = (sqlite: Sqlite) => void sqlite.exec(`UPDATE ${where} SET checksum = checksum + 1`);
  expect(await differencesAfter(files.complete, damage)).toEqual([
    { where, message: expect.stringMatching(/^row .* is damaged$/) },
  ]);
});

test("a row with a negative number is found", async () => {
  const row = { ...(rowsOf(files.complete, "operations").at(-1) as Row), id: "unknown", number: -9 };
  expect(
    await differencesAfter(files.complete, (sqlite) => void writeRow(sqlite, "operations", row)),
  ).toEqual([{ where: "operations", message: "unknown is in the table but not in the journal" }]);
});

test("at most 100 differences are reported", async () => {
  for (const [count, reported] of [
    [100, 100],
    [101, 100],
  ]) {
    const [account] = rowsOf(files.complete, "accounts");
    const differences = await differencesAfter(files.complete, (sqlite) => {
      for (let index = 0; index < (count ?? 0); index += 1)
        writeRow(sqlite, "accounts", { ...account, id: `account-${index}` });
    });
    expect(differences).toHaveLength(reported ?? 0);
  }
});

test("damage of the file's structure is found, and the rest is verified all the same", async () => {
  const intact = inMemory(files.complete);
  intact.unsafeMode(true);
  intact.pragma("writable_schema = ON");
  // The index now claims to contain other rows than it does.
  intact.exec(
    "UPDATE sqlite_schema SET sql = replace(sql, '''scheduling''', '''finished''') WHERE name = 'operations_unfinished'",
  );
  const reopened = new BetterSqlite3(intact.serialize());
  const { ok, to, differences } = await verifyFile(reopened, async () => undefined);
  expect([ok, to]).toEqual([false, files.head]);
  expect(differences.map(({ where }) => where)).toContain("file");
  expect(JSON.stringify(differences)).toMatch(/missing from index operations_unfinished/);
});

describe("finished operations", () => {
  /** The newest operation that had finished when truncated history begins, and that instant. */
  const finishedBefore = () => {
    const sqlite = inMemory(files.complete);
    const { at } = sqlite
      .prepare<[number], { at: number }>("SELECT at FROM checkpoints WHERE seq = ?")
      .get(files.first) as { at: number };
    const operation = rowsOf<Operation>(files.complete, "operations").findLast(
      ({ state, updatedAt }) => state.status === "finished" && updatedAt <= at,
    ) as Operation;
    return { at, operation };
  };
  const isUnknown = (id: string) => [
    { where: "operations", message: `${id} is in the table but not in the journal` },
  ];
  const isMissing = (id: string) => [
    { where: "operations", message: `${id} is in the journal but not in the table` },
  ];
  const added = (file: string, fields: object) =>
    differencesAfter(file, (sqlite) => {
      writeRow(sqlite, "operations", { ...finishedBefore().operation, id: "old", number: FREE, ...fields });
    });

  test("from before the beginning of history may still be in the table", async () => {
    const { at } = finishedBefore();
    expect(await added(files.truncated, {})).toEqual([]);
    expect(await added(files.truncated, { updatedAt: at })).toEqual([]);
    for (const status of ["failed", "cancelled"])
      expect(await added(files.truncated, { state: { status } })).toEqual([]);
  });

  test("are in the journal if they ended later, are unfinished, or are newer than the world", async () => {
    const { at } = finishedBefore();
    const { operation } = files.simulated.world.numbers;
    expect(await added(files.truncated, { updatedAt: at + 1 })).toEqual(isUnknown("old"));
    expect(await added(files.truncated, { state: { status: "scheduling" } })).toEqual(isUnknown("old"));
    const newest = rowsOf<Operation>(files.truncated, "operations").at(-1) as Operation;
    expect(newest.number).toBe(operation);
    // It replaces that operation, and is not unknown.
    expect(await added(files.truncated, { number: operation })).toEqual(isMissing(newest.id));
    expect(await added(files.truncated, { number: operation + 1 })).toEqual(isUnknown("old"));
  });

  test("are all in a complete journal", async () => {
    expect(await added(files.complete, { updatedAt: 0 })).toEqual(isUnknown("old"));
  });

  test("may be missing if they ended before the instant up to which operations are truncated", async () => {
    const { operation } = finishedBefore();
    const removed = (prunedBefore: number, row = operation) =>
      differencesAfter(files.complete, (sqlite) => {
        writeHistoryRow(sqlite, {
          ...readHistoryRow(sqlite),
          operationsForgottenBefore: prunedBefore,
        });
        removeRow(sqlite, "operations", row);
      });
    expect(await removed(operation.updatedAt + 1)).toEqual([]);
    expect(await removed(operation.updatedAt)).toEqual(isMissing(operation.id));
    const unfinished = rowsOf<Operation>(files.complete, "operations").at(-1) as Operation;
    expect(unfinished.state.status).not.toBe("finished");
    expect(await removed(unfinished.updatedAt + 1, unfinished)).toEqual(isMissing(unfinished.id));
  });
});
