import { uuidOf } from "../../../kernel/ids.ts";
import type { SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Account } from "../../model/account.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import {
  concernsAccount,
  concernsEmail,
  type MemberRole,
  type SettingsRecordOf,
} from "../../model/settings-record.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findOrganization } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import {
  findRecord,
  isOfKind,
  recordCreated,
  recordDeleted,
  recordsOf,
  recordUpdated,
} from "../settings/evolve-settings-record.ts";

export type OrganizationCommand = InviteMembers | AcceptInvitation | ChangeMemberRole | RemoveMember;

export const organizationDeciders = {
  InviteMembers: decideInviteMembers,
  AcceptInvitation: decideAcceptInvitation,
  ChangeMemberRole: decideChangeMemberRole,
  RemoveMember: decideRemoveMember,
} satisfies Deciders<OrganizationCommand>;

export type Member = {
  readonly id: string;
  readonly account: Account;
  readonly organizationId: string;
  readonly role: MemberRole;
  readonly joinedAt: SimTime;
};

type OrganizationRef = { readonly organizationId: string };
type InviteMembers = OrganizationRef & {
  readonly type: "InviteMembers";
  /** The account that invites. */
  readonly invitedBy: string;
  readonly invitations: readonly { readonly email: string; readonly role: MemberRole }[];
};
type AcceptInvitation = OrganizationRef & {
  readonly type: "AcceptInvitation";
  readonly invitationId: string;
};
type ChangeMemberRole = OrganizationRef & {
  readonly type: "ChangeMemberRole";
  readonly memberId: string;
  readonly role: MemberRole;
};
type RemoveMember = OrganizationRef & { readonly type: "RemoveMember"; readonly memberId: string };

/** All members, the owning account first. */
export function membersOf(world: World, owner: Account): Member[] {
  return [
    ownerMember(owner),
    ...recordsOf(world, owner.organizationId, "member").flatMap(
      (record) => memberFromRecord(world, record) ?? [],
    ),
  ];
}

/** The role of an account in an organization that it does not own. */
export function memberRoleIn(
  world: World,
  accountId: string,
  organizationId: string,
): MemberRole | undefined {
  for (const record of world.records.by("concern", concernsAccount(accountId)).values()) {
    if (isOfKind(record, "member") && record.scope === organizationId) return record.fields.role;
  }
  return undefined;
}

/** The organizations of an account: its own first, then the others in the order in which it joined. */
export function organizationsOf(world: World, account: Account): Account[] {
  const joined = world.records
    .by("concern", concernsAccount(account.id))
    .toArray()
    .filter((record) => isOfKind(record, "member"))
    .sort((a, b) => a.number - b.number)
    .flatMap(({ scope }) => {
      const owner = findOrganization(world, scope);
      return owner.ok ? owner.value : [];
    });
  return [account, ...joined];
}

export function findMember(world: World, owner: Account, memberId: string): Result<Member> {
  const own = ownerMember(owner);
  if (own.id === memberId) return accept(own);
  const record = findRecord(world, owner.organizationId, "member", memberId);
  const member = record && memberFromRecord(world, record);
  return member === undefined ? refuse("MEMBER_NOT_FOUND", `member "${memberId}" not found`) : accept(member);
}

/** S: an address that has an account joins at once. Either all are invited or none. */
function decideInviteMembers(world: World, command: InviteMembers, context: Context): Result<Event[]> {
  const owner = findOrganization(world, command.organizationId);
  if (!owner.ok) return owner;
  const { organizationId } = command;
  const seen = new Set<string>();
  const events: Event[] = [];
  for (const [index, { email, role }] of command.invitations.entries()) {
    const conflict = describeInviteConflict(world, owner.value, email, seen);
    if (conflict !== undefined) return refuse("MEMBER_EXISTS", `invitations.${index}.email: ${conflict}`);
    seen.add(concernsEmail(email));
    const account = accountByEmail(world, email);
    const acceptedAt = account === undefined ? {} : { acceptedAt: context.now };
    const invitation = { email, role, invitedBy: command.invitedBy, ...acceptedAt };
    events.push(recordCreated(world, context, organizationId, "invitation", invitation, events.length));
    if (account === undefined) continue;
    events.push(
      recordCreated(world, context, organizationId, "member", { accountId: account.id, role }, events.length),
    );
  }
  return accept(events);
}

