import { expect, test } from "vitest";
import { serverLogLine } from "../../../../src/postgres/processes/server-log.ts";

test.each([
  ["[postmaster] LOG:  database system is ready", "LOG:  database system is ready"],
  ["[startup] FATAL:  could not access status", "FATAL:  could not access status"],
  [
    "[not initialized] FATAL:  the database system is starting up",
    "FATAL:  the database system is starting up",
  ],
  ["postgres: could not find the database system", "postgres: could not find the database system"],
])("a line of the server itself is shown: %s", (line, shown) => {
  expect(serverLogLine(line)).toBe(shown);
});

test.each([
  "[client backend] LOG:  raised by a function with a password",
  "[client backend] STATEMENT:  alter role x password 'secret'",
  "[postmaster] DETAIL:  Failed process was running: alter role x password 'secret'",
  "[postmaster] STATEMENT:  alter role x password 'secret'",
  "[parallel worker] ERROR:  value 'secret' is out of range",
  "[autovacuum worker] ERROR:  index expression with 'secret'",
  "[walsender] ERROR:  publication 'secret' does not exist",
  "[logical replication worker] ERROR:  'secret'",
  "[x] LOG:  a prefix that no process has",
  "[client backend] LOG:  first line\n",
  "\tsecond line of what a client has raised",
  "  [postmaster] LOG:  what a client has indented",
  "",
])("a line that a client may have written is not shown: %s", (line) => {
  expect(serverLogLine(line)).toBeUndefined();
});
