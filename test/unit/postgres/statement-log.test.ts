import { expect, test } from "vitest";
import { StatementLog } from "../../../src/postgres/statements/statement-log.ts";

const statement = {
  ...{ at: 0, endpointId: "ep-a", database: "neondb", role: "neondb_owner", parameters: 0 },
  outcome: { done: "" },
};

test.each([
  [
    "create role app login password 'secret' valid until 'infinity'",
    "create role app login password '***' …",
  ],
  ["ALTER ROLE app PASSWORD E'sec''ret'", "ALTER ROLE app PASSWORD '***' …"],
  ["alter role app password $x$secret$x$", "alter role app password '***' …"],
  [
    "create user mapping for app server s options (user 'a', password 'secret')",
    "create user mapping for app server s options (user 'a', password '***' …",
  ],
  ["select dblink('host=h password=secret user=u')", "select dblink('host=h password=*** user=u')"],
  [
    "create subscription s connection 'postgres://app:secret@host/db' publication p",
    "create subscription s connection '***' …",
  ],
  [
    `create subscription s connection 'host=h password=''my secret'' user=u' publication p`,
    "create subscription s connection '***' …",
  ],
  ["alter subscription s connection $x$password=a$b$x$", "alter subscription s connection '***' …"],
  ["alter subscription s CONNECTION/**/E'password=a'", "alter subscription s CONNECTION '***' …"],
  ["alter subscription s disable", "alter subscription s disable"],
  ["select dblink('password = secret user=u')", "select dblink('password = *** user=u')"],
  ["select dblink('password=my$ecret user=u')", "select dblink('password=*** user=u')"],
  [`select 'postgres://app:${"x".repeat(200)}@host/db'`, "select 'postgres://app:***@host/db'"],
  ["update users set password = 'secret'", "update users set password = '***' …"],
  ["update users set password = $1", "update users set password = $1"],
  ['alter role app password "secret"', "alter role app password '***' …"],
  ["alter user app with password secret", "alter user app with password '***' …"],
  ["alter role app password/**/'secret'", "alter role app password '***' …"],
  ["alter role app password null login", "alter role app password null login"],
  ["create role password_reader", "create role password_reader"],
  ["select password from users where role = 'admin'", "select password from users where role = 'admin'"],
  ["select 'no secret'", "select 'no secret'"],
])("%s is logged without its password", (text, expected) => {
  const log = new StatementLog();
  log.add("default", { ...statement, text });
  expect(log.of("default").map((logged) => logged.text)).toEqual([expected]);
});

test("a log has the newest 2000 statements of all worlds, each for its world", () => {
  const log = new StatementLog();
  for (let number = 1; number <= 4_500; number += 1)
    log.add(number % 2 === 0 ? "even" : "odd", { ...statement, text: String(number) });
  expect(log.of("even").map(({ text }) => text)).toEqual(
    Array.from({ length: 1_000 }, (_, index) => String(2_502 + 2 * index)),
  );
  expect(log.of("odd")).toHaveLength(1_000);
});

test("the error of a statement with a password does not quote it", () => {
  const log = new StatementLog();
  const failed = (text: string, message: string) =>
    log.add("default", { ...statement, text, outcome: { failed: { code: "42601", message } } });
  failed('alter role app password "secret"', 'syntax error at or near ""secret""');
  failed("alter role app password 'my'secret'", 'unterminated quoted string at or near "secret\'"');
  failed("alter role app password secret", 'syntax error at or near "secret"');
  failed("selec 1", 'syntax error at or near "selec"');
  expect(log.of("default").map(({ outcome }) => "failed" in outcome && outcome.failed.message)).toEqual([
    'syntax error at or near "***"',
    'unterminated quoted string at or near "***"',
    'syntax error at or near "***"',
    'syntax error at or near "selec"',
  ]);
});
