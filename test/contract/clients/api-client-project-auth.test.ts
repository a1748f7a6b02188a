import type * as public_ from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// Users of auth, and the deprecated calls for the auth of a project, which concern its default branch.

const { advance, client } = await startServedClient();
const BETTER_AUTH = "better_auth" as public_.NeonAuthSupportedAuthProvider.BetterAuth;
const GITHUB = "github" as public_.NeonAuthOauthProviderId.Github;
const ofBetterAuth = { auth_provider: BETTER_AUTH };

async function createShop(): Promise<[projectId: string, branchId: string]> {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  await client.createNeonAuthIntegration({
    ...ofBetterAuth,
    project_id: project.id,
    branch_id: branch.id,
  });
  return [project.id, branch.id];
}

test("users are created, get roles and are deleted", async () => {
  const shop = await createShop();
  const { id } = (await client.createBranchNeonAuthNewUser(...shop, { email: "a@a.example", name: "A" }))
    .data;
  expect(await errorOf(client.createBranchNeonAuthNewUser(...shop, { email: "A@a.example" }))).toEqual({
    status: 409,
    code: "SERVICE_RECORD_EXISTS",
    message: 'auth user "a@a.example" already exists',
  });
  expect((await client.updateNeonAuthUserRole(...shop, id, { roles: ["admin"] })).data).toEqual({ id });
  expect(await errorOf(client.updateNeonAuthUserRole(...shop, id, { roles: [] }))).toMatchObject({
    status: 400,
  });
  await client.deleteBranchNeonAuthUser(...shop, id);
  expect(await errorOf(client.deleteBranchNeonAuthUser(...shop, id))).toMatchObject({
    status: 404,
    code: "SERVICE_RECORD_NOT_FOUND",
  });
  await client.createBranchNeonAuthNewUser(...shop, { email: "a@a.example" });
});

test("users belong to auth, and a new branch has those of its parent", async () => {
  const [projectId, branchId] = await createShop();
  const { id } = (await client.createBranchNeonAuthNewUser(projectId, branchId, { email: "a@a.example" }))
    .data;
  const { branch } = (await client.createProjectBranch(projectId, {})).data;
  await advance("20s");
  await client.deleteBranchNeonAuthUser(projectId, branch.id, id);
  await client.updateNeonAuthUserRole(projectId, branchId, id, { roles: ["user"] });
  await client.disableNeonAuth(projectId, branchId, {});
  expect(
    await errorOf(client.createBranchNeonAuthNewUser(projectId, branchId, { email: "b@a.example" })),
  ).toMatchObject({ status: 404, code: "NOT_ENABLED" });
});

test("no test email is sent, and the answer says so", async () => {
  const shop = await createShop();
  const { data } = await client.sendNeonAuthTestEmail(...shop, {
    host: "smtp.example",
    port: 25,
    username: "u",
    password: "p",
    sender_email: "a@a.example",
    sender_name: "A",
    recipient_email: "b@a.example",
  } as never);
  expect(data).toEqual({ success: false, error_message: "standin sends no emails" });
});

test("the auth of a project is that of its default branch", async () => {
  const [projectId, branchId] = await createShop();
  const { data: integration } = await client.getNeonAuth(projectId, branchId);
  expect((await client.listNeonAuthIntegrations(projectId)).data).toEqual({ data: [integration] });
  const keys = (await client.createNeonAuthProviderSdkKeys({ ...ofBetterAuth, project_id: projectId })).data;
  expect(keys).toMatchObject({ auth_provider_project_id: integration.auth_provider_project_id });

  const domain = "https://a.example";
  await client.addNeonAuthDomainToRedirectUriWhitelist(projectId, { ...ofBetterAuth, domain });
  expect((await client.listBranchNeonAuthTrustedDomains(projectId, branchId)).data.domains).toHaveLength(1);
  await client.deleteNeonAuthDomainFromRedirectUriWhitelist(projectId, {
    ...ofBetterAuth,
    domains: [{ domain }],
  });
  expect((await client.listNeonAuthRedirectUriWhitelistDomains(projectId)).data).toEqual({ domains: [] });

  await client.addNeonAuthOauthProvider(projectId, { id: GITHUB });
  await client.updateNeonAuthOauthProvider(projectId, GITHUB, { client_id: "shop" });
  expect((await client.listNeonAuthOauthProviders(projectId)).data.providers).toMatchObject([
    { id: "github", type: "standard" },
  ]);
  await client.deleteNeonAuthOauthProvider(projectId, GITHUB);

  await client.updateNeonAuthEmailServer(projectId, { type: "shared", sender_name: "Shop" } as never);
  expect((await client.getNeonAuthEmailServer(projectId)).data).toMatchObject({ sender_name: "Shop" });

  const { id } = (
    await client.createNeonAuthNewUser({ ...ofBetterAuth, project_id: projectId, email: "a@a.example" })
  ).data;
  await client.deleteNeonAuthUser(projectId, id);

  const STACK = "stack" as public_.NeonAuthSupportedAuthProvider.Stack;
  expect(await errorOf(client.deleteNeonAuthIntegration(projectId, STACK, {}))).toMatchObject({
    status: 404,
  });
  await client.deleteNeonAuthIntegration(projectId, BETTER_AUTH, {});
  expect((await client.listNeonAuthIntegrations(projectId)).data).toEqual({ data: [] });
});
