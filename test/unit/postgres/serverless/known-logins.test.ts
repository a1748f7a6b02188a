import { expect, test } from "vitest";
import { hashOfPassword } from "../../../../src/postgres/login/known-passwords.ts";
import { KnownLogins } from "../../../../src/postgres/serverless/known-logins.ts";
import { parseLogin } from "../../../../src/postgres/serverless/sql-request.ts";

const urlOf = (password: string) =>
  `postgresql://owner:${password}@ep-one-1.region.localhost/db?application_name=app`;

test("a connection string is parsed once, and another one again", () => {
  const logins = new KnownLogins();
  const parsed: string[] = [];
  const find = (text: string) =>
    logins.find(text, (connectionString) => {
      parsed.push(connectionString);
      return parseLogin(connectionString);
    });
  const first = find(urlOf("first"));
  expect(find(urlOf("first"))).toBe(first);
  const { password, ...login } = parseLogin(urlOf("first"));
  expect(first).toEqual({ login, passwordHash: hashOfPassword(password) });
  expect(find(urlOf("second")).passwordHash).not.toBe(first.passwordHash);
  expect(parsed).toEqual([urlOf("first"), urlOf("second")]);
});

test("an invalid connection string is not remembered", () => {
  const logins = new KnownLogins();
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect(() => logins.find("nonsense", parseLogin)).toThrow("is not a URL");
});
