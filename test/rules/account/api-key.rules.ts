import { expect, test } from "vitest";
import {
  apiKeyRemovalDueAt,
  isRevokedHash,
  validApiKeys,
  validOrganizationKeys,
} from "../../../src/platform/rules/account/decide-api-key.ts";
import { evolve } from "../../../src/platform/rules/evolve.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";
import {
  createOther,
  ORGANIZATION,
  worldWithAccount,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, DAY, given, NOW, SECOND, type Step } from "../../support/rules/rules.ts";

const createKey: CommandOf<"CreateApiKey"> = {
  type: "CreateApiKey",
  accountId: "owner",
  name: "ci",
  hash: "0123",
};
const createOrganizationKey = { ...createKey, scope: { organizationId: ORGANIZATION } };
const createProjectKey = { ...createKey, scope: { organizationId: ORGANIZATION, projectId: "shop" } };
const revokeKey: CommandOf<"RevokeApiKey"> = { type: "RevokeApiKey", accountId: "owner", keyId: 1 };

test("a new API key is recorded with the hash of its secret", () => {
  given(worldWithAccount())
    .when(createKey)
    .then([
      {
        type: "ApiKeyCreated",
        apiKey: { id: 1, accountId: "owner", name: "ci", hash: "0123", createdAt: NOW },
      },
    ]);
});

test("an API key can belong to an organization", () => {
  given(worldWithAccount())
    .when(createOrganizationKey)
    .then([{ type: "ApiKeyCreated", apiKey: { id: 1, scope: { organizationId: ORGANIZATION } } }]);
});

test("an API key can belong to one project of an organization", () => {
  given(worldWithProject())
    .when(createProjectKey)
    .then([
      { type: "ApiKeyCreated", apiKey: { scope: { organizationId: ORGANIZATION, projectId: "shop" } } },
    ]);
});

test("creating an API key for an unknown account is refused", () => {
  given(worldWithAccount())
    .when({ ...createKey, accountId: "nobody" })
    .thenRefused("ACCOUNT_NOT_FOUND");
});

test("creating an API key for an unknown organization is refused", () => {
  given(worldWithAccount())
    .when({ ...createKey, scope: { organizationId: "org-unknown" } })
    .thenRefused("ORGANIZATION_NOT_FOUND");
});

