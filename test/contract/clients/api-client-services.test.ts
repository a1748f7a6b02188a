import type * as public_ from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// Services of a branch: what is sent is validated, stored and returned, and nothing acts on it.

const { advance, client } = await startServedClient();

/** The project and its default branch, as arguments of calls. */
async function createShop(): Promise<[projectId: string, branchId: string]> {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  return [project.id, branch.id];
}

test("a new branch has no buckets, functions or credentials, and neither auth nor the Data API", async () => {
  const [projectId, branchId] = await createShop();
  expect((await client.listProjectBranchBuckets(projectId, branchId)).data).toEqual({ buckets: [] });
  expect((await client.listCredentials(projectId, branchId)).data).toEqual({ credentials: [] });
  const page = await client.listProjectBranchFunctions({ projectId, branchId, limit: 5 });
  expect(page.data).toEqual({ functions: [] });
  expect(await errorOf(client.getNeonAuth(projectId, branchId))).toMatchObject({ code: "NOT_ENABLED" });
  expect(await errorOf(client.getProjectBranchDataApi(projectId, branchId, "neondb"))).toEqual({
    status: 404,
    code: "NOT_ENABLED",
    message: `the Data API is not enabled for database "neondb" of branch "${branchId}"`,
  });
  expect(await errorOf(client.getProjectBranchDataApi(projectId, branchId, "none"))).toMatchObject({
    status: 404,
    code: "DATABASE_NOT_FOUND",
  });
});

test("the Data API is created, updated and deleted", async () => {
  const [projectId, branchId] = await createShop();
  const dataApi = [projectId, branchId, "neondb"] as const;
  const { url } = (await client.createProjectBranchDataApi(...dataApi, { settings: { db_max_rows: 10 } }))
    .data;
  expect(url).toMatch(/^https:\/\/ep-.*\.apirest\..*\/neondb\/rest\/v1$/);
  expect((await client.getProjectBranchDataApi(...dataApi)).data).toMatchObject({
    url,
    status: "ready",
    settings: { db_max_rows: 10, db_anon_role: "anonymous" },
    available_schemas: ["public"],
  });
  // C: the settings are replaced; clients merge them before they send them.
  await client.updateProjectBranchDataApi(...dataApi, { settings: { db_schemas: ["api"] } });
  await client.updateProjectBranchDataApi(...dataApi, {});
  const { settings } = (await client.getProjectBranchDataApi(...dataApi)).data;
  expect(settings).toMatchObject({ db_schemas: ["api"] });
  expect(settings).not.toHaveProperty("db_max_rows");
  await client.deleteProjectBranchDataApi(...dataApi);
  expect(await errorOf(client.getProjectBranchDataApi(...dataApi))).toMatchObject({ code: "NOT_ENABLED" });
});

test("buckets are created, listed, inherited and deleted", async () => {
  const [projectId, branchId] = await createShop();
  const { bucket } = (await client.createProjectBranchBucket(projectId, branchId, { name: "files" })).data;
  expect(bucket).toMatchObject({ name: "files", access_level: "private" });
  await advance("1h");
  const { branch } = (await client.createProjectBranch(projectId, {})).data;
  await advance("20s");
  const buckets = async (id: string) => (await client.listProjectBranchBuckets(projectId, id)).data.buckets;
  expect(await buckets(branch.id)).toEqual([bucket]);
  await client.deleteProjectBranchBucket(projectId, branchId, "files");
  expect(await buckets(branchId)).toEqual([]);
  expect(await buckets(branch.id)).toEqual([bucket]);
});

test("the storage of a branch has an address of its own, with and without buckets", async () => {
  const [projectId, branchId] = await createShop();
  const storage = async () => (await client.getProjectBranchStorage(projectId, branchId)).data;
  const empty = await storage();
  expect(empty).toEqual({
    enabled: true,
    s3_endpoint: `https://${branchId}.storage.us-east-2.aws.standin.localhost`,
    region: "us-east-2",
    force_path_style: true,
  });
  await client.createProjectBranchBucket(projectId, branchId, { name: "files" });
  expect(await storage()).toEqual(empty);
  const failure = await client.getProjectBranchStorage(projectId, "br-none-1").catch((error) => error);
  expect(failure.response.data).toEqual({
    code: "",
    message: "branch not found",
    reason: "branch_not_found",
  });
});

test("credentials are created with secrets that are returned once, listed and revoked", async () => {
  const [projectId, branchId] = await createShop();
  const { data: created } = await client.createCredential(projectId, branchId, {
    name: "ci",
    principal_type: "user" as public_.CreateCredentialRequest["principal_type"],
    scopes: ["storage:read" as public_.CredentialScope],
  });
  expect(created).toMatchObject({
    token_id: expect.stringMatching(/^nak_live_[0-9a-f]{32}$/),
    s3_secret_access_key: expect.stringMatching(/^nsk_live_[0-9a-f]{64}$/),
    name: "ci",
  });
  const { api_token: _, s3_secret_access_key: __, ...meta } = created;
  const list = async () => (await client.listCredentials(projectId, branchId)).data.credentials;
  expect(await list()).toEqual([{ ...meta, principal_type: "user" }]);
  await client.revokeCredential(projectId, branchId, created.token_id);
  await client.revokeCredential(projectId, branchId, created.token_id);
  expect(await list()).toMatchObject([{ token_id: created.token_id, revoked_at: expect.any(String) }]);
});

test("a branch is created with masking rules, which are changed and applied", async () => {
  const [projectId] = await createShop();
  const rule = { database_name: "neondb", schema_name: "public", table_name: "users", column_name: "email" };
  const { branch } = (
    await client.createProjectBranchAnonymized(projectId, {
      branch_create: { branch: { name: "masked" } },
      masking_rules: [rule],
    })
  ).data;
  await advance("20s");
  const masked = [projectId, branch.id] as const;
  expect((await client.getAnonymizedBranchStatus(...masked)).data).toMatchObject({ state: "initialized" });
  const rules = [rule, { ...rule, column_name: "name", masking_value: "x" }];
  await client.updateMaskingRules(...masked, { masking_rules: rules });
  expect((await client.getMaskingRules(...masked)).data.masking_rules).toEqual(rules);
  expect((await client.startAnonymization(...masked)).data).toMatchObject({
    state: "anonymized",
    last_run: { masked_columns: 2 },
  });
  const other = (await client.createProjectBranch(projectId, {})).data.branch;
  expect(await errorOf(client.getMaskingRules(projectId, other.id))).toMatchObject({
    status: 404,
    code: "NOT_ENABLED",
  });
});

test("a branch that is created as archived says so", async () => {
  const [projectId] = await createShop();
  const { branch } = (await client.createProjectBranch(projectId, { branch: { archived: true } })).data;
  expect(branch).toMatchObject({ current_state: "init", pending_state: "archived" });
  await advance("20s");
  const { current_state } = (await client.getProjectBranch(projectId, branch.id)).data.branch;
  expect(current_state).toBe("archived");
});
