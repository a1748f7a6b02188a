import { expect, test } from "vitest";
import { checkSqliteModule, sqliteModuleError } from "../../../src/store/file/sqlite-module.ts";

test.each([
  ["20.20.2", "13.2.0", /^better-sqlite3 13\.2\.0 needs Node 22 .* npm install better-sqlite3@12\.11\.1,/],
  ["21.7.3", "14.0.0", /^better-sqlite3 14\.0\.0 needs Node 22/],
])("on Node %s, version %s of the SQLite module is an error", (node, installed, problem) => {
  expect(() => checkSqliteModule(node, () => installed)).toThrow(problem);
});

test.each([
  ["20.20.2", "12.11.1"],
  ["20.20.2", undefined],
  ["22.0.0", "13.2.0"],
  ["24.1.0", "12.11.1"],
])("on Node %s, version %s of the SQLite module is accepted", (node, installed) => {
  checkSqliteModule(node, () => installed);
});

const withCode = (message: string, code?: string) => Object.assign(new Error(message), { code });

test.each([
  withCode("Could not locate the bindings file. Tried:\n → /app/build/better_sqlite3.node"),
  withCode("Cannot find module 'better-sqlite3'\nRequire stack:\n- /app/x.js", "MODULE_NOT_FOUND"),
  withCode(
    "The module 'better_sqlite3.node'\nwas compiled against a different Node.js version",
    "ERR_DLOPEN_FAILED",
  ),
])("a SQLite module that cannot be loaded is one line with what to run: %s", (error) => {
  expect(sqliteModuleError(error)?.message).toMatch(
    /^the module better-sqlite3 cannot be loaded: [^\n]*; run npm rebuild better-sqlite3, [^\n]*$/,
  );
});

test.each([
  withCode("database is locked", "SQLITE_BUSY"),
  withCode("Cannot find module 'x'", "MODULE_NOT_FOUND"),
])("another error is not about the module: %s", (error) => {
  expect(sqliteModuleError(error)).toBeUndefined();
});
