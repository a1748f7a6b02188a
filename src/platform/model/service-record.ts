import type { SimTime } from "../../kernel/time.ts";
import type { BranchRef } from "./object-refs.ts";
import type { ServiceSettings, StoredObject, TriggerSettings } from "./service-settings.ts";

export type ServiceKind = keyof ServiceSettings;
/** The kinds that can be read and updated without having been created: all their settings have defaults. */
export type ConfigurationKind =
  | "authApplication"
  | "authEmailAndPassword"
  | "authEmailProvider"
  | "authLocalhost"
  | "authOrganization"
  | "authMagicLink"
  | "authPhoneNumber"
  | "authWebhook";

export type ServiceRecordFields<K extends ServiceKind> = {
  /** Unique among the records of its kind on a branch; empty if there is at most one. */
  readonly key: string;
  readonly settings: ServiceSettings[K];
  /** Name of the database that it serves, and with which it is deleted. */
  readonly database?: string;
  /** Id of its secret, which is stored outside history. A copy of the record has the same one. */
  readonly secretId?: string;
  /** When the credential was revoked, or the anonymization last started. */
  readonly markedAt?: SimTime;
  /** A copy of the record of another branch that this branch has not changed yet. */
  readonly isInherited?: true;
};

/** Whether the record has a secret: the current one or another. The caller stores it under `secretId`. */
export type SecretChange = "same" | "new" | undefined;

/** A record with its kind, which determines its settings. */
export type NewServiceRecord = {
  readonly [K in ServiceKind]: {
    readonly kind: K;
    readonly key?: string | undefined;
    readonly settings: ServiceSettings[K];
    readonly database?: string | undefined;
    readonly secret?: SecretChange;
    readonly isMarked?: boolean | undefined;
  };
}[ServiceKind];

export type CreateServiceRecord = BranchRef & {
  readonly type: "CreateServiceRecord";
  readonly record: NewServiceRecord;
};
export type UpdateServiceRecord = BranchRef & {
  readonly type: "UpdateServiceRecord";
  readonly kind: ServiceKind;
  readonly key: string;
  readonly settings: object;
  /** The settings replace the current ones, instead of being merged with them. */
  readonly replaces: boolean;
  /** Neither creates the record nor changes one that the branch has inherited. */
  readonly onlyOwn?: true | undefined;
  readonly secret?: SecretChange;
  readonly isMarked?: boolean | undefined;
};
export type DeleteServiceRecords = BranchRef & {
  readonly type: "DeleteServiceRecords";
  readonly kind: ServiceKind;
  readonly keys: readonly string[];
};

export type ServiceRecordCommand = CreateServiceRecord | UpdateServiceRecord | DeleteServiceRecords;

type ServiceRules = {
  /** For messages: `auth is not enabled`, `bucket "files" not found`. */
  readonly label: string;
  /** C: the message of a missing one, which public clients compare. */
  readonly missing?: string;
  /** Name of a record in messages, if it is not the key. */
  readonly nameOf?: (key: string) => string;
  /** Enabled and disabled, instead of created and deleted. */
  readonly isSwitch?: true;
  /** The kind that must be enabled first, and with which it is deleted. */
  readonly of?: ServiceKind;
  /** S: a revoked credential stays in the list, so its deletion marks it. */
  readonly isRevoked?: true;
  /** Its key, if callers do not choose it. */
  readonly keyFrom?: (recordId: string) => string;
  /** A new branch gets a copy of its parent's record, and a restored branch of its source's. */
  readonly isCopied?: true;
  /** S: a copy says that it is inherited, until its branch changes it. */
  readonly marksInherited?: true;
  /** An update creates what does not exist yet. */
  readonly isPut?: true;
  /** A value that no other record of its kind on the branch may have, in addition to its key. */
  readonly uniqueBy?: (settings: never) => string;
  /** The record of another kind that it needs, by its key, and with which it is deleted. */
  readonly owner?: { readonly kind: ServiceKind; readonly keyOf: (key: string) => string };
  /** A: of its kind on a branch, because all are stored in the file of the world. */
  readonly most?: {
    readonly records: number;
    readonly bytes: number;
    readonly bytesOf: (settings: never) => number;
  };
  /** The records of another kind that must exist when it is written. */
  readonly refersTo?: (settings: never) => readonly { readonly kind: ServiceKind; readonly key: string }[];
};

