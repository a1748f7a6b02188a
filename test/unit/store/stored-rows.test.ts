import { readFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { drizzle } from "drizzle-orm/better-sqlite3";
import { migrate } from "drizzle-orm/better-sqlite3/migrator";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ALL_ROWS } from "../../../src/kernel/change-set.ts";
import type { Account } from "../../../src/platform/model/account.ts";
import type { Operation } from "../../../src/platform/model/operation.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { StoredOperations } from "../../../src/store/journal/stored-operations.ts";
import { CorruptFile } from "../../../src/store/tables/journal-checksum.ts";
import { checkChecksums, rewriteChecksums } from "../../../src/store/tables/row-checksums.ts";
import { RowWriter } from "../../../src/store/tables/row-writer.ts";
import { prepareReader, readAllRows } from "../../../src/store/tables/stored-tables.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const templates = temporaryDirectory();
let template: Buffer;
beforeAll(() => {
  const path = join(templates.path, "empty.sqlite");
  openStore(path, { migrationsFolder: "migrations" }).close();
  template = readFileSync(path);
  // A log cannot be in memory. These bytes of the header state the kind of log.
  template.fill(1, 18, 20);
});
afterAll(templates.remove);

const account = (id: string, number: number, name = id): Account => ({
  ...{ id, number, name, email: `${id}@example.com` },
  ...{ plan: "paid", organizationId: `org-${id}`, createdAt: 5 },
});

function createFile() {
  const sqlite = new BetterSqlite3(template);
  onTestFinished(() => void sqlite.close());
  const writer = new RowWriter(sqlite);
  const write = (key: string, value?: unknown, table = "accounts") => writer.write({ table, key, value });
  const ids = () => readAllRows(sqlite, "accounts").map((row) => (row as { id: string }).id);
  return { sqlite, write, ids };
}

test("rows are inserted, replaced, deleted, and all deleted", () => {
  const { sqlite, write, ids } = createFile();
  for (const [index, id] of ["a", "b", "c"].entries()) write(id, account(id, index + 1));
  expect(readAllRows(sqlite, "accounts")[1]).toEqual(account("b", 2));
  write("b", account("b", 2, "other"));
  expect(readAllRows(sqlite, "accounts")[1]).toEqual(account("b", 2, "other"));
  write("a");
  expect(ids()).toEqual(["b", "c"]);
  write("not there");
  write(ALL_ROWS);
  expect(ids()).toEqual([]);
});

test("rows come in the order of their numbers, by each reader", () => {
  const { sqlite, write, ids } = createFile();
  for (const [id, number] of [
    ["c", 3],
    ["a", 1],
    ["b", 2],
  ] as const)
    write(id, account(id, number));
  expect(ids()).toEqual(["a", "b", "c"]);
  expect(prepareReader<{ id: string }>(sqlite, "accounts")().map(({ id }) => id)).toEqual(["a", "b", "c"]);
});

test("a change of an unknown table is an error", () => {
  expect(() => createFile().write("a", {}, "seats")).toThrow("there is no table for changes of seats");
});

test("a row that was changed without its checksum is damage, which names its key", () => {
  const { sqlite, write, ids } = createFile();
  for (const [index, id] of ["a", "b"].entries()) write(id, account(id, index + 1));
  expect(() => checkChecksums(sqlite)).not.toThrow();
  sqlite.prepare("UPDATE accounts SET name = 'x' WHERE id = 'b'").run();
  expect(ids).toThrow(new CorruptFile('row "b" of accounts is damaged'));
  expect(() => checkChecksums(sqlite)).toThrow(new CorruptFile("a row of accounts is damaged"));
  rewriteChecksums(sqlite);
  expect(ids()).toEqual(["a", "b"]);
  expect(() => checkChecksums(sqlite)).not.toThrow();
});

test("tables and columns that an older release does not have are not checked", () => {
  const { sqlite, write } = createFile();
  write("a", account("a", 1));
  sqlite.exec("DROP TABLE branch_snapshots");
  expect(() => checkChecksums(sqlite)).not.toThrow();
});

/** The first number of the next block (`block` in src/store/tables/schema.ts). */
const BLOCK = 16_384;

function createOperations() {
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
  const { store, operations } = createOperations();
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
  const { store, operations } = createOperations();
  expect(operations.byId("same-sta-1")).toBeUndefined();
  for (const number of [1, 2, BLOCK, 3 * BLOCK + 5]) store(operation(number, "a"));
  for (const number of [1, 2, BLOCK, 3 * BLOCK + 5])
    expect(operations.byId(`same-sta-${number}`)).toEqual(operation(number, "a"));
  for (const id of ["same-sta", "same-sta-", "same-sta-3", "", "x".repeat(5_000)])
    expect(operations.byId(id)).toBeUndefined();
});

test("a change of an operation replaces its row", () => {
  const { sqlite, store, operations } = createOperations();
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
  const { sqlite } = createOperations();
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
