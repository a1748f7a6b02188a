import type { Context } from "hono";
import type { ErrorResponse } from "../../http/errors.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Principal } from "../../platform/account/access.ts";
import { findApiKeyByHash } from "../../platform/account/decide-api-key.ts";
import { findAccount, findOrganization } from "../../platform/lookup.ts";
import { hashSecret } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { actingAccountId } from "./acting-account.ts";
import { clientAddress } from "./client-address.ts";

/** The principal of a request and its key, which a caller of the control API does not need. */
export type AuthenticatedCaller = { readonly principal: Principal; readonly keyId?: number };

/** R: a missing header, an invalid key and a revoked key all get 401. */
export function authenticate(transaction: Transaction, context: Context): AuthenticatedCaller {
  const actingFor = actingAccountId(context);
  if (actingFor !== undefined)
    return { principal: { account: unwrap(findAccount(transaction.world, actingFor)) } };
  const header = context.req.header("authorization");
  const secret = /^bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  if (secret === undefined) {
    return fail(
      unauthorized(
        header === undefined
          ? "missing header Authorization: Bearer <API_KEY>"
          : "the Authorization header must be: Bearer <API_KEY>",
      ),
    );
  }
  const hash = hashSecret(secret);
  const apiKey = findApiKeyByHash(transaction.world, hash);
  if (apiKey === undefined || apiKey.revokedAt !== undefined) {
    return fail(unauthorized("the API key is not valid or has been revoked"));
  }
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

function unauthorized(message: string): ErrorResponse {
  return { status: 401, code: "UNAUTHORIZED", message, headers: { "WWW-Authenticate": "Bearer" } };
}