test("creating an API key for a project of another organization is refused", () => {
  given(worldWithProject(), createOther)
    .when({ ...createKey, scope: { organizationId: "org-other-2", projectId: "shop" } })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("creating a second API key with the same secret is refused, even after the first was revoked", () => {
  given(worldWithAccount(), createKey).when(createKey).thenRefused("API_KEY_EXISTS");
  given(worldWithAccount(), createKey, revokeKey).when(createKey).thenRefused("API_KEY_EXISTS");
});

test("an account may have more than 10,000 API keys", () => {
  const keys = Array.from({ length: 10_000 }, (_, number) => ({ ...createKey, hash: String(number) }));
  given(worldWithAccount(), keys)
    .when({ ...createKey, hash: "next" })
    .then([{ type: "ApiKeyCreated", apiKey: { id: 10_001 } }]);
});

test("an API key is valid until it is revoked, however old it is", () => {
  const valid = (...past: readonly Step[]) =>
    given(worldWithAccount(), createKey, after(3_650 * DAY), ...past).asking((world) =>
      [...validApiKeys(world, "owner")].map(({ id }) => id),
    );
  expect(valid()).toEqual([1]);
  expect(valid(revokeKey)).toEqual([]);
});

test("an account revokes its API key", () => {
  given(worldWithAccount(), createKey)
    .when(revokeKey)
    .then([{ type: "ApiKeyRevoked", keyId: 1 }]);
});

test("a revoked API key is removed after 7 days; its id is not used again", () => {
  given(worldWithAccount(), createKey, revokeKey)
    .when({ kind: "apiKeyRemoval", id: "1" }, after(7 * DAY))
    .then([{ type: "ApiKeyRemoved", keyId: 1 }]);
  given(worldWithAccount(), createKey, revokeKey, after(7 * DAY), { kind: "apiKeyRemoval", id: "1" })
    .when({ ...createKey, hash: "4567" })
    .then([{ type: "ApiKeyCreated", apiKey: { id: 2, hash: "4567" } }]);
});

test("of a removed API key the first 128 bits of its hash stay: its secret is refused for good", () => {
  const hash = "0123456789abcdef".repeat(4);
  const removed = given(
    worldWithAccount(),
    { ...createKey, hash },
    revokeKey,
    after(7 * DAY),
    { kind: "apiKeyRemoval", id: "1" },
    after(10_000 * DAY),
  );
  removed.when({ ...createKey, hash }).thenRefused("API_KEY_EXISTS");
  removed.when({ ...createKey, hash: `1${hash.slice(1)}` }).then([{ type: "ApiKeyCreated" }]);
  const state = removed.asking((world) => ({
    stored: world.revokedHashes.toArray(),
    isRevoked: [hash, `1${hash.slice(1)}`].map((candidate) => isRevokedHash(world, candidate)),
  }));
  expect(state).toEqual({ stored: [{ hash: hash.slice(0, 32), keyId: 1 }], isRevoked: [true, false] });
});

test("of an API key that an earlier release removed, nothing stays", () => {
  const world = emptyWorld();
  evolve(world, { type: "ApiKeyRemoved", seq: 1, at: NOW, decision: 1, keyId: 1 });
  expect(world.revokedHashes.size).toBe(0);
});

test("a valid or an unknown API key is not removed", () => {
  given(worldWithAccount(), createKey).when({ kind: "apiKeyRemoval", id: "1" }).then([]);
  given(worldWithAccount()).when({ kind: "apiKeyRemoval", id: "1" }).then([]);
});

test("at most 1,000 revoked API keys are stored: the next revocation removes the oldest one", () => {
  const pairs = (count: number) =>
    Array.from({ length: count }, (_, index) => [
      { ...createKey, hash: `${index}` },
      { ...revokeKey, keyId: index + 1 },
    ]).flat();
  const last = (keyId: number) => ({ ...revokeKey, keyId });
  given(worldWithAccount(), ...pairs(999), createKey)
    .when(last(1_000))
    .then([{ type: "ApiKeyRevoked", keyId: 1_000 }]);
  given(worldWithAccount(), ...pairs(1_000), createKey)
    .when(last(1_001))
    .then([
      { type: "ApiKeyRevoked", keyId: 1_001 },
      { type: "ApiKeyRemoved", keyId: 1, hash: "0" },
    ]);
  given(worldWithAccount(), ...pairs(1_000), createKey, last(1_001))
    .when({ ...createKey, hash: "0" })
    .thenRefused("API_KEY_EXISTS");
});

test("of the revoked API keys, the one revoked first is removed first; at one instant, the one created first", () => {
  const keys = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const create = keys(1, 1_002).map((id) => ({ ...createKey, hash: `${id}` }));
  const revoke = (ids: readonly number[]) => ids.map((keyId) => ({ ...revokeKey, keyId }));
  const world = given(
    worldWithAccount(),
    ...create,
    ...revoke([1_000]),
    after(SECOND),
    ...revoke(keys(1, 999).reverse()),
    after(SECOND),
  );
  for (const [keyId, removed] of [
    [1_001, 1_000],
    [1_002, 1],
  ] as const)
    world
      .when({ ...revokeKey, keyId })
      .then([{ type: "ApiKeyRevoked" }, { type: "ApiKeyRemoved", keyId: removed }]);
});

test("revoking an unknown or a revoked API key is refused", () => {
  given(worldWithAccount()).when(revokeKey).thenRefused("API_KEY_NOT_FOUND");
  given(worldWithAccount(), createKey, revokeKey).when(revokeKey).thenRefused("API_KEY_NOT_FOUND");
});

test("revoking the API key of another account is refused", () => {
  given(worldWithAccount(), createOther, createKey)
    .when({ ...revokeKey, accountId: "other" })
    .thenRefused("API_KEY_NOT_FOUND");
});

test("a key of an organization is revoked through the organization only", () => {
  given(worldWithAccount(), createOrganizationKey)
    .when({ ...revokeKey, organizationId: ORGANIZATION })
    .then([{ type: "ApiKeyRevoked", keyId: 1 }]);
  given(worldWithAccount(), createOrganizationKey).when(revokeKey).thenRefused("API_KEY_NOT_FOUND");
});

test("an organization revokes neither the key of another organization nor that of a person", () => {
  for (const key of [createKey, { ...createKey, scope: { organizationId: "org-other-2" } }])
    given(worldWithAccount(), createOther, key)
      .when({ ...revokeKey, organizationId: ORGANIZATION })
      .thenRefused("API_KEY_NOT_FOUND");
});

test("the valid keys of a person and of an organization are listed apart, oldest first", () => {
  const key = (hash: string, scope?: { organizationId: string; projectId?: string }): Step => ({
    type: "CreateApiKey",
    accountId: "owner",
    name: hash,
    hash,
    ...(scope === undefined ? {} : { scope }),
  });
  const organizationId = ORGANIZATION;
  const names = given(
    worldWithProject(),
    createOther,
    key("person"),
    key("organization", { organizationId }),
    key("project", { organizationId, projectId: "shop" }),
    key("other", { organizationId: "org-other-2" }),
    key("revoked"),
    key("revoked of the organization", { organizationId }),
    { type: "RevokeApiKey", accountId: "owner", keyId: 5 },
    { type: "RevokeApiKey", accountId: "owner", organizationId, keyId: 6 },
  ).asking((world) => ({
    person: [...validApiKeys(world, "owner")].map(({ name }) => name),
    organization: [...validOrganizationKeys(world, organizationId)].map(({ name }) => name),
    other: [...validApiKeys(world, "other")].map(({ name }) => name),
    removals: ["1", "5", "99"].map((id) => apiKeyRemovalDueAt(world, id)),
  }));
  expect(names).toEqual({
    person: ["person"],
    organization: ["organization", "project"],
    other: [],
    removals: [undefined, NOW + 7 * DAY, undefined],
  });
});
