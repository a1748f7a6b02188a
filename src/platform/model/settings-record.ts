import type { SimTime } from "../../kernel/time.ts";
import type { EventBase } from "./event-base.ts";
import { isServiceKind, type ServiceKind, type ServiceRecordFields } from "./service-record.ts";

/** S: the roles of organization members (see access.ts for their permissions). */
export const MEMBER_ROLES = ["admin", "member", "editor", "viewer", "collaborator"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** The fields of each kind. Ids are named after the object that they identify; instants end in `At`. */
export type SettingsRecordFields = {
  readonly jwks: {
    readonly jwksUrl: string;
    readonly providerName: string;
    readonly branchId?: string;
    readonly jwtAudience?: string;
    readonly roleNames: readonly string[];
  };
  readonly projectPermission: { readonly email: string };
  readonly projectVpcEndpoint: { readonly vpcEndpointId: string; readonly label: string };
  readonly transferRequest: { readonly expiresAt: SimTime };
  readonly organizationVpcEndpoint: {
    readonly vpcEndpointId: string;
    readonly regionId: string;
    readonly label: string;
    /** S: a deleted endpoint "cannot be added back", so its record stays. */
    readonly removed?: true;
  };
  readonly spendingLimit: { readonly cents: number };
  /** An account other than the owner. The owner is a member without a record (see organization.ts). */
  readonly member: { readonly accountId: string; readonly role: MemberRole };
  readonly invitation: {
    readonly email: string;
    readonly role: MemberRole;
    readonly invitedBy: string;
    readonly acceptedAt?: SimTime;
  };
} & { readonly [K in ServiceKind]: ServiceRecordFields<K> };
export type SettingsRecordKind = keyof SettingsRecordFields;

type SettingsRecordRow<K extends SettingsRecordKind> = {
  readonly id: string;
  readonly number: number;
  readonly kind: K;
  /** Id of the project, branch or organization that it belongs to, and with which it is deleted. */
  readonly scope: string;
  readonly fields: SettingsRecordFields[K];
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** Settings that are stored and returned, with hardly any rules of their own. */
export type SettingsRecord = { readonly [K in SettingsRecordKind]: SettingsRecordRow<K> }[SettingsRecordKind];
export type SettingsRecordOf<K extends SettingsRecordKind> = Extract<SettingsRecord, { readonly kind: K }>;

/** A record of a service of a branch (see service-record.ts). */
export type ServiceRecord = SettingsRecordOf<ServiceKind>;

/** Scope of each kind. */
const SCOPES: Readonly<Record<Exclude<SettingsRecordKind, ServiceKind>, "organization" | "project">> = {
  jwks: "project",
  projectPermission: "project",
  projectVpcEndpoint: "project",
  transferRequest: "project",
  organizationVpcEndpoint: "organization",
  spendingLimit: "organization",
  member: "organization",
  invitation: "organization",
};

export function scopeOf({ kind }: SettingsRecord): "organization" | "project" | "branch" {
  return isServiceKind(kind) ? "branch" : SCOPES[kind];
}

export function isServiceRecord(record: SettingsRecord): record is ServiceRecord {
  return isServiceKind(record.kind);
}

/**
 * Index key for finding records across scopes: the account or the email address (case-insensitive) that they
 * concern.
 */
export function concernOf(record: SettingsRecord): string | undefined {
  switch (record.kind) {
    case "member":
      return concernsAccount(record.fields.accountId);
    case "projectPermission":
    case "invitation":
      return concernsEmail(record.fields.email);
    default:
      return undefined;
  }
}

export function concernsAccount(accountId: string): string {
  return `account ${accountId}`;
}

export function concernsEmail(email: string): string {
  return `email ${email.toLowerCase()}`;
}

export type RecordEvent =
  | (EventBase & { readonly type: "RecordCreated"; readonly record: SettingsRecord })
  | (EventBase & {
      readonly type: "RecordUpdated";
      readonly recordId: string;
      readonly fields: SettingsRecord["fields"];
    })
  | (EventBase & { readonly type: "RecordDeleted"; readonly recordId: string });
