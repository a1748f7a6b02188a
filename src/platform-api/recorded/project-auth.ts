import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { AUTH_CONFIGURATIONS } from "./auth-configurations.ts";
import { AUTH_OPERATIONS, authProvider, renderIntegration, renderNewIntegration } from "./auth-operations.ts";
import { AUTH_USER_OPERATIONS, newAuthUser, renderNewUser } from "./auth-users.ts";
import { type RecordedOperation, recorded } from "./recorded-operation.ts";

/** Operations on a branch that have a deprecated form for a project with the same end of the path. */
const OF_BOTH = [
  "GET /auth/domains",
  "POST /auth/domains",
  "DELETE /auth/domains",
  "GET /auth/oauth_providers",
  "POST /auth/oauth_providers",
  "PATCH /auth/oauth_providers/:oauth_provider_id",
  "DELETE /auth/oauth_providers/:oauth_provider_id",
  "DELETE /auth/users/:auth_user_id",
];
/** Operations on a branch whose deprecated form ends in another path. */
const RENAMED: Readonly<Record<string, RecordedOperation["route"]>> = {
  "GET /auth/email_provider": "GET /auth/email_server",
  "PATCH /auth/email_provider": "PATCH /auth/email_server",
};
const OF_BRANCHES: readonly RecordedOperation[] = [
  ...AUTH_OPERATIONS,
  ...AUTH_CONFIGURATIONS,
  ...AUTH_USER_OPERATIONS,
];

/** S: deprecated calls for the auth of a project. */
export const PROJECT_AUTH_OPERATIONS: readonly RecordedOperation[] = [
  ...OF_BRANCHES.filter(({ route }) => OF_BOTH.includes(route)),
  ...OF_BRANCHES.flatMap((operation) => {
    const route = RENAMED[operation.route];
    return route === undefined ? [] : [{ ...operation, route }];
  }),
  recorded({
    route: "GET /auth/integrations",
    kind: "auth",
    does: "list",
    answer: (integrations) =>
      ({ data: integrations.map(renderIntegration) }) satisfies public_.ListNeonAuthIntegrationsResponse,
  }),
  recorded({
    route: "DELETE /auth/integration/:auth_provider",
    kind: "auth",
    does: "delete",
    params: { auth_provider: authProvider },
    matches: ({ auth_provider }, { params }) => auth_provider === params["auth_provider"],
    body: z.object({ delete_data: z.boolean().optional() }).optional(),
  }),
];

const ofProject = { project_id: id, auth_provider: authProvider };

/** S: calls for the auth of a project that their body names. */
export const BODY_AUTH_OPERATIONS: readonly RecordedOperation[] = [
  recorded({
    route: "POST /create",
    status: 201,
    kind: "auth",
    does: "create",
    body: z.object({ ...ofProject, branch_id: id, database_name: z.string().optional() }),
    database: ({ body, branch }) => body.database_name ?? branch.databases[0]?.name ?? "",
    settings: ({ auth_provider }) => ({ auth_provider }),
    answer: renderNewIntegration,
  }),
  recorded({
    route: "POST /keys",
    status: 201,
    kind: "auth",
    does: "read",
    body: z.object(ofProject),
    answer: renderNewIntegration,
  }),
  recorded({
    route: "POST /user",
    status: 201,
    kind: "authUser",
    does: "create",
    body: newAuthUser.extend(ofProject),
    settings: ({ email, name }) => (name === undefined ? { email } : { email, name }),
    answer: renderNewUser,
  }),
];
