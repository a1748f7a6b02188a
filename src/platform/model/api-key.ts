import { DAY, type SimTime } from "../../kernel/time.ts";
import type { EventBase } from "./event-base.ts";

/** R: authenticates every request of its account until revoked. Only a hash of the secret is stored. */
export type ApiKey = {
  readonly id: number;
  readonly accountId: string;
  readonly name: string;
  /** SHA-256 of the secret, in hex. */
  readonly hash: string;
  readonly createdAt: SimTime;
  readonly revokedAt?: SimTime;
  /**
   * S: present if the key belongs to an organization, not to a person; with a project, it is limited to that.
   */
  readonly scope?: { readonly organizationId: string; readonly projectId?: string };
};

/**
 * A: a revoked key is stored this long. Then only the hash of its secret is stored, as `RevokedHash`; its id is
 * not used again.
 */
export const REVOKED_KEY_RETENTION = 7 * DAY;
/** A: beyond this number of revoked keys, the oldest ones are removed earlier. */
export const MAX_REVOKED_KEYS = 1_000;

/**
 * A: what stays of a revoked key that was removed, for good: revocation is final, so its secret can never be
 * the secret of another key.
 */
export type RevokedHash = {
  /** The beginning of the hash of the secret: 128 bits, which no two secrets share by chance. */
  readonly hash: string;
  readonly keyId: number;
};

/** Hex digits of the hash that are stored of a removed key. */
export const REVOKED_HASH_DIGITS = 32;

/** A caller may choose the secret of a key. It has to fit into a header; its strength is up to the caller. */
export const SECRET_PATTERN = /^[\x21-\x7e]{1,256}$/;
export const SECRET_RULE = "must be 1 to 256 printable ASCII characters without spaces";

/** Stored outside the journal and coalesced, because it changes with every request. */
export type ApiKeyUse = {
  readonly keyId: number;
  readonly lastUsedAt: SimTime;
  readonly lastUsedFromAddr: string;
};

export type CreateApiKey = {
  readonly type: "CreateApiKey";
  /** The account that owns the key; for a key of an organization, the account that created it. */
  readonly accountId: string;
  readonly name: string;
  readonly hash: string;
  readonly scope?: ApiKey["scope"] | undefined;
};
/** With `organizationId`, revokes a key of that organization; without, one of the account itself. */
export type RevokeApiKey = {
  readonly type: "RevokeApiKey";
  readonly accountId: string;
  readonly organizationId?: string | undefined;
  readonly keyId: number;
};

export type ApiKeyCommand = CreateApiKey | RevokeApiKey;

export type ApiKeyEvent =
  | (EventBase & { readonly type: "ApiKeyCreated"; readonly apiKey: ApiKey })
  | (EventBase & { readonly type: "ApiKeyRevoked"; readonly keyId: number })
  | (EventBase & {
      readonly type: "ApiKeyRemoved";
      readonly keyId: number;
      /** `RevokedHash.hash` of the key; absent in events of releases up to 0.4, which did not keep hashes. */
      readonly hash?: string;
    });
