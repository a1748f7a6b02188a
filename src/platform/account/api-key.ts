import type { SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";

/** R: authenticates every request of its account until revoked. The secret itself is nowhere, only its hash. */
export type ApiKey = {
  readonly id: number;
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly createdAt: SimTime;
  readonly revokedAt?: SimTime;
  /** S: a key of the organization instead of a person's, for one of its projects alone where that is named. */
  readonly scope?: { readonly organizationId: string; readonly projectId?: string };
};

/** What a secret that a caller chose must look like: fit for a header. How well it can be guessed is the caller's matter. */
export const SECRET_PATTERN = /^[\x21-\x7e]{1,256}$/;
export const SECRET_RULE = "must be 1 to 256 printable ASCII characters without spaces";

/** Kept beside the key and coalesced: it changes with every request and proves nothing about the world's history. */
export type ApiKeyUse = {
  readonly keyId: number;
  readonly lastUsedAt: SimTime;
  readonly lastUsedFromAddr: string;
};

export type CreateApiKey = {
  readonly type: "CreateApiKey";
  /** Whose key it is; of an organization's, who made it. */
  readonly accountId: string;
  readonly name: string;
  readonly hash: string;
  readonly scope?: ApiKey["scope"] | undefined;
};
/** With an organization, one of its keys; without, one of the account's own. */
export type RevokeApiKey = {
  readonly type: "RevokeApiKey";
  readonly accountId: string;
  readonly organizationId?: string | undefined;
  readonly keyId: number;
};

export type ApiKeyCommand = CreateApiKey | RevokeApiKey;

export type ApiKeyEvent =
  | (EventBase & { readonly type: "ApiKeyCreated"; readonly apiKey: ApiKey })
  | (EventBase & { readonly type: "ApiKeyRevoked"; readonly keyId: number });
