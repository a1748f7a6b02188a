import { expectSuccess, MASKED_COLUMN, type SceneApi, type Scene as SceneOf } from "./contract-scene.ts";
import type { Example } from "./operation-examples.ts";
import { deployFunction, deploymentForm, uploadObject } from "./service-preparations.ts";

type Scene = SceneOf<SceneApi>;

const plain: readonly Example[] = [{}];
const onChild = (scene: Scene) => ({ branch_id: scene.childId });
const onAnonymized = (scene: Scene) => ({ branch_id: scene.anonymizedId });
const DOMAIN = { auth_provider: "better_auth", domain: "https://other.example" };
const CREDENTIAL = { principal_type: "user", scopes: ["storage:read", "ai_gateway:invoke"] };
const STANDARD_EMAIL = {
  type: "standard",
  host: "smtp.example",
  port: 587,
  username: "shop",
  password: "secret",
  sender_email: "shop@standin.example",
  sender_name: "Shop",
};
const { type: _, ...EMAIL_SERVER } = STANDARD_EMAIL;
const WEBHOOK = {
  enabled: true,
  webhook_url: "https://shop.example/hook",
  enabled_events: ["user.created", "send.otp"],
  timeout_seconds: 10,
};

function onBranch(method: "PUT" | "PATCH" | "POST" | "DELETE", path: string, body?: unknown) {
  return ({ double, ids }: Scene) =>
    expectSuccess(double.api(method, `/projects/${ids.project_id}/branches/${ids.branch_id}${path}`, body));
}

const withoutAuth = onBranch("DELETE", "/auth");

const deployTwo = async (scene: Scene) => {
  await deployFunction(scene);
  await deployFunction(scene, "second");
};
const uploadTwo = async (scene: Scene) => {
  await uploadObject(scene);
  await uploadObject(scene, "second");
};

