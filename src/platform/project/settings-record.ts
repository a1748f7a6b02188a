import type { SimTime } from "../core/time.ts";
import type { EventBase } from "../event-base.ts";

/** S: what a member of an organization may do there (see access.ts). */
export const MEMBER_ROLES = ["admin", "member", "editor", "viewer", "collaborator"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** What each kind keeps. Ids of objects are named for what they identify; instants end in `At`. */
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
    /** S: one that was deleted "cannot be added back", so it is remembered. */
    readonly removed?: true;
  };
  readonly spendingLimit: { readonly cents: number };
  /** Somebody else's account. The organization's own is its member without a record (see organization.ts). */
  readonly member: { readonly accountId: string; readonly role: MemberRole };
  readonly invitation: {
    readonly email: string;
    readonly role: MemberRole;
    readonly invitedBy: string;
    readonly acceptedAt?: SimTime;
  };
};
export type SettingsRecordKind = keyof SettingsRecordFields;

type SettingsRecordRow<K extends SettingsRecordKind> = {
  readonly id: string;
  readonly number: number;
  readonly kind: K;
  /** Id of the project or of the organization that it belongs to; it goes with it. */
  readonly scope: string;
  readonly fields: SettingsRecordFields[K];
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

/** What is kept and told again and has no rules of its own to speak of (DESIGN, "Plain things stay plain"). */
export type SettingsRecord = { readonly [K in SettingsRecordKind]: SettingsRecordRow<K> }[SettingsRecordKind];
export type SettingsRecordOf<K extends SettingsRecordKind> = Extract<SettingsRecord, { readonly kind: K }>;

/** Whether its scope is an organization; else it is a project. */
export function isOfOrganization({ kind }: SettingsRecord): boolean {
  switch (kind) {
    case "organizationVpcEndpoint":
    case "spendingLimit":
    case "member":
    case "invitation":
      return true;
    case "jwks":
    case "projectPermission":
    case "projectVpcEndpoint":
    case "transferRequest":
      return false;
    default:
      return kind satisfies never;
  }
}

/**
 * Under what a record is found from outside of its scope: the account, or the email address, that it concerns. Addresses are
 * the same in any case.
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
