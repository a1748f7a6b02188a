import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { timestamp } from "../../http/timestamps.ts";
import { newServiceSecret } from "../../worlds/secrets.ts";
import { recorded, type Shown } from "./recorded-operation.ts";
import { authBaseUrl } from "./service-urls.ts";

export const authProvider = z.enum(["mock", "stack", "better_auth"]);
const oauthProviderId = z.enum(["google", "github", "microsoft", "vercel"]);
const domain = z.url("must be a URL such as https://example.com");
const oauthClient = {
  client_id: z.string().exactOptional(),
  client_secret: z.string().exactOptional(),
  microsoft_tenant_id: z.string().exactOptional(),
};

/** S: auth of a branch, its trusted domains and its OAuth providers. */
export const AUTH_OPERATIONS = [
  recorded({ route: "GET /auth", kind: "auth", does: "read", answer: renderIntegration }),
  recorded({
    route: "POST /auth",
    status: 201,
    kind: "auth",
    does: "create",
    body: z.object({ auth_provider: authProvider, database_name: z.string().optional() }),
    // D: the default database, which is the first one.
    database: ({ body, branch }) => body.database_name ?? branch.databases[0]?.name ?? "",
    settings: ({ auth_provider }) => ({ auth_provider }),
    answer: renderNewIntegration,
  }),
  recorded({
    route: "DELETE /auth",
    kind: "auth",
    does: "delete",
    body: z.object({ delete_data: z.boolean().optional() }).optional(),
  }),
  recorded({ route: "GET /auth/domains", kind: "authDomain", does: "list", answer: renderDomains }),
  recorded({
    route: "POST /auth/domains",
    status: 201,
    kind: "authDomain",
    does: "create",
    body: z.object({ domain, auth_provider: authProvider }),
    keys: ({ body }) => [body.domain],
    settings: ({ auth_provider }) => ({ auth_provider }),
  }),
  recorded({
    route: "DELETE /auth/domains",
    kind: "authDomain",
    does: "delete",
    body: z.object({ auth_provider: authProvider, domains: z.array(z.object({ domain })) }),
    keys: ({ body }) => body.domains.map((item) => item.domain),
  }),
  recorded({
    route: "GET /auth/oauth_providers",
    kind: "authOauthProvider",
    does: "list",
    answer: (providers) =>
      ({
        providers: providers.map(renderOauthProvider),
      }) satisfies public_.ListNeonAuthOauthProvidersResponse,
  }),
  recorded({
    route: "POST /auth/oauth_providers",
    kind: "authOauthProvider",
    does: "create",
    body: z.object({ id: oauthProviderId, ...oauthClient }),
    keys: ({ body }) => [body.id],
    settings: ({ id: _, client_secret: __, ...settings }) => settings,
    secret: (body) => body.client_secret,
    answer: renderOauthProvider,
  }),
  recorded({
    route: "PATCH /auth/oauth_providers/:oauth_provider_id",
    kind: "authOauthProvider",
    does: "update",
    params: { oauth_provider_id: oauthProviderId },
    body: z.object(oauthClient),
    keys: ({ params }) => [params["oauth_provider_id"] ?? ""],
    settings: ({ client_secret: _, ...settings }) => settings,
    secret: (body) => body.client_secret,
    answer: renderOauthProvider,
  }),
  recorded({
    route: "DELETE /auth/oauth_providers/:oauth_provider_id",
    kind: "authOauthProvider",
    does: "delete",
    params: { oauth_provider_id: oauthProviderId },
    keys: ({ params }) => [params["oauth_provider_id"] ?? ""],
  }),
];

export function renderIntegration({ world, branch, record, settings, configuration }: Shown<"auth">) {
  const { database = "" } = record.fields;
  const baseUrl = authBaseUrl(world, branch, database);
  return {
    auth_provider: settings.auth_provider as public_.NeonAuthSupportedAuthProvider,
    auth_provider_project_id: record.id,
    branch_id: branch.id,
    db_name: database,
    created_at: timestamp(record.createdAt),
    owned_by: "neon" as public_.NeonAuthProviderProjectOwnedBy,
    jwks_url: jwksUrl(baseUrl),
    base_url: baseUrl,
    name: applicationName(configuration("authApplication")),
  } satisfies public_.NeonAuthIntegration;
}

/** The keys are returned once and not stored: nothing here accepts them. */
export function renderNewIntegration({ world, branch, record, settings }: Shown<"auth">) {
  const baseUrl = authBaseUrl(world, branch, record.fields.database ?? "");
  return {
    auth_provider: settings.auth_provider as public_.NeonAuthSupportedAuthProvider,
    auth_provider_project_id: record.id,
    pub_client_key: newServiceSecret("pck_"),
    secret_server_key: newServiceSecret("ssk_"),
    jwks_url: jwksUrl(baseUrl),
    schema_name: "neon_auth",
    // D: each provider stores its users in a table of its own.
    table_name: settings.auth_provider === "better_auth" ? "user" : "users_sync",
    base_url: baseUrl,
  } satisfies public_.NeonAuthCreateIntegrationResponse;
}

function jwksUrl(baseUrl: string): string {
  return `${baseUrl}/.well-known/jwks.json`;
}

/** S: defaults to the name of the project. */
export function applicationName({ world, branch, settings }: Shown<"authApplication">): string {
  return settings.name ?? world.projects.get(branch.projectId)?.name ?? "";
}

function renderDomains(domains: readonly Shown<"authDomain">[]) {
  return {
    domains: domains.map(({ record, settings }) => ({
      domain: record.fields.key,
      auth_provider: settings.auth_provider as public_.NeonAuthSupportedAuthProvider,
    })),
  } satisfies public_.NeonAuthRedirectURIWhitelistResponse;
}

/** S: a provider without a client of its own uses the shared one. */
export function renderOauthProvider({ record, settings: { client_id }, secret }: Shown<"authOauthProvider">) {
  return {
    id: record.fields.key as public_.NeonAuthOauthProviderId,
    type: (client_id === undefined ? "shared" : "standard") as public_.NeonAuthOauthProviderType,
    ...(client_id === undefined ? {} : { client_id }),
    ...(secret === undefined ? {} : { client_secret: secret }),
  } satisfies public_.NeonAuthOauthProvider;
}
