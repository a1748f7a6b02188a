import type { Context } from "hono";
import type { ErrorResponse } from "../../http/errors.ts";
import { fail, unwrap } from "../../http/request.ts";
import type { Principal } from "../../platform/account/access.ts";
import { findApiKeyByHash } from "../../platform/account/decide-api-key.ts";
import { findOrganization } from "../../platform/lookup.ts";
import { hashSecret, sameHash } from "../../worlds/secrets.ts";
import type { Transaction } from "../../worlds/world-handle.ts";

/** Who calls, and by which key. */
export type AuthenticatedCaller = { readonly principal: Principal; readonly keyId: number };

/** R: a missing header, an invalid or a revoked key are all 401. */
export function authenticate(transaction: Transaction, context: Context): AuthenticatedCaller {
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
  if (apiKey === undefined || !sameHash(apiKey.hash, hash) || apiKey.revokedAt !== undefined) {
    return fail(unauthorized("the API key is not valid or has been revoked"));
  }
  const { scope } = apiKey;
  // An organization's key is nobody's own: it stays when whoever made it leaves.
  const account =
    scope === undefined
      ? transaction.world.accounts.get(apiKey.accountId)
      : unwrap(findOrganization(transaction.world, scope.organizationId));
  if (account === undefined)
    throw new Error(`API key ${apiKey.id} is of account ${apiKey.accountId}, which does not exist`);
  transaction.recordKeyUse(apiKey.id, clientAddress(context));
  return { principal: scope === undefined ? { account } : { account, scope }, keyId: apiKey.id };
}

function unauthorized(message: string): ErrorResponse {
  return { status: 401, code: "UNAUTHORIZED", message, headers: { "WWW-Authenticate": "Bearer" } };
}

/** Where the request came from; a call without a socket came from this process. */
function clientAddress(context: Context): string {
  const address = (context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)
    ?.incoming?.socket?.remoteAddress;
  return address?.replace(/^::ffff:/, "") ?? "127.0.0.1";
}
