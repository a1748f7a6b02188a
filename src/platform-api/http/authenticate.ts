import type { ErrorResponse } from "../../http/errors.ts";
import { fail, type IncomingCall, unwrap } from "../../http/request.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import type { Principal } from "../../platform/rules/account/access.ts";
import { findApiKeyByHash } from "../../platform/rules/account/decide-api-key.ts";
import { findAccount, findOrganization } from "../../platform/world/lookup.ts";
import { hashSecret } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { actingAccountId } from "./acting-account.ts";
import { clientAddress } from "./client-address.ts";

/** The principal of a request and its key, which a caller of the control API does not need. */
export type AuthenticatedCaller = { readonly principal: Principal; readonly keyId?: number };

/** R: a missing header, an invalid key and a revoked key all get 401. */
export function authenticate(transaction: Transaction, context: IncomingCall): AuthenticatedCaller {
  const actingFor = actingAccountId(context);
  if (actingFor !== undefined)
    return { principal: { account: unwrap(findAccount(transaction.world, actingFor)) } };
  const secret = secretOf(context);
  if (secret === undefined) {
    return fail(
      unauthorized(
        context.req.header("authorization") === undefined
          ? "missing header Authorization: Bearer <API_KEY>"
          : "the Authorization header must be: Bearer <API_KEY>",
      ),
    );
  }
  const apiKey = findValidKey(transaction, secret);
  if (apiKey === undefined) return fail(unauthorized("the API key is not valid or has been revoked"));
  const { scope } = apiKey;
  // A key of an organization does not belong to its creator: it stays valid when the creator leaves.
  const account =
    scope === undefined
      ? transaction.world.accounts.get(apiKey.accountId)
      : unwrap(findOrganization(transaction.world, scope.organizationId));
  if (account === undefined)
    throw new Error(`account ${apiKey.accountId} of API key ${apiKey.id} does not exist`);
  transaction.recordKeyUse(apiKey.id, clientAddress(context));
  return { principal: scope === undefined ? { account } : { account, scope }, keyId: apiKey.id };
}

/** Whether `authenticate` will find a caller. Does not count as a use of the key. */
export function hasValidKey(transaction: Transaction, context: IncomingCall): boolean {
  if (actingAccountId(context) !== undefined) return true;
  const secret = secretOf(context);
  return secret !== undefined && findValidKey(transaction, secret) !== undefined;
}

function secretOf(context: IncomingCall): string | undefined {
  return /^bearer +(\S+) *$/i.exec(context.req.header("authorization") ?? "")?.[1];
}

function findValidKey(transaction: Transaction, secret: string): ApiKey | undefined {
  const apiKey = findApiKeyByHash(transaction.world, hashSecret(secret));
  return apiKey?.revokedAt === undefined ? apiKey : undefined;
}

/** D: one message for every reason. */
function unauthorized(hint: string): ErrorResponse {
  return {
    status: 401,
    code: "UNAUTHORIZED",
    message: "supplied credentials do not pass authentication",
    hint,
    headers: { "WWW-Authenticate": "Bearer" },
  };
}
