import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { timestamp } from "../../http/instants.ts";
import { found } from "../../http/request.ts";
import { admit } from "../../platform/account/access.ts";
import { type ApiKey, validOrganizationKeys } from "../../platform/account/api-key.ts";
import { hashSecret, newApiKeySecret } from "../../worlds/secrets.ts";
import { id, keyId, keyName } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";
import { renderApiKey } from "../render/render-objects.ts";

const inOrganization = z.object({ org_id: id });

/** S: keys of an organization, for all of its projects or for one of them. */
export function organizationKeyRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/organizations/:org_id/api_keys",
    caller.route({ needs: "rule", params: inOrganization }, ({ params, turn: { world } }) =>
      [...validOrganizationKeys(world, params.org_id)].map((apiKey) => {
        const created_by = { id: apiKey.accountId, name: world.accounts.get(apiKey.accountId)?.name ?? "", image: "" };
        return { ...renderApiKey(world, apiKey), created_by, ...projectOf(apiKey) } satisfies public_.OrgApiKeysListResponseItem;
      }),
    ),
  );

  app.post(
    "/organizations/:org_id/api_keys",
    caller.route(
      { needs: "rule", params: inOrganization, body: z.object({ key_name: keyName, project_id: id.optional() }) },
      ({ principal, params, body, turn, execute }) => {
        // D: "you must use your personal API key and be an administrator".
        found(admit(turn.world, principal, "person", {}));
        // R: the secret is shown now and never again.
        const key = newApiKeySecret();
        const { project_id } = body;
        const events = execute({
          type: "CreateApiKey",
          accountId: principal.account.id,
          name: body.key_name,
          hash: hashSecret(key),
          scope: { organizationId: params.org_id, ...(project_id === undefined ? {} : { projectId: project_id }) },
        });
        for (const event of events) {
          if (event.type !== "ApiKeyCreated") continue;
          const { apiKey } = event;
          return {
            id: apiKey.id,
            key,
            name: apiKey.name,
            created_at: timestamp(apiKey.createdAt),
            created_by: apiKey.accountId,
            ...projectOf(apiKey),
          } satisfies public_.OrgApiKeyCreateResponse;
        }
        throw new Error("CreateApiKey created none");
      },
    ),
  );

  app.delete(
    "/organizations/:org_id/api_keys/:key_id",
    caller.route({ needs: "rule", params: inOrganization.extend({ key_id: keyId }) }, ({ account, params, turn: { world }, execute }) => {
      execute({ type: "RevokeApiKey", accountId: account.id, organizationId: params.org_id, keyId: params.key_id });
      const apiKey = world.apiKeys.get(String(params.key_id));
      if (apiKey === undefined) throw new Error("RevokeApiKey lost the key");
      const { accountId } = apiKey;
      return {
        ...renderApiKey(world, apiKey),
        created_by: accountId,
        ...projectOf(apiKey),
        revoked: true,
      } satisfies public_.OrgApiKeyRevokeResponse;
    }),
  );

  return app;
}

function projectOf({ scope }: ApiKey) {
  return scope?.projectId === undefined ? {} : { project_id: scope.projectId };
}
