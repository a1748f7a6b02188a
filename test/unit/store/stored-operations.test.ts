import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { expect, onTestFinished, test } from "vitest";
import type { Operation } from "../../../src/platform/operation/operation.ts";
import { StoredOperations } from "../../../src/store/journal/stored-operations.ts";
import { RowWriter } from "../../../src/store/tables/stored-tables.ts";

/** The first number of the next block (`block` in src/store/tables/schema.ts). */
const BLOCK = 16_384;

function createTable() {
  const sqlite = new BetterSqlite3(":memory:");
  onTestFinished(() => void sqlite.close());
  migrate(drizzle(sqlite, { casing: "snake_case" }), { migrationsFolder: "migrations" });
  const writer = new RowWriter(sqlite);
  const store = (operation: Operation) =>
    writer.write({ table: "operations", key: operation.id, value: operation });
  return { sqlite, store, operations: new StoredOperations(sqlite) };
}

const operation = (number: number, projectId: string, id = `same-sta-${number}`): Operation => ({
  ...{ id, number, projectId, action: "create_timeline", durationMs: 1000 },
  ...{ cause: "request", thenStart: false, createdAt: 5, updatedAt: 6 },
  state: { status: "finished", startedAt: 5, finishedAt: 6 },
});

test("the operations of a project are found across blocks, newest first and within limits", () => {
  const { store, operations } = createTable();
  const numbers = [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK, 5 * BLOCK + 7];
  for (const number of numbers) {
    store(operation(number, "a"));
    store(operation(number + 100, "b", `other-${number}`));
  }
  const found = (limit: number, before: number) =>
    operations.ofProject("a", limit, before).map(({ number }) => number);
  const newestFirst = numbers.toReversed();
  expect(found(100, Number.MAX_SAFE_INTEGER)).toEqual(newestFirst);
  for (let limit = 0; limit <= numbers.length; limit += 1)
    expect(found(limit, Number.MAX_SAFE_INTEGER)).toEqual(newestFirst.slice(0, limit));
  expect(found(100, 5 * BLOCK)).toEqual([BLOCK + 1, BLOCK, BLOCK - 1, 2, 1]);
  expect(found(2, BLOCK + 1)).toEqual([BLOCK, BLOCK - 1]);
  expect(found(100, 1)).toEqual([]);
  expect(operations.ofProject("c", 100, Number.MAX_SAFE_INTEGER)).toEqual([]);
});

test("an operation is found by its id in each block, and others with the same beginning are not", () => {
  const { store, operations } = createTable();
  expect(operations.byId("same-sta-1")).toBeUndefined();
  for (const number of [1, 2, BLOCK, 3 * BLOCK + 5]) store(operation(number, "a"));
  for (const number of [1, 2, BLOCK, 3 * BLOCK + 5])
    expect(operations.byId(`same-sta-${number}`)).toEqual(operation(number, "a"));
  for (const id of ["same-sta", "same-sta-", "same-sta-3", "", "x".repeat(5_000)])
    expect(operations.byId(id)).toBeUndefined();
});

test("a change of an operation replaces its row", () => {
  const { sqlite, store, operations } = createTable();
  store(operation(1, "a"));
  const failed: Operation = {
    ...operation(1, "a"),
    state: { status: "failed", startedAt: 5, failedAt: 7 },
    updatedAt: 7,
  };
  store(failed);
  expect(operations.byId(failed.id)).toEqual(failed);
  expect(sqlite.prepare("SELECT count(*) FROM operations").pluck().get()).toBe(1);
});

test("both searches use an index", () => {
  const { sqlite } = createTable();
  const planOf = (where: string) =>
    sqlite
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN SELECT id FROM operations WHERE ${where}`)
      .all()
      .map(({ detail }) => detail);
  expect(planOf("block = 1 AND id_start = 'a' AND id = 'b'")).toEqual([
    "SEARCH operations USING INDEX operations_by_id (block=? AND id_start=?)",
  ]);
  expect(planOf("block = 1 AND project_id = 'a' AND number < 7 ORDER BY number DESC")).toEqual([
    "SEARCH operations USING INDEX operations_of_project (block=? AND project_id=? AND number<?)",
  ]);
});
