import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Account } from "../../model/account.ts";
import {
  type ApiKey,
  type ApiKeyCommand,
  type CreateApiKey,
  MAX_REVOKED_KEYS,
  REVOKED_HASH_DIGITS,
  REVOKED_KEY_RETENTION,
  type RevokeApiKey,
} from "../../model/api-key.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findAccount, findOrganization, findProject } from "../../world/lookup.ts";
import { nextNumber, REVOKED, type World } from "../../world/world.ts";

export const apiKeyDeciders = {
  CreateApiKey: decideCreateApiKey,
  RevokeApiKey: decideRevokeApiKey,
} satisfies Deciders<ApiKeyCommand>;

function decideCreateApiKey(world: World, command: CreateApiKey, { now }: Context): Result<Event[]> {
  const account = findAccount(world, command.accountId);
  if (!account.ok) return account;
  const scopeCheck = checkApiKeyScope(world, command.scope);
  if (!scopeCheck.ok) return scopeCheck;
  if (isRevokedHash(world, command.hash))
    return refuse("API_KEY_EXISTS", "the API key with this secret has been revoked; use another secret");
  if (findApiKeyByHash(world, command.hash) !== undefined)
    return refuse("API_KEY_EXISTS", "an API key with this secret exists already");
  const apiKey: ApiKey = {
    id: nextNumber(world, "apiKey"),
    accountId: command.accountId,
    name: command.name,
    hash: command.hash,
    createdAt: now,
    ...(command.scope === undefined ? {} : { scope: command.scope }),
  };
  return accept([{ type: "ApiKeyCreated", at: now, apiKey }]);
}

/**
 * R: immediate and irreversible. Revoking a revoked key is a 404, as for anything that is deleted already.
 */
function decideRevokeApiKey(world: World, command: RevokeApiKey, { now }: Context): Result<Event[]> {
  const apiKey = world.apiKeys.get(String(command.keyId));
  if (apiKey === undefined || !isOwnedBy(apiKey, command) || apiKey.revokedAt !== undefined) {
    return refuse("API_KEY_NOT_FOUND", `API key ${command.keyId} not found`);
  }
  return accept([
    { type: "ApiKeyRevoked", at: now, keyId: apiKey.id },
    ...oldestRevokedKeys(world).map((oldest) => removed(oldest, now)),
  ]);
}

/** The revoked keys that one more would be too many for, those revoked first. */
function oldestRevokedKeys(world: World): ApiKey[] {
  const revoked = world.apiKeys.by("revoked", REVOKED);
  if (revoked.size < MAX_REVOKED_KEYS) return [];
  const byRevocation = (a: ApiKey, b: ApiKey) => Number(a.revokedAt) - Number(b.revokedAt) || a.id - b.id;
  return revoked
    .toArray()
    .sort(byRevocation)
    .slice(0, revoked.size + 1 - MAX_REVOKED_KEYS);
}

/** When a revoked key is removed. */
export function apiKeyRemovalDueAt(world: World, keyId: string): SimTime | undefined {
  const revokedAt = world.apiKeys.get(keyId)?.revokedAt;
  return revokedAt === undefined ? undefined : revokedAt + REVOKED_KEY_RETENTION;
}

export function decideRemoveApiKey(world: World, keyId: string, { now }: Context): Event[] {
  const apiKey = world.apiKeys.get(keyId);
  return apiKey?.revokedAt === undefined ? [] : [removed(apiKey, now)];
}

function removed({ id, hash }: ApiKey, at: SimTime): Event {
  return { type: "ApiKeyRemoved", at, keyId: id, hash: hash.slice(0, REVOKED_HASH_DIGITS) };
}

/** Whether this is the hash of a revoked key, removed ones included. It is never valid again. */
export function isRevokedHash(world: World, hash: string): boolean {
  return (
    world.revokedHashes.get(hash.slice(0, REVOKED_HASH_DIGITS)) !== undefined ||
    findApiKeyByHash(world, hash)?.revokedAt !== undefined
  );
}

/** The key with this hash, revoked ones that are not yet removed included. */
export function findApiKeyByHash(world: World, hash: string): ApiKey | undefined {
  for (const apiKey of world.apiKeys.by("hash", hash).values()) return apiKey;
  return undefined;
}

/** The valid keys of a person, oldest first, without the keys that the person created for an organization. */
export function* validApiKeys(world: World, accountId: string): Generator<ApiKey> {
  for (const apiKey of world.apiKeys.by("account", accountId).values()) {
    if (apiKey.revokedAt === undefined && apiKey.scope === undefined) yield apiKey;
  }
}

/** The valid keys of an organization and of its projects, oldest first. */
export function* validOrganizationKeys(world: World, organizationId: string): Generator<ApiKey> {
  for (const apiKey of world.apiKeys.by("organization", organizationId).values()) {
    if (apiKey.revokedAt === undefined) yield apiKey;
  }
}

function isOwnedBy({ accountId, scope }: ApiKey, command: RevokeApiKey): boolean {
  if (command.organizationId !== undefined) return scope?.organizationId === command.organizationId;
  return scope === undefined && accountId === command.accountId;
}

function checkApiKeyScope(world: World, scope: ApiKey["scope"]): Result<Account | undefined> {
  if (scope === undefined) return accept(undefined);
  const owner = findOrganization(world, scope.organizationId);
  if (!owner.ok || scope.projectId === undefined) return owner;
  const project = findProject(world, owner.value.id, scope.projectId);
  return project.ok ? owner : project;
}
