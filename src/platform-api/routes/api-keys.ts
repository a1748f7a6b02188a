import * as z from "zod";
import { keyName } from "../../http/fields.ts";
import { requiredEvent } from "../../http/required-event.ts";
import { timestamp } from "../../http/timestamps.ts";
import { validApiKeys } from "../../platform/rules/account/decide-api-key.ts";
import { hashSecret, newApiKeySecret } from "../../worlds/secrets.ts";
import { keyId } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderApiKey } from "../render/render-account.ts";

export function apiKeyRoutes(): readonly ApiRoute[] {
  return [createApiKey, listApiKeys, revokeApiKey];
}

const createApiKey = route(
  "POST /api_keys",
  { permission: "person", body: z.object({ key_name: keyName }) },
  ({ account, body, transaction, execute }) => {
    // R: the secret is shown only here.
    const key = newApiKeySecret(transaction.world);
    const events = execute({
      type: "CreateApiKey",
      accountId: account.id,
      name: body.key_name,
      hash: hashSecret(key),
    });
    const { id, name, createdAt } = requiredEvent(events, "ApiKeyCreated").apiKey;
    return { id, key, name, created_at: timestamp(createdAt), created_by: account.id };
  },
);

const listApiKeys = route("GET /api_keys", { permission: "person" }, ({ account, transaction }) => {
  const created_by = { id: account.id, name: account.name, image: "" };
  return [...validApiKeys(transaction.world, account.id)].map((apiKey) => ({
    ...renderApiKey(transaction.world, apiKey),
    created_by,
  }));
});

const revokeApiKey = route(
  "DELETE /api_keys/:key_id",
  { permission: "person", params: z.object({ key_id: keyId }) },
  ({ account, params, transaction, execute }) => {
    execute({ type: "RevokeApiKey", accountId: account.id, keyId: params.key_id });
    const apiKey = transaction.world.apiKeys.get(String(params.key_id));
    if (apiKey === undefined) throw new Error("RevokeApiKey deleted the key instead of marking it");
    return { ...renderApiKey(transaction.world, apiKey), created_by: account.id, revoked: true };
  },
);