/**
 * A: on the platform an invitation is accepted by e-mail and in the console; here, by a call of the control
 * API.
 */
function decideAcceptInvitation(world: World, command: AcceptInvitation, context: Context): Result<Event[]> {
  const owner = findOrganization(world, command.organizationId);
  if (!owner.ok) return owner;
  const invitation = findRecord(world, command.organizationId, "invitation", command.invitationId);
  if (invitation === undefined)
    return refuse("INVITATION_NOT_FOUND", `invitation "${command.invitationId}" not found`);
  const { email, role, acceptedAt } = invitation.fields;
  if (acceptedAt !== undefined)
    return refuse("MEMBER_EXISTS", `the invitation of ${email} has been accepted already`);
  const account = accountByEmail(world, email);
  if (account === undefined)
    return refuse(
      "ACCOUNT_NOT_FOUND",
      `there is no account with the email address ${email}; create it first`,
    );
  return accept([
    recordUpdated(invitation, { ...invitation.fields, acceptedAt: context.now }, context.now),
    recordCreated(world, context, command.organizationId, "member", { accountId: account.id, role }),
  ]);
}

function decideChangeMemberRole(world: World, command: ChangeMemberRole, { now }: Context): Result<Event[]> {
  const record = findChangeableMember(
    world,
    command.organizationId,
    command.memberId,
    command.role === "admin",
  );
  if (!record.ok) return record;
  if (record.value === undefined || record.value.fields.role === command.role) return accept([]);
  return accept([recordUpdated(record.value, { ...record.value.fields, role: command.role }, now)]);
}

function decideRemoveMember(world: World, command: RemoveMember, { now }: Context): Result<Event[]> {
  const record = findChangeableMember(world, command.organizationId, command.memberId, false);
  if (!record.ok) return record;
  return accept(record.value === undefined ? [] : [recordDeleted(record.value, now)]);
}

/**
 * The record of a member that may be changed or removed; `undefined` for the owner if it is to stay an admin.
 * S: the last admin cannot be removed. A: an organization is an account here, so its owner always stays an
 * admin.
 */
function findChangeableMember(
  world: World,
  organizationId: string,
  memberId: string,
  staysAdmin: boolean,
): Result<SettingsRecordOf<"member"> | undefined> {
  const owner = findOrganization(world, organizationId);
  if (!owner.ok) return owner;
  const member = findMember(world, owner.value, memberId);
  if (!member.ok) return member;
  if (member.value.account.id === owner.value.id && !staysAdmin) {
    return refuse(
      "MEMBER_OWNS_ORGANIZATION",
      "the account that owns the organization is always its admin: it cannot be removed or get another role",
    );
  }
  return accept(findRecord(world, organizationId, "member", memberId));
}

/** The only member without a record. No event created it, so worlds of earlier releases have it as well. */
function ownerMember(account: Account): Member {
  return {
    id: uuidOf(`${account.organizationId}/${account.id}`),
    account,
    organizationId: account.organizationId,
    role: "admin",
    joinedAt: account.createdAt,
  };
}

function memberFromRecord(
  world: World,
  { id, scope, fields, createdAt }: SettingsRecordOf<"member">,
): Member | undefined {
  const account = world.accounts.get(fields.accountId);
  return account && { id, account, organizationId: scope, role: fields.role, joinedAt: createdAt };
}

/** A: several accounts may have the same address; the oldest one counts. */
function accountByEmail(world: World, email: string): Account | undefined {
  for (const account of world.accounts.values()) {
    if (concernsEmail(account.email) === concernsEmail(email)) return account;
  }
  return undefined;
}

function describeInviteConflict(
  world: World,
  owner: Account,
  email: string,
  seen: ReadonlySet<string>,
): string | undefined {
  const concern = concernsEmail(email);
  if (seen.has(concern)) return `${email} is invited twice`;
  const account = accountByEmail(world, email);
  if (
    account !== undefined &&
    (account.id === owner.id || memberRoleIn(world, account.id, owner.organizationId) !== undefined)
  ) {
    return `${email} is a member already`;
  }
  for (const record of world.records.by("concern", concern).values()) {
    if (!isOfKind(record, "invitation") || record.scope !== owner.organizationId) continue;
    if (record.fields.acceptedAt === undefined) return `${email} is invited already`;
  }
  return undefined;
}
