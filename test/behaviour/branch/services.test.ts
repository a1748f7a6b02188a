import { expect, onTestFinished, test } from "vitest";
import { createBranch, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { createFileDouble } from "../../support/double/file-double.ts";
import { createStorageDouble } from "../../support/double/storage-double.ts";

// Services of a branch are recorded: stored, journaled and deleted like everything else.

const SECRETS = ["oauth-secret", "smtp-secret"];
const EMAIL = {
  type: "standard",
  host: "smtp.example",
  port: 25,
  username: "shop",
  password: "smtp-secret",
  sender_email: "shop@standin.example",
  sender_name: "Shop",
};
const CREDENTIAL = { principal_type: "user", scopes: ["storage:read"] };

type Place = { readonly projectId: string; readonly branchId: string };

async function call(double: Double, { projectId, branchId }: Place, route: string, body?: unknown) {
  const [method = "", path = ""] = route.split(" ");
  const answer = await double.api(
    method,
    `/projects/${projectId}/branches/${branchId}${path}` as string,
    body,
  );
  if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Every service on the default branch of a new project; returns the secrets that are returned once. */
async function createServices(double: Double) {
  const place: Place = await createProject(double);
  const keys = await call(double, place, "POST /auth", { auth_provider: "better_auth" });
  await call(double, place, "POST /auth/oauth_providers", {
    id: "github",
    client_id: "shop",
    client_secret: "oauth-secret",
  });
  await call(double, place, "PATCH /auth/email_provider", EMAIL);
  await call(double, place, "POST /data-api/neondb", {});
  await call(double, place, "POST /buckets", { name: "files" });
  const credential = await call(double, place, "POST /credentials", CREDENTIAL);
  return {
    place,
    credential,
    returnedOnce: [
      keys.pub_client_key,
      keys.secret_server_key,
      credential.api_token,
      credential.s3_secret_access_key,
    ],
  };
}

const recordsOf = async (double: Double) => (await double.sim("GET", "/state")).body.records;

test("no secret of a service is in the history, the state or the request log, and all are readable after a restart", async () => {
  const stored = await createFileDouble();
  onTestFinished(() => stored.end());
  const { place, returnedOnce } = await createServices(stored.double());
  const read = async (double: Double) => [
    (await call(double, place, "GET /auth/oauth_providers")).providers[0].client_secret,
    (await call(double, place, "GET /auth/email_provider")).password,
  ];
  expect(await read(stored.double())).toEqual(SECRETS);
  const written = await Promise.all(
    ["/events?limit=1000", "/state", "/requests"].map(async (path) =>
      JSON.stringify((await stored.double().sim("GET", path)).body),
    ),
  );
  for (const text of written) {
    expect(text.length).toBeGreaterThan(100);
    for (const secret of [...SECRETS, ...returnedOnce]) expect(text).not.toContain(secret);
  }
  await stored.reopen();
  expect(await read(stored.double())).toEqual(SECRETS);
});

test("a branch that is removed takes its records with it, and so does a project", async () => {
  const double = await createDouble();
  const { place } = await createServices(double);
  const dev = await createBranch(double, place.projectId);
  const scopes = async () => new Set((await recordsOf(double)).map(({ scope }: { scope: string }) => scope));
  expect(await scopes()).toEqual(new Set([place.branchId, dev.branchId]));
  await double.api("DELETE", `/projects/${place.projectId}/branches/${dev.branchId}`);
  expect(await scopes()).toEqual(new Set([place.branchId, dev.branchId]));
  await double.advance("8d");
  expect(await scopes()).toEqual(new Set([place.branchId]));
  await double.api("DELETE", `/projects/${place.projectId}`);
  await double.advance("8d");
  expect(await recordsOf(double)).toEqual([]);
});

test("a recovered branch has its records again", async () => {
  const double = await createDouble();
  const { place } = await createServices(double);
  const dev = await createBranch(double, place.projectId);
  const path = `/projects/${place.projectId}/branches/${dev.branchId}`;
  await double.api("DELETE", path);
  await double.advance("1d");
  expect((await double.api("GET", `${path}/buckets`)).status).toBe(404);
  await double.api("POST", `${path}/recover`);
  await double.advance("10s");
  expect((await double.api("GET", `${path}/buckets`)).body.buckets).toMatchObject([{ name: "files" }]);
});

test("a copy on another branch is independent: a new secret there does not change the original", async () => {
  const double = await createDouble();
  const { place } = await createServices(double);
  const dev = { ...place, branchId: (await createBranch(double, place.projectId)).branchId };
  const secretOn = async (at: Place) =>
    (await call(double, at, "GET /auth/oauth_providers")).providers[0].client_secret;
  expect(await secretOn(dev)).toBe("oauth-secret");
  await call(double, dev, "PATCH /auth/oauth_providers/github", { client_secret: "changed" });
  expect([await secretOn(dev), await secretOn(place)]).toEqual(["changed", "oauth-secret"]);
  const { base_url } = await call(double, dev, "GET /auth");
  expect(base_url).not.toBe((await call(double, place, "GET /auth")).base_url);
});

test("a fork and a restored snapshot of a world have the records and their secrets, and verify", async () => {
  const stored = await createStorageDouble("in files");
  onTestFinished(() => stored.end());
  const double = stored.double();
  const { place } = await createServices(double);
  const { seq } = (await double.sim("GET", "/state")).body;
  expect((await double.sim("POST", "/snapshots", { name: "before" })).status).toBe(201);
  await call(double, place, "DELETE /auth");
  for (const point of [{}, { at: seq }]) {
    const name = "at" in point ? "earlier" : "current";
    expect((await double.sim("POST", "/worlds", { name, ...point })).status).toBe(201);
  }
  const password = async (at: Double) => (await call(at, place, "GET /auth/email_provider")).password;
  expect(await password(stored.world("earlier"))).toBe("smtp-secret");
  await expect(password(stored.world("current"))).rejects.toThrow("is not enabled");
  await double.sim("POST", "/snapshots/before/restore");
  expect(await password(double)).toBe("smtp-secret");
  for (const verified of await stored.verify("default", "earlier", "current"))
    expect(verified).toMatchObject({ ok: true });
});

test("a reset deletes the records", async () => {
  const double = await createDouble();
  await createServices(double);
  await double.sim("POST", "/reset");
  expect(await recordsOf(double)).toEqual([]);
});

test("with the same seed, services have the same ids and the same history", async () => {
  const once = async () => {
    const double = await createDouble();
    const { credential } = await createServices(double);
    return [credential.token_id, await worldState(double)];
  };
  expect(await once()).toEqual(await once());
});

test("an update with the present values adds no event", async () => {
  const double = await createDouble();
  const { place } = await createServices(double);
  const before = await worldState(double);
  await call(double, place, "PATCH /auth/email_provider", EMAIL);
  await call(double, place, "PATCH /auth/oauth_providers/github", { client_secret: "oauth-secret" });
  await call(double, place, "PATCH /data-api/neondb", {});
  expect(await worldState(double)).toBe(before);
});

test("a bucket can have the name of one that was deleted, and a database takes the Data API with it", async () => {
  const double = await createDouble();
  const { place } = await createServices(double);
  await call(double, place, "DELETE /buckets/files");
  await call(double, place, "POST /buckets", { name: "files", access_level: "public_read" });
  await call(double, place, "DELETE /databases/neondb");
  await double.advance("10s");
  const kinds = (await recordsOf(double)).map(({ kind }: { kind: string }) => kind);
  expect(kinds).toEqual(["credential", "bucket"]);
});
