import path from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect, test } from "vitest";
import { CopyThread } from "../../../src/store/file/copy-thread.ts";
import { openCopyWriter } from "../../../src/store/file/open-copy-writer.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const INSERT = "INSERT INTO numbers VALUES (?, ?)";

async function inFile(work: (file: string) => Promise<void>): Promise<void> {
  const directory = temporaryDirectory();
  const file = path.join(directory.path, "copy.sqlite");
  const sqlite = new BetterSqlite3(file);
  sqlite.exec(
    "PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER PRIMARY KEY, checksum INTEGER)",
  );
  sqlite.close();
  try {
    await work(file);
  } finally {
    directory.remove();
  }
}

function numbersIn(file: string): number[] {
  const sqlite = new BetterSqlite3(file, { readonly: true });
  const numbers = sqlite.prepare<[], number>("SELECT number FROM numbers").pluck().all();
  sqlite.close();
  return numbers;
}

test("a thread executes what it was given, in order, before its commit resolves", () =>
  inFile(async (file) => {
    const thread = new CopyThread(file);
    for (let number = 0; number < 20; number += 1) await thread.runChecked(INSERT, `[${number}]`);
    await thread.execute("DELETE FROM numbers WHERE number >= 10");
    await thread.runChecked(INSERT, "[11]\n[12]");
    await thread.commit();
    expect(numbersIn(file)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]);
  }));

test("a failed statement fails a later call with the error of SQLite", () =>
  inFile(async (file) => {
    const thread = new CopyThread(file);
    await thread.runChecked(INSERT, "[1]\n[1]");
    const more = async () => {
      for (let number = 2; ; number += 1) await thread.runChecked(INSERT, `[${number}]`);
    };
    await expect(more()).rejects.toThrow(BetterSqlite3.SqliteError);
    await expect(thread.commit()).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_PRIMARYKEY" });
    await thread.abandon();
  }));

test("a thread that has died fails the copy", () =>
  inFile(async (file) => {
    const thread = new CopyThread(file);
    await thread.abandon();
    await expect(thread.execute("SELECT 1")).rejects.toThrow("the thread that writes the copy has ended");
    await expect(thread.commit()).rejects.toThrow("the thread that writes the copy has ended");
  }));

test("a small file is written without a thread", () =>
  inFile(async (file) => {
    const writer = openCopyWriter(file);
    expect(writer).not.toBeInstanceOf(CopyThread);
    await writer.runChecked(INSERT, "[1]");
    await writer.commit();
    expect(numbersIn(file)).toEqual([1]);
  }));
