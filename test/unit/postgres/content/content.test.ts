import { expect, test } from "vitest";
import { asApplied, learnedChanges, passwordId } from "../../../../src/postgres/content/content.ts";
import { formatVerifier, newVerifier } from "../../../../src/worlds/scram-verifier.ts";

const verifier = formatVerifier(newVerifier("secret"));
const [, , keys = ""] = verifier.split("$");

test("what is stored in a cluster tells one password from another, and contains no verifier", () => {
  const roles = [
    { name: "owner", verifier },
    { name: "group", verifier: undefined },
    { name: "old", verifier: "md5c4ca4238a0b923820dcc509a6f75849b" },
  ];
  const stored = JSON.stringify(asApplied({ roles, databases: [] }));
  expect(keys).toContain(":");
  for (const part of [...keys.split(":"), "c4ca4238"]) expect(stored).not.toContain(part);
  expect(passwordId(verifier)).not.toBe(passwordId(formatVerifier(newVerifier("secret"))));
  expect(passwordId(undefined)).toBeNull();
});

test("a password that SQL has changed is noticed, and one that stayed is not", () => {
  const role = (text: string) => ({ name: "owner", verifier: text });
  const applied = asApplied({ roles: [role(verifier)], databases: [] });
  const changed = (text: string) =>
    learnedChanges(applied, { roles: [role(text)], databases: [] }).changedPasswords;
  expect(changed(verifier)).toEqual([]);
  const next = formatVerifier(newVerifier("next"));
  expect(changed(next)).toEqual([role(next)]);
});
