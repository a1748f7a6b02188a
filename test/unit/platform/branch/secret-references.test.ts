import { expect, test } from "vitest";
import { isSecretCreatedBetween, verifierId } from "../../../../src/platform/branch/secret-references.ts";
import { emptyWorld } from "../../../../src/platform/core/world.ts";

test("a verifier counts as created with its password", () => {
  const [before, after] = [emptyWorld(), emptyWorld()];
  after.numbers.role = before.numbers.role + 1;
  const secretId = `role-${after.numbers.role}`;
  for (const id of [secretId, verifierId(secretId)]) {
    expect(isSecretCreatedBetween(before, after, id)).toBe(true);
    expect(isSecretCreatedBetween(after, after, id)).toBe(false);
  }
});
