import { expect, test } from "vitest";
import { rolesWithSecretAfter } from "../../../../../src/platform/rules/branch/role.ts";
import {
  isSecretCreatedBetween,
  verifierId,
} from "../../../../../src/platform/rules/branch/secret-references.ts";
import { emptyWorld } from "../../../../../src/platform/world/world.ts";

const worldAt = (role: number, seq: number) => {
  const world = emptyWorld();
  world.numbers.role = role;
  world.seq = seq;
  return world;
};

// From role 2 and event 20 (exclusive) to role 4 and event 40 (inclusive).
test.each([
  ["role-2", false],
  ["role-3", true],
  ["role-4", true],
  ["role-5", false],
  ["service-20", false],
  ["service-21", true],
  ["service-40", true],
  ["service-41", false],
])("whether the secret %s was created between two worlds: %s", (secretId, expected) => {
  expect(isSecretCreatedBetween(worldAt(2, 20), worldAt(4, 40), secretId)).toBe(expected);
});

test("a verifier counts as created with its password", () => {
  expect(verifierId("role-3")).toBe("role-3:verifier");
  expect(isSecretCreatedBetween(worldAt(2, 20), worldAt(4, 40), "role-3:verifier")).toBe(true);
  expect(isSecretCreatedBetween(worldAt(2, 20), worldAt(4, 40), "role-2:verifier")).toBe(false);
});

test("roles get passwords if they can log in and their secret is newer (exclusive)", () => {
  const role = { createdAt: 0, updatedAt: 0 };
  const roles = [
    { ...role, name: "old", secretId: "role-5" },
    { ...role, name: "new", secretId: "role-6" },
    { ...role, name: "group", secretId: "role-7", noLogin: true },
  ] as const;
  expect(rolesWithSecretAfter(roles, 5).map(({ name }) => name)).toEqual(["new"]);
});
