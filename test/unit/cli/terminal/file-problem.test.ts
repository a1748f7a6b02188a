import BetterSqlite3 from "better-sqlite3";
import { expect, test } from "vitest";
import { refusedAccess, writeProblem } from "../../../../src/cli/terminal/file-problem.ts";

test.each([
  ["SQLITE_READONLY", "this user cannot write the file or its directory"],
  ["SQLITE_READONLY_DIRECTORY", "this user cannot write its directory"],
  ["SQLITE_READONLY_CANTINIT", "this user cannot write its directory"],
  ["SQLITE_READONLY_DBMOVED", "the message of SQLite"],
  ["SQLITE_CANTOPEN", "it cannot be opened by this user"],
  ["SQLITE_CORRUPT", undefined],
])("%s names what this user cannot write", (code, text) => {
  expect(refusedAccess(new BetterSqlite3.SqliteError("the message of SQLite", code))).toBe(text);
});

test("a file whose name is too long is no text of the system", () => {
  const error = Object.assign(new Error("ENAMETOOLONG: name too long"), { code: "ENAMETOOLONG" });
  expect(writeProblem(error)).toBe("its name is too long");
});

test("an error whose code is a number, such as that of an aborted call, is no problem of a file", () => {
  expect(refusedAccess(new DOMException("aborted", "AbortError"))).toBeUndefined();
});
