import { findAccount } from "./account.ts";
import type { Context } from "./context.ts";
import type { Event } from "./events.ts";
import { accept, type Result, refuse } from "./refusals.ts";
import type { SimTime } from "./time.ts";
import { nextNumber, type World } from "./world.ts";

/** R: authenticates every request of its account until revoked. The secret itself is nowhere, only its hash. */
export type ApiKey = {
  readonly id: number;
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly createdAt: SimTime;
  readonly revokedAt?: SimTime;
};

/** What a secret that a caller chose must look like: fit for a header. How well it can be guessed is the caller's matter. */
export const SECRET_PATTERN = /^[\x21-\x7e]{1,256}$/;
export const SECRET_RULE = "must be 1 to 256 printable ASCII characters without spaces";

/** Kept beside the key and coalesced: it changes with every request and proves nothing about the world's history. */
export type ApiKeyUse = { readonly keyId: number; readonly lastUsedAt: SimTime; readonly lastUsedFromAddr: string };

export type CreateApiKey = { readonly type: "CreateApiKey"; readonly accountId: string; readonly name: string; readonly hash: string };
export type RevokeApiKey = { readonly type: "RevokeApiKey"; readonly accountId: string; readonly keyId: number };

export function decideCreateApiKey(world: World, command: CreateApiKey, { now }: Context): Result<Event[]> {
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  if (findApiKeyByHash(world, command.hash) !== undefined) return refuse("API_KEY_EXISTS", "an API key with this secret exists already");
  const apiKey: ApiKey = {
    id: nextNumber(world, "apiKey"),
    accountId: command.accountId,
    name: command.name,
    hash: command.hash,
    createdAt: now,
  };
  return accept([{ type: "ApiKeyCreated", at: now, apiKey }]);
}

/** R: immediate and irreversible. A key that is revoked already is gone: 404 (PLATFORM, "Deleting what is not there"). */
export function decideRevokeApiKey(world: World, command: RevokeApiKey, { now }: Context): Result<Event[]> {
  const apiKey = world.apiKeys.get(String(command.keyId));
  if (apiKey === undefined || apiKey.accountId !== command.accountId || apiKey.revokedAt !== undefined) {
    return refuse("API_KEY_NOT_FOUND", `API key ${command.keyId} not found`);
  }
  return accept([{ type: "ApiKeyRevoked", at: now, keyId: apiKey.id }]);
}

/** The key with this hash, revoked ones included. */
export function findApiKeyByHash(world: World, hash: string): ApiKey | undefined {
  for (const apiKey of world.apiKeys.by("hash", hash).values()) return apiKey;
  return undefined;
}

/** The keys of an account that are still valid, oldest first. */
export function* validApiKeys(world: World, accountId: string): Generator<ApiKey> {
  for (const apiKey of world.apiKeys.by("account", accountId).values()) {
    if (apiKey.revokedAt === undefined) yield apiKey;
  }
}
