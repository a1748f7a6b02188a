import { expect, test } from "vitest";
import { type AppliedContent, learnedChanges } from "../../../../src/postgres/content/content.ts";
import { knownContent } from "../../../../src/postgres/content/known-content.ts";
import { formatVerifier, newVerifier } from "../../../../src/worlds/scram-verifier.ts";

const NOTHING: AppliedContent = { roles: [], databases: [] };
const verifier = formatVerifier(newVerifier("secret"));

test("a role that SQL has created is known once the world has it with the same password", () => {
  const changes = learnedChanges(NOTHING, { roles: [{ name: "clerk", verifier: undefined }], databases: [] });
  const wanted = (password: string | null) => ({ roles: [{ name: "clerk", password }], databases: [] });
  expect(knownContent(NOTHING, wanted(null), changes)).toEqual(wanted(null));
  // Of the API: the role is created as the API has done.
  expect(knownContent(NOTHING, wanted("salt"), changes)).toEqual(NOTHING);
});

test("a role is known with the password of the cluster, also if the API has deleted it or changed its password", () => {
  const applied = { roles: [{ name: "clerk", password: "old" }], databases: [] };
  const changes = learnedChanges(applied, { roles: [{ name: "clerk", verifier }], databases: [] });
  const [, salt = ""] = verifier.split("$")[1]?.split(":") ?? [];
  expect(knownContent(applied, NOTHING, changes).roles).toEqual([{ name: "clerk", password: salt }]);
});

test("a database that SQL has created is known with its owner, and the world's id", () => {
  const changes = learnedChanges(NOTHING, { roles: [], databases: [{ name: "shop", owner: "ada" }] });
  const wanted = { roles: [], databases: [{ id: 7, name: "shop", owner: "bob" }] };
  expect(knownContent(NOTHING, wanted, changes).databases).toEqual([{ id: 7, name: "shop", owner: "ada" }]);
  // The world does not have it: it is not dropped.
  expect(knownContent(NOTHING, NOTHING, changes)).toEqual(NOTHING);
});
