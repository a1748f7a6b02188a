import { expect, test } from "vitest";
import { hashSecret, newServiceSecret, sameHash } from "../../../src/worlds/secrets.ts";
import { createAccount, worldState } from "../../support/double/compute.ts";
import { API_KEY, createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";

const create = (double: Double, key_name: unknown = "ci", key?: string) =>
  double.api("POST", "/api_keys", { key_name }, key);
const keysOf = async (double: Double, key?: string) =>
  (await double.api("GET", "/api_keys", undefined, key)).body;

test("a new key has an integer id and a secret of 64 characters, and works", async () => {
  const double = await createDouble();
  const { status, body } = await create(double);
  expect(status).toBe(200);
  expect(Number.isInteger(body.id)).toBe(true);
  expect(body.key).toMatch(/^[A-Za-z0-9]{64}$/);
  expect((await double.api("GET", "/projects", undefined, body.key)).status).toBe(200);
});

test("the list is one array of keys with name, creation and use", async () => {
  const double = await createDouble();
  await double.advance("1h");
  const { body } = await create(double);
  const keys = await keysOf(double);
  expect(Array.isArray(keys)).toBe(true);
  expect(keys.find(({ id }) => id === body.id)).toMatchObject({
    id: body.id,
    name: "ci",
    created_at: "2026-01-01T01:00:00Z",
    last_used_at: null,
    last_used_from_addr: "",
  });
});

test("the secret of a key is shown only at its creation", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  await double.api("GET", "/projects", undefined, body.key);
  const reported = [
    await double.api("GET", "/api_keys"),
    await double.sim("GET", "/state"),
    await double.sim("GET", "/events"),
    await double.sim("GET", "/api_keys"),
    await double.api("DELETE", `/api_keys/${body.id}`),
  ];
  for (const response of reported) expect(JSON.stringify(response.body)).not.toContain(body.key);
});

test("only the hash of a key is stored, and the whole hash is compared", () => {
  const secret = newServiceSecret("key_");
  expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/);
  expect(hashSecret(secret)).not.toContain(secret);
  expect(sameHash(hashSecret(secret), hashSecret(secret))).toBe(true);
  expect(sameHash(hashSecret(secret), hashSecret(`${secret}x`))).toBe(false);
  expect(sameHash(hashSecret(secret), "")).toBe(false);
  expect(newServiceSecret("key_")).not.toBe(secret);
});

test("a revocation answers with the revoked key and its last use", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  await double.advance("90s");
  await double.api("GET", "/projects", undefined, body.key);
  await double.advance("1h");
  const { status, body: revoked } = await double.api("DELETE", `/api_keys/${body.id}`);
  expect(status).toBe(200);
  expect(revoked).toMatchObject({
    id: body.id,
    name: "ci",
    revoked: true,
    last_used_at: "2026-01-01T00:01:30Z",
    last_used_from_addr: "127.0.0.1",
  });
});

test("revocation is immediate: the very next request fails with 401", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  const [revoked, next] = await Promise.all([
    double.api("DELETE", `/api_keys/${body.id}`),
    double.api("GET", "/projects", undefined, body.key),
  ]);
  expect([revoked.status, next.status]).toEqual([200, 401]);
});

test("a key can revoke itself", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  expect((await double.api("DELETE", `/api_keys/${body.id}`, undefined, body.key)).body.revoked).toBe(true);
  expect((await double.api("GET", "/projects", undefined, body.key)).status).toBe(401);
});

test("a revocation is final: the key is no longer listed and a second revocation gets 404", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  await double.api("DELETE", `/api_keys/${body.id}`);
  expect((await keysOf(double)).map(({ id }) => id)).not.toContain(body.id);
  expect((await double.api("DELETE", `/api_keys/${body.id}`)).body).toMatchObject({
    code: "API_KEY_NOT_FOUND",
  });
  const reused = await double.sim("POST", "/api_keys", { key_name: "again", api_key: body.key });
  expect([reused.status, reused.body.code]).toEqual([409, "API_KEY_EXISTS"]);
  await double.advance("365d");
  expect((await double.api("GET", "/projects", undefined, body.key)).status).toBe(401);
});

