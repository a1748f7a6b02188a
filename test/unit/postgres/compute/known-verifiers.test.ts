import { expect, test } from "vitest";
import { verifierId } from "../../../../src/platform/rules/branch/secret-references.ts";
import { emptyWorld } from "../../../../src/platform/world/world.ts";
import { KnownVerifiers } from "../../../../src/postgres/compute/known-verifiers.ts";
import { formatVerifier, newVerifier } from "../../../../src/worlds/scram-verifier.ts";

const role = { name: "owner", secretId: "secret-1" } as never;
const sealedId = verifierId("secret-1");
const [first, second] = ["first", "second"].map((password) => formatVerifier(newVerifier(password)));

function verifiers() {
  const world = emptyWorld();
  const known = new KnownVerifiers();
  let reads = 0;
  const look = (text: string | undefined) => {
    const verifier = known.verifierOf({ world }, role, () => {
      reads += 1;
      return text;
    });
    return verifier && formatVerifier(verifier);
  };
  return { world, look, reads: () => reads };
}

test("the verifier of a role is decrypted once, and again after its password has changed", () => {
  const { world, look, reads } = verifiers();
  world.secrets.set({ id: sealedId, value: "sealed 1" });
  expect([look(first), look(first)]).toEqual([first, first]);
  expect(reads()).toBe(1);
  world.secrets.set({ id: sealedId, value: "sealed 2" });
  expect(look(second)).toBe(second);
  expect(reads()).toBe(2);
});

test("a role whose verifier was deleted has none", () => {
  const { world, look } = verifiers();
  world.secrets.set({ id: sealedId, value: "sealed 1" });
  expect(look(first)).toBe(first);
  world.secrets.delete(sealedId);
  expect(look(undefined)).toBeUndefined();
});
