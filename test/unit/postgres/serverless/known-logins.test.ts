import { expect, test } from "vitest";
import { hashOfPassword } from "../../../../src/postgres/login/known-passwords.ts";
import { KnownLogins } from "../../../../src/postgres/serverless/known-logins.ts";
import { parseLogin } from "../../../../src/postgres/serverless/sql-request.ts";

const urlOf = (password: string) =>
  `postgresql://owner:${password}@ep-one-1.region.localhost/db?application_name=app`;

/** Finds logins, and collects the strings that are parsed for it. */
function knownLogins() {
  const logins = new KnownLogins();
  const parsed: string[] = [];
  const find = (text: string) =>
    logins.find(text, (connectionString) => {
      parsed.push(connectionString);
      return parseLogin(connectionString);
    });
  return { logins, parsed, find };
}

test("a connection string whose password is right is parsed once, and another one again", () => {
  const { logins, parsed, find } = knownLogins();
  const first = find(urlOf("first"));
  logins.remember(first);
  expect(find(urlOf("first"))).toEqual(first);
  const { password, ...login } = parseLogin(urlOf("first"));
  expect(first).toMatchObject({ login, passwordHash: hashOfPassword(password) });
  expect(find(urlOf("second")).passwordHash).not.toBe(first.passwordHash);
  expect(parsed).toEqual([urlOf("first"), urlOf("second")]);
});

test("a connection string whose password is wrong is not remembered", () => {
  const { parsed, find } = knownLogins();
  expect(find(urlOf("wrong"))).toEqual(find(urlOf("wrong")));
  expect(parsed).toEqual([urlOf("wrong"), urlOf("wrong")]);
});

test("an invalid connection string is not remembered", () => {
  const logins = new KnownLogins();
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect(() => logins.find("nonsense", parseLogin)).toThrow("is not a URL");
});