test("a key does not expire: it is valid until it is revoked", async () => {
  const double = await createDouble();
  await double.advance("36500d");
  expect((await double.api("GET", "/projects")).status).toBe(200);
});

test("the last use of each key is an instant of the world's clock", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  const lastUse = async () => (await keysOf(double)).find(({ id }) => id === body.id).last_used_at;
  for (const [by, at] of [
    ["10s", "2026-01-01T00:00:10Z"],
    ["1h", "2026-01-01T01:00:10Z"],
  ] as const) {
    await double.advance(by);
    await double.api("GET", "/projects", undefined, body.key);
    expect(await lastUse()).toBe(at);
  }
  await double.advance("1h");
  expect(await lastUse()).toBe("2026-01-01T01:00:10Z");
});

test("a request rejected after authentication counts as a use of the key; one rejected before does not", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  await double.advance("1h");
  await double.api("GET", "/projects", undefined, `${body.key}x`);
  expect((await keysOf(double)).find(({ id }) => id === body.id).last_used_at).toBeNull();
  expect((await double.api("GET", "/projects/not-there", undefined, body.key)).status).toBe(404);
  expect((await keysOf(double)).find(({ id }) => id === body.id).last_used_at).toBe("2026-01-01T01:00:00Z");
});

test("a key gives access to all resources of its account", async () => {
  const double = await createDouble();
  const { body } = await create(double);
  const made = await double.api("POST", "/projects", { project: { name: "shared" } });
  expect((await double.api("GET", `/projects/${made.body.project.id}`, undefined, body.key)).status).toBe(
    200,
  );
  expect((await keysOf(double, body.key)).map(({ id }) => id)).toEqual(
    (await keysOf(double)).map(({ id }) => id),
  );
});

test("other accounts can neither see nor revoke the keys of an account", async () => {
  const double = await createDouble();
  const other = await createAccount(double);
  const [mine] = await keysOf(double);
  expect((await keysOf(double, other.key)).map(({ id }) => id)).toEqual([other.keyId]);
  const revoke = await double.api("DELETE", `/api_keys/${mine.id}`, undefined, other.key);
  expect([revoke.status, revoke.body.code]).toEqual([404, "API_KEY_NOT_FOUND"]);
  expect((await keysOf(double)).map(({ id }) => id)).toEqual([mine.id]);
});

test.each([[undefined], [""], [7], [null], ["n".repeat(65)], [["ci"]]])(
  "a key_name of %j is refused with 400, naming it",
  async (name) => {
    const double = await createDouble();
    const before = await worldState(double);
    const { status, body } = await double.api("POST", "/api_keys", { key_name: name });
    expect(status).toBe(400);
    expect(body.message).toContain("key_name");
    expect(await worldState(double)).toBe(before);
  },
);

test("a key name may have 64 characters, and two keys may share a name", async () => {
  const double = await createDouble();
  const one = await create(double, "n".repeat(64));
  const two = await create(double, "n".repeat(64));
  expect([one.status, two.status]).toEqual([200, 200]);
  expect(two.body.id).not.toBe(one.body.id);
});

test.each([
  ["abc", 400],
  ["1.5", 400],
  ["999999", 404],
])("revoking the key %s gets %i", async (id, status) => {
  const double = await createDouble();
  expect((await double.api("DELETE", `/api_keys/${id}`)).status).toBe(status);
});

