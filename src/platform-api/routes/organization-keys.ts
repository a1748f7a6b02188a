import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id, keyName } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { requiredEvent } from "../../http/required-event.ts";
import { timestamp } from "../../http/timestamps.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import { authorize } from "../../platform/rules/account/access.ts";
import { validOrganizationKeys } from "../../platform/rules/account/decide-api-key.ts";
import { hashSecret, newApiKeySecret } from "../../worlds/secrets.ts";
import { keyId } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderApiKey } from "../render/render-account.ts";

const organizationParams = z.object({ org_id: id });

/** S: keys of an organization, for all its projects or for one. */
export function organizationKeyRoutes(): readonly ApiRoute[] {
  return [listOrgApiKeys, createOrgApiKey, revokeOrgApiKey];
}

const listOrgApiKeys = route(
  "GET /organizations/:org_id/api_keys",
  { permission: "admin", params: organizationParams },
  ({ params, transaction: { world } }) =>
    [...validOrganizationKeys(world, params.org_id)].map((apiKey) => {
      const created_by = {
        id: apiKey.accountId,
        name: world.accounts.get(apiKey.accountId)?.name ?? "",
        image: "",
      };
      return {
        ...renderApiKey(world, apiKey),
        created_by,
        ...projectIdField(apiKey),
      } satisfies public_.OrgApiKeysListResponseItem;
    }),
);

const createOrgApiKey = route(
  "POST /organizations/:org_id/api_keys",
  {
    permission: "admin",
    params: organizationParams,
    body: z.object({ key_name: keyName, project_id: id.optional() }),
  },
  ({ principal, params, body, transaction, execute }) => {
    // D: "you must use your personal API key and be an administrator".
    unwrap(authorize(transaction.world, principal, "person", {}));
    // R: the secret is shown only here.
    const key = newApiKeySecret(transaction.world);
    const { project_id } = body;
    const events = execute({
      type: "CreateApiKey",
      accountId: principal.account.id,
      name: body.key_name,
      hash: hashSecret(key),
      scope: {
        organizationId: params.org_id,
        ...omitUndefined({ projectId: project_id }),
      },
    });
    const { apiKey } = requiredEvent(events, "ApiKeyCreated");
    return {
      id: apiKey.id,
      key,
      name: apiKey.name,
      created_at: timestamp(apiKey.createdAt),
      created_by: apiKey.accountId,
      ...projectIdField(apiKey),
    } satisfies public_.OrgApiKeyCreateResponse;
  },
);

const revokeOrgApiKey = route(
  "DELETE /organizations/:org_id/api_keys/:key_id",
  { permission: "admin", params: organizationParams.extend({ key_id: keyId }) },
  ({ account, params, transaction: { world }, execute }) => {
    execute({
      type: "RevokeApiKey",
      accountId: account.id,
      organizationId: params.org_id,
      keyId: params.key_id,
    });
    const apiKey = world.apiKeys.get(String(params.key_id));
    if (apiKey === undefined) throw new Error("RevokeApiKey deleted the key instead of marking it");
    const { accountId } = apiKey;
    return {
      ...renderApiKey(world, apiKey),
      created_by: accountId,
      ...projectIdField(apiKey),
      revoked: true,
    } satisfies public_.OrgApiKeyRevokeResponse;
  },
);

function projectIdField({ scope }: ApiKey) {
  return omitUndefined({ project_id: scope?.projectId });
}
