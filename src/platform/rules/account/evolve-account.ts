import type { AccountEvent } from "../../model/account.ts";
import type { ApiKeyEvent } from "../../model/api-key.ts";
import type { Evolvers } from "../../world/handlers.ts";

export const accountEvolvers = {
  AccountCreated(world, { account }) {
    world.numbers.account = account.number;
    world.accounts.set(account);
  },
  AccountPlanChanged(world, { accountId, plan }) {
    const account = world.accounts.get(accountId);
    if (account === undefined) throw new Error(`AccountPlanChanged: there is no account ${accountId}`);
    world.accounts.set({ ...account, plan });
  },
} satisfies Evolvers<AccountEvent>;

export const apiKeyEvolvers = {
  ApiKeyCreated(world, { apiKey }) {
    world.numbers.apiKey = apiKey.id;
    world.apiKeys.set(apiKey);
  },
  ApiKeyRevoked(world, { keyId, at }) {
    const apiKey = world.apiKeys.get(String(keyId));
    if (apiKey === undefined) throw new Error(`ApiKeyRevoked: there is no API key ${keyId}`);
    world.apiKeys.set({ ...apiKey, revokedAt: at });
  },
  ApiKeyRemoved(world, { keyId, hash }) {
    if (hash !== undefined) world.revokedHashes.set({ hash, keyId });
    world.apiKeys.delete(String(keyId));
    world.apiKeyUses.delete(String(keyId));
  },
} satisfies Evolvers<ApiKeyEvent>;