test("authentication works with ten thousand keys", async () => {
  const double = await createDouble();
  const secrets = Array.from({ length: 10_000 }, (_, index) => `${index}`.padStart(64, "s"));
  await double.world.transact(({ world, execute }) => {
    const [account] = world.accounts.values();
    for (const [index, secret] of secrets.entries()) {
      execute({
        type: "CreateApiKey",
        accountId: account?.id ?? "",
        name: `key ${index}`,
        hash: hashSecret(secret),
      });
    }
  });
  expect(await keysOf(double)).toHaveLength(10_001);
  const statuses = await Promise.all(
    secrets.slice(0, 500).map(async (key) => (await double.api("GET", "/auth", undefined, key)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await double.api("GET", "/auth", undefined, API_KEY)).status).toBe(200);
  expect((await double.api("GET", "/auth", undefined, "x".repeat(64))).status).toBe(401);
});

test("a revoked key is rejected after it is removed from the world, too, also in a reopened world", async () => {
  const stored = await createTestDouble("in files");
  const { body } = await stored.double().api("POST", "/api_keys", { key_name: "ci" });
  const statusOf = async () => (await stored.double().api("GET", "/projects", undefined, body.key)).status;
  const keyIds = async () =>
    (await stored.double().sim("GET", "/state")).body.api_keys.map(({ id }: { id: number }) => id);
  expect(await statusOf()).toBe(200);
  await stored.double().api("DELETE", `/api_keys/${body.id}`);
  await stored.reopen();
  await stored.double().advance("604799s");
  expect([await statusOf(), await keyIds()]).toEqual([401, [1, 2]]);
  await stored.double().advance("1s");
  expect([await statusOf(), await keyIds()]).toEqual([401, [1]]);
  await stored.reopen();
  expect([await statusOf(), await keyIds()]).toEqual([401, [1]]);
  expect((await stored.double().api("POST", "/api_keys", { key_name: "next" })).body.id).toBe(3);
  await stored.double().close();
  expect(await stored.verify("default")).toMatchObject([{ ok: true }]);
});

test("the secret of a revoked key is never valid again, also not after it is removed, after a reset, or in a copy", async () => {
  const stored = await createTestDouble("in files");
  const secret = "a-key-that-was-given";
  const create = (double = stored.double()) =>
    double.sim("POST", "/api_keys", { key_name: "ci", api_key: secret });
  const { id } = (await create()).body;
  await stored.double().sim("DELETE", `/api_keys/${id}`);
  const expectRevoked = async (double: Double) => {
    const again = await create(double);
    expect([again.status, again.body.code]).toEqual([409, "API_KEY_EXISTS"]);
    expect(again.body.message).toBe("api_key: the key with this secret has been revoked; use another secret");
    expect((await double.api("GET", "/projects", undefined, secret)).status).toBe(401);
  };
  await expectRevoked(stored.double());
  await stored.double().advance("8d");
  await expectRevoked(stored.double());
  await stored.double().sim("POST", "/reset");
  await stored.reopen();
  await expectRevoked(stored.double());
  await stored.double().sim("POST", "/worlds", { name: "copy" });
  await expectRevoked(stored.world("copy"));
  await stored.double().close();
  expect(await stored.verify("default", "copy")).toMatchObject([{ ok: true }, { ok: true }]);
});

test("the secret of a revoked key stays invalid after 1,000 later revocations", async () => {
  const double = await createDouble();
  const create = (name: string) => double.sim("POST", "/api_keys", { key_name: name, api_key: name });
  for (let index = 0; index <= 1_001; index += 1)
    await double.sim("DELETE", `/api_keys/${(await create(`secret-${index}`)).body.id}`);
  expect((await double.sim("GET", "/state")).body.api_keys).toHaveLength(1_001);
  for (const name of ["secret-0", "secret-1", "secret-2", "secret-1001"])
    expect([name, (await create(name)).status]).toEqual([name, 409]);
});

test("keys of a removed project and keys revoked by a reset are removed, too", async () => {
  const stored = await createTestDouble("in files");
  const double = stored.double();
  const orgId = (await double.api("GET", "/users/me/organizations")).body.organizations[0].id;
  const addKey = async () => {
    const { projectId } = await createProject(double);
    await double.api("POST", `/organizations/${orgId}/api_keys`, { key_name: "ci", project_id: projectId });
    return projectId;
  };
  const keyCount = async () => (await double.sim("GET", "/state")).body.api_keys.length;
  await double.api("DELETE", `/projects/${await addKey()}`);
  expect(await keyCount()).toBe(2);
  await double.advance("7d");
  await double.advance("7d");
  expect(await keyCount()).toBe(1);
  await addKey();
  await double.sim("POST", "/reset");
  expect(await keyCount()).toBe(2);
  await double.advance("7d");
  expect(await keyCount()).toBe(1);
});
