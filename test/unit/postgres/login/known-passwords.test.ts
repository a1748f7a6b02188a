import { expect, test } from "vitest";
import { KnownPasswords } from "../../../../src/postgres/login/known-passwords.ts";
import { newVerifier } from "../../../../src/worlds/scram-verifier.ts";

test("a password that is known to be right for one role is not for another", async () => {
  const passwords = new KnownPasswords();
  const [one, two] = [newVerifier("first"), newVerifier("second")];
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await passwords.matches("first", one)).toBe(true);
    expect(await passwords.matches("first", two)).toBe(false);
    expect(await passwords.matches("second", two)).toBe(true);
    expect(await passwords.matches("second", one)).toBe(false);
  }
});

test("a password that was changed is not known any more", async () => {
  const passwords = new KnownPasswords();
  expect(await passwords.matches("old", newVerifier("old"))).toBe(true);
  expect(await passwords.matches("old", newVerifier("new"))).toBe(false);
});
