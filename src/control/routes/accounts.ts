import { Hono } from "hono";
import * as z from "zod";
import { fail, found } from "../../http/request.ts";
import type { Account } from "../../platform/account/account.ts";
import {
  type ApiKey,
  findApiKeyByHash,
  SECRET_PATTERN,
  SECRET_RULE,
  validApiKeys,
  validOrganizationKeys,
} from "../../platform/account/api-key.ts";
import { refuse } from "../../platform/refusals.ts";
import { hashSecret, newApiKeySecret } from "../../worlds/secrets.ts";
import type { Turn } from "../../worlds/world-handle.ts";
import { accountId, text } from "../http/control-fields.ts";
import { type ControlOptions, handler, turnOf } from "../http/handler.ts";
import { strict } from "../http/strict-fields.ts";
import { instant, record } from "./records.ts";

const secret = z.string().regex(SECRET_PATTERN, SECRET_RULE);
const keyName = text(64);

/** The console's part: accounts and their first keys. */
export function accountRoutes(options: ControlOptions): Hono {
  const app = new Hono();

  app.get(
    "/accounts",
    handler(options, {}, ({ world }) =>
      turnOf(world, (turn) => ({ accounts: [...turn.world.accounts.values()].map((account) => record(account)) })),
    ),
  );

  app.post(
    "/accounts",
    handler(
      options,
      {
        body: z.strictObject({
          id: accountId.optional(),
          name: text(256),
          email: z.email().optional(),
          plan: z.enum(["paid", "free"]).optional(),
          key_name: keyName.default("first key"),
          api_key: secret.optional(),
        }),
      },
      ({ world, body: { api_key, key_name, ...asked } }) =>
        turnOf(world, (turn) => {
          checkUnused(turn, api_key);
          const created = found(turn.execute({ type: "CreateAccount", ...asked })).find((event) => event.type === "AccountCreated");
          if (created === undefined) throw new Error("CreateAccount created none");
          return { account: record(created.account), api_key: createKey(turn, created.account, key_name, api_key) };
        }),
    ),
  );

  app.patch(
    "/accounts/:account_id",
    handler(options, { body: z.strictObject({ plan: z.enum(["paid", "free"]) }) }, ({ world, params, body }) =>
      turnOf(world, (turn) => {
        const accountId = accountOf(turn, params["account_id"]).id;
        found(turn.execute({ type: "ChangePlan", accountId, plan: body.plan }));
        return { account: record(turn.world.accounts.get(accountId)) };
      }),
    ),
  );

  app.get(
    "/api_keys",
    handler(options, { query: strict({ account_id: accountId.optional() }) }, ({ world, query }) =>
      turnOf(world, (turn) => {
        const accounts = query.account_id === undefined ? [...turn.world.accounts.values()] : [accountOf(turn, query.account_id)];
        return {
          api_keys: accounts.flatMap((account) => keysOf(turn, account).map((apiKey) => renderKey(turn, apiKey.id))),
        };
      }),
    ),
  );

  app.post(
    "/api_keys",
    handler(
      options,
      { body: z.strictObject({ account_id: accountId.optional(), key_name: keyName, api_key: secret.optional() }) },
      ({ world, body }) =>
        turnOf(world, (turn) => {
          checkUnused(turn, body.api_key);
          return createKey(turn, accountOf(turn, body.account_id), body.key_name, body.api_key);
        }),
    ),
  );

  app.delete(
    "/api_keys/:key_id",
    handler(options, {}, ({ world, params }) =>
      turnOf(world, (turn) => {
        const apiKey = turn.world.apiKeys.get(params["key_id"] ?? "");
        if (apiKey === undefined) return found(refuse("API_KEY_NOT_FOUND", `API key ${params["key_id"]} not found`));
        const { accountId, scope, id: keyId } = apiKey;
        found(turn.execute({ type: "RevokeApiKey", accountId, organizationId: scope?.organizationId, keyId }));
        return { ...renderKey(turn, apiKey.id), revoked: true };
      }),
    ),
  );

  return app;
}

/** The keys of an account and of its organization. */
function keysOf({ world }: Turn, account: Account): ApiKey[] {
  return [...validApiKeys(world, account.id), ...validOrganizationKeys(world, account.organizationId)];
}

/** The account of this id; without one, the first. */
function accountOf(turn: Turn, id: string | undefined): Account {
  const [first] = turn.world.accounts.values();
  const account = id === undefined ? first : turn.world.accounts.get(id);
  return account ?? fail({ status: 404, code: "ACCOUNT_NOT_FOUND", message: `account_id: account "${id ?? ""}" not found` });
}

function checkUnused(turn: Turn, apiKey: string | undefined): void {
  if (apiKey === undefined || findApiKeyByHash(turn.world, hashSecret(apiKey)) === undefined) return;
  fail({ status: 409, code: "API_KEY_EXISTS", message: "api_key: a key with this secret exists already" });
}

function createKey(turn: Turn, account: Account, name: string, given: string | undefined) {
  const key = given ?? newApiKeySecret();
  const events = found(turn.execute({ type: "CreateApiKey", accountId: account.id, name, hash: hashSecret(key) }));
  const created = events.find((event) => event.type === "ApiKeyCreated");
  if (created === undefined) throw new Error("CreateApiKey created none");
  return { id: created.apiKey.id, key, name, account_id: account.id, created_at: instant(created.apiKey.createdAt) };
}

function renderKey({ world }: Turn, keyId: number) {
  const apiKey = world.apiKeys.get(String(keyId));
  const use = world.apiKeyUses.get(String(keyId));
  return {
    id: keyId,
    name: apiKey?.name,
    account_id: apiKey?.accountId,
    ...(apiKey?.scope && { organization_id: apiKey.scope.organizationId, project_id: apiKey.scope.projectId ?? null }),
    created_at: apiKey && instant(apiKey.createdAt),
    last_used_at: use === undefined ? null : instant(use.lastUsedAt),
    last_used_from_addr: use?.lastUsedFromAddr ?? "",
  };
}