/** Every recorded operation, by its id in the public document. */
export const RECORDED_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  getNeonAuth: [{}, { title: "of a branch that got it from its parent", ids: onChild }],
  createNeonAuth: [
    { body: () => ({ auth_provider: "better_auth" }), before: withoutAuth },
    {
      title: "for a database",
      body: ({ ids }) => ({ auth_provider: "stack", database_name: ids.database_name }),
      before: withoutAuth,
    },
  ],
  disableNeonAuth: [
    { title: "without a body" },
    { title: "with its data", body: () => ({ delete_data: true }) },
  ],
  updateNeonAuthConfig: [{ body: () => ({ name: "Shop" }) }],
  listBranchNeonAuthTrustedDomains: plain,
  addBranchNeonAuthTrustedDomain: [{ body: () => DOMAIN }],
  deleteBranchNeonAuthTrustedDomain: [
    { body: () => ({ auth_provider: "better_auth", domains: [{ domain: "https://shop.example" }] }) },
  ],
  listBranchNeonAuthOauthProviders: [{}, { title: "of a branch that got one from its parent", ids: onChild }],
  addBranchNeonAuthOauthProvider: [
    { title: "with the shared client", body: () => ({ id: "google" }) },
    {
      title: "with a client of its own",
      body: () => ({ id: "microsoft", client_id: "a", client_secret: "b", microsoft_tenant_id: "c" }),
    },
  ],
  updateBranchNeonAuthOauthProvider: [
    { body: () => ({ client_id: "changed", client_secret: "changed" }) },
    { title: "that changes nothing", body: () => ({}) },
  ],
  deleteBranchNeonAuthOauthProvider: plain,
  getNeonAuthEmailAndPasswordConfig: plain,
  updateNeonAuthEmailAndPasswordConfig: [
    { body: () => ({ enabled: false, email_verification_method: "link" }) },
    { title: "that changes nothing", body: () => ({}) },
  ],
  getNeonAuthEmailProvider: [
    { title: "that is shared" },
    {
      title: "that is the caller's own",
      before: onBranch("PATCH", "/auth/email_provider", STANDARD_EMAIL),
    },
  ],
  updateNeonAuthEmailProvider: [
    { title: "to the caller's own", body: () => STANDARD_EMAIL },
    { title: "to the shared one", body: () => ({ type: "shared", sender_name: "Shop" }) },
  ],
  getNeonAuthAllowLocalhost: plain,
  updateNeonAuthAllowLocalhost: [{ body: () => ({ allow_localhost: false }) }],
  getNeonAuthPluginConfigs: [
    {},
    {
      title: "after updates",
      before: onBranch("PATCH", "/auth/email_provider", STANDARD_EMAIL),
    },
  ],
  updateNeonAuthOrganizationPlugin: [
    { body: () => ({ enabled: false, organization_limit: 1, creator_role: "admin" }) },
  ],
  updateNeonAuthMagicLinkPlugin: [{ body: () => ({ enabled: true, expires_in: 1440 }) }],
  getNeonAuthPhoneNumberPlugin: plain,
  updateNeonAuthPhoneNumberPlugin: [{ body: () => ({ enabled: true, otp_expires_in: 60 }) }],
  getNeonAuthWebhookConfig: [
    {},
    { title: "that is set", before: onBranch("PUT", "/auth/webhooks", WEBHOOK) },
  ],
  updateNeonAuthWebhookConfig: [
    { body: () => WEBHOOK },
    { title: "that is off", body: () => ({ enabled: false }) },
  ],

  createBranchNeonAuthNewUser: [
    { body: () => ({ email: "other@standin.example" }) },
    { title: "with a name", body: () => ({ email: "other@standin.example", name: "Other" }) },
  ],
  deleteBranchNeonAuthUser: plain,
  updateNeonAuthUserRole: [{ body: () => ({ roles: ["admin"] }) }],
  sendNeonAuthTestEmail: [{ body: () => ({ ...EMAIL_SERVER, recipient_email: "somebody@standin.example" }) }],

  createNeonAuthIntegration: [
    {
      body: ({ ids }) => ({
        auth_provider: "better_auth",
        project_id: ids.project_id,
        branch_id: ids.branch_id,
      }),
      before: withoutAuth,
    },
  ],
  createNeonAuthProviderSDKKeys: [
    { body: ({ ids }) => ({ auth_provider: "better_auth", project_id: ids.project_id }) },
  ],
  createNeonAuthNewUser: [
    {
      body: ({ ids }) => ({
        auth_provider: "better_auth",
        project_id: ids.project_id,
        email: "other@standin.example",
      }),
    },
  ],
  deleteNeonAuthUser: plain,
  listNeonAuthIntegrations: [{}, { title: "of which there is none", before: withoutAuth }],
  deleteNeonAuthIntegration: [
    { title: "without a body" },
    { title: "with its data", body: () => ({ delete_data: true }) },
  ],
  listNeonAuthRedirectURIWhitelistDomains: plain,
  addNeonAuthDomainToRedirectURIWhitelist: [{ body: () => DOMAIN }],
  deleteNeonAuthDomainFromRedirectURIWhitelist: [
    { body: () => ({ auth_provider: "better_auth", domains: [{ domain: "https://shop.example" }] }) },
  ],
  listNeonAuthOauthProviders: plain,
  addNeonAuthOauthProvider: [{ body: () => ({ id: "google" }) }],
  updateNeonAuthOauthProvider: [{ body: () => ({ client_id: "changed", client_secret: "changed" }) }],
  deleteNeonAuthOauthProvider: plain,
  getNeonAuthEmailServer: plain,
  updateNeonAuthEmailServer: [{ body: () => STANDARD_EMAIL }],

  listProjectBranchFunctions: [
    {},
    { title: "with a function", before: deployFunction },
    { title: "in pages", query: () => "?limit=1", before: deployTwo },
  ],
  getProjectBranchFunction: [
    { title: "that is being built", before: deployFunction },
    {
      title: "that is built",
      before: async (scene) => {
        await deployFunction(scene);
        await scene.double.advance("10s");
      },
    },
  ],
  updateProjectBranchFunction: [
    { before: deployFunction, body: () => ({ name: "Hello" }) },
    { title: "to its slug", before: deployFunction, body: () => ({ name: null }) },
  ],
  deleteProjectBranchFunction: [{ before: deployFunction }],
  createProjectBranchFunctionDeployment: [
    { body: () => deploymentForm({ zip: "code", environment: { B: "1", A: "2" } }) },
    {
      title: "that changes variables only",
      before: deployFunction,
      body: () => deploymentForm({ environment: { A: "" } }),
    },
  ],

  listProjectBranchBucketObjects: [
    {},
    { title: "with an object", before: uploadObject },
    { title: "with a folder", query: () => "?delimiter=/", before: uploadObject },
    { title: "in pages", query: () => "?limit=1", before: uploadTwo },
  ],
  getProjectBranchBucketObject: [{ before: uploadObject }],
  deleteProjectBranchBucketObject: [{ before: uploadObject }],
  deleteProjectBranchBucketObjectsByPrefix: [{ query: () => "?prefix=images/", before: uploadObject }],
  presignProjectBranchBucketObject: [
    { body: () => ({ operation: "upload", content_type: "image/png" }) },
    { title: "for a download", body: () => ({ operation: "download", expires_in_seconds: 60 }) },
  ],

  getProjectBranchDataAPI: plain,
  createProjectBranchDataAPI: [
    { title: "without a body", ids: onChild },
    {
      title: "with all that can be chosen",
      ids: onChild,
      body: () => ({
        auth_provider: "external",
        jwks_url: "https://issuer.example/jwks.json",
        provider_name: "issuer",
        jwt_audience: "shop",
        add_default_grants: true,
        skip_auth_schema: true,
        settings: { db_max_rows: 10, db_schemas: ["public", "api"] },
      }),
    },
  ],
  updateProjectBranchDataAPI: [
    { title: "without a body" },
    { body: () => ({ settings: { server_timing_enabled: true } }) },
  ],
  deleteProjectBranchDataAPI: plain,

  listProjectBranchBuckets: [{}, { title: "of a branch that got one from its parent", ids: onChild }],
  createProjectBranchBucket: [
    { body: () => ({ name: "images" }) },
    { title: "that is public", body: () => ({ name: "images", access_level: "public_read" }) },
  ],
  deleteProjectBranchBucket: plain,

  getProjectBranchStorage: plain,

  listCredentials: [
    {},
    {
      title: "of which one is revoked",
      before: (scene) => onBranch("DELETE", `/credentials/${scene.ids.token_id}`)(scene),
    },
  ],
  createCredential: [
    { body: () => CREDENTIAL },
    { title: "with a name", body: () => ({ ...CREDENTIAL, name: "ci" }) },
  ],
  revokeCredential: [
    {},
    {
      title: "that is revoked already",
      before: (scene) => onBranch("DELETE", `/credentials/${scene.ids.token_id}`)(scene),
    },
  ],

  createProjectBranchAnonymized: [
    { body: () => ({}) },
    {
      title: "with all that can be chosen",
      body: ({ ids }) => ({
        branch_create: {
          branch: { name: "masked", parent_id: ids.branch_id },
          endpoints: [{ type: "read_write" }],
        },
        masking_rules: [{ ...MASKED_COLUMN, masking_value: "x" }],
        start_anonymization: true,
        annotation_value: { a: "b" },
      }),
    },
  ],
  getMaskingRules: [{ ids: onAnonymized }],
  updateMaskingRules: [{ ids: onAnonymized, body: () => ({ masking_rules: [MASKED_COLUMN] }) }],
  getAnonymizedBranchStatus: [
    { ids: onAnonymized },
    {
      title: "that is anonymized",
      ids: onAnonymized,
      before: ({ double, ids, anonymizedId }) =>
        expectSuccess(double.api("POST", `/projects/${ids.project_id}/branches/${anonymizedId}/anonymize`)),
    },
  ],
  startAnonymization: [{ ids: onAnonymized }],
};
