import * as z from "zod";
import { id, keyName, text } from "../../http/fields.ts";
import { fail, unwrap } from "../../http/request.ts";
import { requiredEvent } from "../../http/required-event.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import type { Account } from "../../platform/model/account.ts";
import { type ApiKey, SECRET_PATTERN, SECRET_RULE } from "../../platform/model/api-key.ts";
import {
  findApiKeyByHash,
  isRevokedHash,
  validApiKeys,
  validOrganizationKeys,
} from "../../platform/rules/account/decide-api-key.ts";
import { hashSecret, newApiKeySecret } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { runRead, runTransaction } from "../http/handler.ts";
import { formatInstant, renderObject } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { strict } from "../http/strict-fields.ts";

const secret = z.string().regex(SECRET_PATTERN, SECRET_RULE);

/** Accounts and their first keys, which on the platform come from the console. */
export function accountRoutes(): readonly ControlApiRoute[] {
  return [listAccounts, createAccount, updateAccount, listApiKeys, createApiKey, revokeApiKey];
}

const listAccounts = route("GET /accounts", {}, ({ world }) =>
  runRead(world, (transaction) => ({
    accounts: [...transaction.world.accounts.values()].map((account) => renderObject(account)),
  })),
);

const createAccount = route(
  "POST /accounts",
  {
    status: 201,
    body: z.strictObject({
      id: id.optional(),
      name: text(256),
      email: z.email().optional(),
      plan: z.enum(["paid", "free"]).optional(),
      key_name: keyName.default("first key"),
      api_key: secret.optional(),
    }),
  },
  ({ world, body: { api_key, key_name, ...input } }) =>
    runTransaction(world, (transaction) => {
      checkUnused(transaction, api_key);
      const events = unwrap(transaction.execute({ type: "CreateAccount", ...input }));
      const { account } = requiredEvent(events, "AccountCreated");
      return {
        account: renderObject(account),
        api_key: createKey(transaction, account, key_name, api_key),
      };
    }),
);

const updateAccount = route(
  "PATCH /accounts/:account_id",
  { body: z.strictObject({ plan: z.enum(["paid", "free"]) }) },
  ({ world, params, body }) =>
    runTransaction(world, (transaction) => {
      const accountId = accountOf(transaction, params["account_id"]).id;
      unwrap(transaction.execute({ type: "ChangePlan", accountId, plan: body.plan }));
      return { account: renderObject(transaction.world.accounts.get(accountId)) };
    }),
);

const listApiKeys = route(
  "GET /api_keys",
  { query: strict({ account_id: id.optional() }) },
  ({ world, query }) =>
    runRead(world, (transaction) => {
      const accounts =
        query.account_id === undefined
          ? [...transaction.world.accounts.values()]
          : [accountOf(transaction, query.account_id)];
      return {
        api_keys: accounts.flatMap((account) =>
          keysOf(transaction, account).map((apiKey) => renderKey(transaction, apiKey.id)),
        ),
      };
    }),
);

const createApiKey = route(
  "POST /api_keys",
  {
    body: z.strictObject({
      account_id: id.optional(),
      key_name: keyName,
      api_key: secret.optional(),
    }),
  },
  ({ world, body }) =>
    runTransaction(world, (transaction) => {
      checkUnused(transaction, body.api_key);
      return createKey(transaction, accountOf(transaction, body.account_id), body.key_name, body.api_key);
    }),
);

const revokeApiKey = route("DELETE /api_keys/:key_id", {}, ({ world, params }) =>
  runTransaction(world, (transaction) => {
    const apiKey = transaction.world.apiKeys.get(params["key_id"] ?? "");
    if (apiKey === undefined)
      return unwrap(refuse("API_KEY_NOT_FOUND", `API key ${params["key_id"]} not found`));
    const { accountId, scope, id: keyId } = apiKey;
    unwrap(
      transaction.execute({
        type: "RevokeApiKey",
        accountId,
        organizationId: scope?.organizationId,
        keyId,
      }),
    );
    return { ...renderKey(transaction, apiKey.id), revoked: true };
  }),
);

/** The keys of an account and of its organization. */
function keysOf({ world }: Transaction, account: Account): ApiKey[] {
  return [...validApiKeys(world, account.id), ...validOrganizationKeys(world, account.organizationId)];
}

/** The account with this id; without an id, the first account. */
function accountOf(transaction: Transaction, id: string | undefined): Account {
  const [first] = transaction.world.accounts.values();
  const account = id === undefined ? first : transaction.world.accounts.get(id);
  return (
    account ??
    fail({ status: 404, code: "ACCOUNT_NOT_FOUND", message: `account_id: account "${id ?? ""}" not found` })
  );
}

function checkUnused(transaction: Transaction, apiKey: string | undefined): void {
  if (apiKey === undefined) return;
  const hash = hashSecret(apiKey);
  if (isRevokedHash(transaction.world, hash))
    fail({
      status: 409,
      code: "API_KEY_EXISTS",
      message: "api_key: the key with this secret has been revoked; use another secret",
    });
  if (findApiKeyByHash(transaction.world, hash) === undefined) return;
  fail({ status: 409, code: "API_KEY_EXISTS", message: "api_key: a key with this secret already exists" });
}

function createKey(transaction: Transaction, account: Account, name: string, provided: string | undefined) {
  const key = provided ?? newApiKeySecret(transaction.world);
  const events = unwrap(
    transaction.execute({ type: "CreateApiKey", accountId: account.id, name, hash: hashSecret(key) }),
  );
  const { apiKey } = requiredEvent(events, "ApiKeyCreated");
  return {
    id: apiKey.id,
    key,
    name,
    account_id: account.id,
    created_at: formatInstant(apiKey.createdAt),
  };
}

function renderKey({ world }: Transaction, keyId: number) {
  const apiKey = world.apiKeys.get(String(keyId));
  const use = world.apiKeyUses.get(String(keyId));
  return {
    id: keyId,
    name: apiKey?.name,
    account_id: apiKey?.accountId,
    ...(apiKey?.scope && {
      organization_id: apiKey.scope.organizationId,
      project_id: apiKey.scope.projectId ?? null,
    }),
    created_at: apiKey && formatInstant(apiKey.createdAt),
    last_used_at: use === undefined ? null : formatInstant(use.lastUsedAt),
    last_used_from_addr: use?.lastUsedFromAddr ?? "",
  };
}
