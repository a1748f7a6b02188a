import { readFileSync } from "node:fs";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Account } from "../../../src/platform/account/account.ts";
import { ALL_ROWS } from "../../../src/platform/core/change-set.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { CorruptFile } from "../../../src/store/journal/journal-checksum.ts";
import {
  checkChecksums,
  prepareReader,
  RowWriter,
  readAllRows,
  rewriteChecksums,
} from "../../../src/store/tables/stored-tables.ts";
import { temporaryDirectory } from "../../support/process.ts";

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
