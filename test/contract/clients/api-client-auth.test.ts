import type * as public_ from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// Auth of a branch: what is sent is validated, stored and returned, and nothing acts on it.

const { advance, client } = await startServedClient();
const BETTER_AUTH = "better_auth" as public_.NeonAuthSupportedAuthProvider.BetterAuth;

/** A project whose default branch has auth, as arguments of calls. */
async function createShop(): Promise<[projectId: string, branchId: string]> {
  const { project, branch } = (await client.createProject({ project: { name: "shop" } })).data;
  await advance("20s");
  await client.createNeonAuth(project.id, branch.id, { auth_provider: BETTER_AUTH });
  return [project.id, branch.id];
}

test("auth is enabled, read and disabled", async () => {
  const shop = await createShop();
  const [, branchId] = shop;
  const { data } = await client.getNeonAuth(...shop);
  expect(data).toMatchObject({
    auth_provider: "better_auth",
    branch_id: branchId,
    db_name: "neondb",
    owned_by: "neon",
    name: "shop",
    base_url: expect.stringMatching(/^https:\/\/ep-.*\.neonauth\..*\/neondb\/auth$/),
  });
  expect(data.jwks_url).toBe(`${data.base_url}/.well-known/jwks.json`);
  await client.addBranchNeonAuthTrustedDomain(...shop, {
    auth_provider: BETTER_AUTH,
    domain: "https://a.example",
  });
  await client.disableNeonAuth(...shop, { delete_data: true });
  expect(await errorOf(client.getNeonAuth(...shop))).toEqual({
    status: 404,
    code: "NOT_ENABLED",
    message: `auth is not enabled for branch "${branchId}"`,
  });
  await client.createNeonAuth(...shop, { auth_provider: BETTER_AUTH });
  expect((await client.listBranchNeonAuthTrustedDomains(...shop)).data).toEqual({ domains: [] });
});

test("the keys of auth are returned once, and differ", async () => {
  const shop = await createShop();
  const keys = async () => {
    await client.disableNeonAuth(...shop, {});
    const { data } = await client.createNeonAuth(...shop, { auth_provider: BETTER_AUTH });
    return [data.pub_client_key, data.secret_server_key];
  };
  const [first, second] = [await keys(), await keys()];
  expect(new Set([...first, ...second]).size).toBe(4);
  expect(JSON.stringify((await client.getNeonAuth(...shop)).data)).not.toContain(second[1]);
});

test("trusted domains are added, listed and deleted", async () => {
  const shop = await createShop();
  const domains = async () => (await client.listBranchNeonAuthTrustedDomains(...shop)).data.domains;
  for (const domain of ["https://a.example", "https://b.example"])
    await client.addBranchNeonAuthTrustedDomain(...shop, { auth_provider: BETTER_AUTH, domain });
  expect(await domains()).toEqual([
    { domain: "https://a.example", auth_provider: "better_auth" },
    { domain: "https://b.example", auth_provider: "better_auth" },
  ]);
  await client.deleteBranchNeonAuthTrustedDomain(...shop, {
    auth_provider: BETTER_AUTH,
    domains: [{ domain: "https://a.example" }],
  });
  expect(await domains()).toMatchObject([{ domain: "https://b.example" }]);
});

test("OAuth providers are added, updated, listed and deleted, with their secrets", async () => {
  const shop = await createShop();
  const github = "github" as public_.NeonAuthOauthProviderId;
  expect((await client.addBranchNeonAuthOauthProvider(...shop, { id: github })).data).toEqual({
    id: "github",
    type: "shared",
  });
  const own = { client_id: "shop", client_secret: "first" };
  expect((await client.updateBranchNeonAuthOauthProvider(...shop, github, own)).data).toEqual({
    id: "github",
    type: "standard",
    ...own,
  });
  await client.updateBranchNeonAuthOauthProvider(...shop, github, { client_id: "other" });
  expect((await client.listBranchNeonAuthOauthProviders(...shop)).data.providers).toEqual([
    { id: "github", type: "standard", client_id: "other", client_secret: "first" },
  ]);
  await client.deleteBranchNeonAuthOauthProvider(...shop, github);
  expect((await client.listBranchNeonAuthOauthProviders(...shop)).data.providers).toEqual([]);
});

