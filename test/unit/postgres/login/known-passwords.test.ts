import { expect, test } from "vitest";
import { hashOfPassword, KnownPasswords } from "../../../../src/postgres/login/known-passwords.ts";
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
  const [first, second] = [hashOfPassword("first"), hashOfPassword("second")];
  expect([passwords.isKnown(first, one), passwords.isKnown(first, two)]).toEqual([true, false]);
  expect([passwords.isKnown(second, one), passwords.isKnown(second, two)]).toEqual([false, true]);
});

test("a password that was changed is not known any more", async () => {
  const passwords = new KnownPasswords();
  const before = newVerifier("old");
  const after = newVerifier("new");
  expect(passwords.isKnown(hashOfPassword("old"), before)).toBe(false);
  expect(await passwords.matches("old", before)).toBe(true);
  expect(await passwords.matches("old", after)).toBe(false);
  expect(passwords.isKnown(hashOfPassword("old"), before)).toBe(true);
  expect(passwords.isKnown(hashOfPassword("old"), after)).toBe(false);
});