const OF_AUTH = { of: "auth", isCopied: true } as const;
const CONFIGURES_AUTH = { ...OF_AUTH, hasDefaults: true } as const;

/**
 * The rules of each kind. D: auth lies in the database and buckets are inherited, so branches have copies of
 * both. A: everything else belongs to its branch alone.
 */
export const SERVICES: {
  readonly [K in ServiceKind]: ServiceRules & {
    readonly hasDefaults?: K extends ConfigurationKind ? true : never;
  };
} = {
  auth: { label: "auth", isSwitch: true, isCopied: true },
  authApplication: { label: "application of auth", ...CONFIGURES_AUTH },
  authDomain: { label: "trusted domain", ...OF_AUTH },
  authOauthProvider: { label: "OAuth provider", ...OF_AUTH },
  authEmailAndPassword: { label: "email and password of auth", ...CONFIGURES_AUTH },
  authEmailProvider: { label: "email provider of auth", ...CONFIGURES_AUTH },
  authLocalhost: { label: "localhost setting of auth", ...CONFIGURES_AUTH },
  authOrganization: { label: "organization plugin of auth", ...CONFIGURES_AUTH },
  authMagicLink: { label: "magic link plugin of auth", ...CONFIGURES_AUTH },
  authPhoneNumber: { label: "phone number plugin of auth", ...CONFIGURES_AUTH },
  authWebhook: { label: "webhook of auth", ...CONFIGURES_AUTH },
  authUser: {
    label: "auth user",
    ...OF_AUTH,
    keyFrom: (recordId) => recordId,
    uniqueBy: ({ email }: ServiceSettings["authUser"]) => email.toLowerCase(),
  },
  dataApi: { label: "the Data API", isSwitch: true },
  bucket: { label: "bucket", isCopied: true },
  bucketObject: {
    label: "object",
    nameOf: objectName,
    isCopied: true,
    marksInherited: true,
    isPut: true,
    owner: { kind: "bucket", keyOf: bucketOfObject },
    most: { records: 1_000, bytes: 64 * 1024 ** 2, bytesOf: ({ size }: StoredObject) => size },
  },
  function: { label: "function", isCopied: true, marksInherited: true, isPut: true },
  trigger: {
    label: "function trigger",
    missing: "function trigger not visible on branch",
    isCopied: true,
    marksInherited: true,
    keyFrom: (recordId) => recordId,
    uniqueBy: ({ name }: TriggerSettings) => name,
    refersTo: (settings: TriggerSettings) => [
      { kind: "function", key: settings.function_slug },
      ...(settings.type === "schedule"
        ? []
        : [{ kind: "bucket" as const, key: settings.storage_object_created.bucket_name }]),
    ],
  },
  customDomain: {
    label: "custom domain",
    refersTo: ({ entity_id }: ServiceSettings["customDomain"]) => [{ kind: "function", key: entity_id }],
  },
  // S: the form of a credential's id.
  credential: {
    label: "credential",
    isRevoked: true,
    keyFrom: (recordId) => `nak_live_${recordId.replaceAll("-", "")}`,
  },
  anonymization: { label: "anonymization", isSwitch: true },
  archived: { label: "archiving", isSwitch: true },
};

/** The key of an object. Names of buckets may have slashes, too. */
export function objectKey(bucket: string, name: string): string {
  return `${encodeURIComponent(bucket)}/${name}`;
}

function bucketOfObject(key: string): string {
  return decodeURIComponent(key.slice(0, key.indexOf("/")));
}

/** The name of an object within its bucket. */
export function objectName(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

export function isServiceKind(kind: string): kind is ServiceKind {
  return Object.hasOwn(SERVICES, kind);
}