test("email settings have defaults, and updates merge with them", async () => {
  const shop = await createShop();
  const { data: defaults } = await client.getNeonAuthEmailAndPasswordConfig(...shop);
  const { data: updated } = await client.updateNeonAuthEmailAndPasswordConfig(...shop, {
    disable_sign_up: true,
  });
  expect(updated).toEqual({ ...defaults, disable_sign_up: true });
  expect((await client.getNeonAuthEmailAndPasswordConfig(...shop)).data).toEqual(updated);

  expect((await client.getNeonAuthEmailProvider(...shop)).data).toEqual({ type: "shared" });
  const server = {
    type: "standard",
    host: "smtp.example",
    port: 587,
    username: "shop",
    password: "secret",
    sender_email: "shop@standin.example",
    sender_name: "Shop",
  } as public_.NeonAuthEmailServerConfig;
  expect((await client.updateNeonAuthEmailProvider(...shop, server)).data).toEqual(server);
  expect((await client.getNeonAuthEmailProvider(...shop)).data).toEqual(server);
  const shared = { type: "shared", sender_name: "Shop" } as public_.NeonAuthEmailServerConfig;
  await client.updateNeonAuthEmailProvider(...shop, shared);
  expect((await client.getNeonAuthEmailProvider(...shop)).data).toEqual(shared);
});

test("the application, localhost and the plugins are configured", async () => {
  const shop = await createShop();
  await client.updateNeonAuthConfig(...shop, { name: "The Shop" });
  expect((await client.getNeonAuth(...shop)).data.name).toBe("The Shop");
  expect((await client.getNeonAuthAllowLocalhost(...shop)).data).toEqual({ allow_localhost: true });
  await client.updateNeonAuthAllowLocalhost(...shop, { allow_localhost: false });
  await client.updateNeonAuthOrganizationPlugin(...shop, { membership_limit: 5 });
  await client.updateNeonAuthMagicLinkPlugin(...shop, { enabled: true });
  await client.updateNeonAuthPhoneNumberPlugin(...shop, { enabled: true });
  expect((await client.getNeonAuthPhoneNumberPlugin(...shop)).data).toEqual({
    enabled: true,
    otp_expires_in: 300,
  });
  expect((await client.getNeonAuthPluginConfigs(...shop)).data).toMatchObject({
    allow_localhost: false,
    organization: { enabled: true, membership_limit: 5, organization_limit: 10 },
    magic_link: { enabled: true, expires_in: 5 },
    phone_number: { enabled: true },
    email_provider: { type: "shared" },
    oauth_providers: [],
  });
});

test("the webhook is replaced as a whole", async () => {
  const shop = await createShop();
  expect((await client.getNeonAuthWebhookConfig(...shop)).data).toEqual({
    enabled: false,
    enabled_events: [],
    timeout_seconds: 5,
  });
  const webhook = { enabled: true, webhook_url: "https://shop.example/hook", timeout_seconds: 10 };
  await client.updateNeonAuthWebhookConfig(...shop, webhook);
  await client.updateNeonAuthWebhookConfig(...shop, { enabled: false });
  expect((await client.getNeonAuthWebhookConfig(...shop)).data).toEqual({
    enabled: false,
    enabled_events: [],
    timeout_seconds: 5,
  });
});

test("without auth, its parts are not found", async () => {
  const { project, branch } = (await client.createProject({ project: { name: "plain" } })).data;
  await advance("20s");
  const plain = [project.id, branch.id] as const;
  for (const call of [
    () => client.listBranchNeonAuthTrustedDomains(...plain),
    () => client.getNeonAuthPluginConfigs(...plain),
    () => client.updateNeonAuthAllowLocalhost(...plain, { allow_localhost: true }),
    () => client.disableNeonAuth(...plain, {}),
  ])
    expect(await errorOf(call())).toMatchObject({ status: 404, code: "NOT_ENABLED" });
});
