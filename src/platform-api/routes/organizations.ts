import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { timestamp } from "../../http/timestamps.ts";
import {
  MEMBER_ROLES,
  type MemberRole,
  type SettingsRecordOf,
} from "../../platform/model/settings-record.ts";
import { findMember, type Member, membersOf } from "../../platform/rules/account/organization.ts";
import { findSpendingLimit } from "../../platform/rules/account/spending-limit.ts";
import { recordsOf } from "../../platform/rules/settings/evolve-settings-record.ts";
import { checkCursor, cursorParameter, encodeCursor, limitParameter } from "../http/paging.ts";
import { email } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";

const MAX_PAGE = 500; // S
const MAX_INVITATIONS = 100; // A
const SORT_KEYS = ["email", "role", "joined_at"] as const; // S
const SORT_ORDERS = ["asc", "desc"] as const; // S

const organizationParams = z.object({ org_id: id });
const memberParams = organizationParams.extend({ member_id: z.guid("must be a UUID") });
const role = z.enum(MEMBER_ROLES);

const listQuery = z.object({
  sort_by: z.enum(SORT_KEYS).optional(),
  sort_order: z.enum(SORT_ORDERS).optional(),
  limit: limitParameter(MAX_PAGE, MAX_PAGE),
  cursor: cursorParameter(
    "members",
    z.tuple([id, z.enum(SORT_KEYS), z.enum(SORT_ORDERS), z.union([z.string(), z.number()]), z.string()]),
  ),
});

/** S: members, invitations and the spending limit of an organization. */
export function organizationRoutes(): readonly ApiRoute[] {
  return [
    getOrganizationMembers,
    getOrganizationMember,
    updateOrganizationMember,
    removeOrganizationMember,
    getOrganizationInvitations,
    createOrganizationInvitations,
    getOrganizationSpendingLimit,
    setOrganizationSpendingLimit,
    deleteOrganizationSpendingLimit,
  ];
}

const getOrganizationMembers = route(
  "GET /organizations/:org_id/members",
  { permission: "view", params: organizationParams, query: listQuery },
  ({ account, params, query, transaction }) => {
    checkCursor(query.cursor, [params.org_id, query.sort_by, query.sort_order]);
    const { page, pagination } = memberPage(params.org_id, membersOf(transaction.world, account), query);
    return {
      members: page.map(renderMemberWithUser),
      pagination,
    } satisfies public_.OrganizationMembersResponse & public_.CursorPaginationResponse;
  },
);

const getOrganizationMember = route(
  "GET /organizations/:org_id/members/:member_id",
  { permission: "view", params: memberParams },
  ({ account, params, transaction }) =>
    renderMember(unwrap(findMember(transaction.world, account, params.member_id))),
);

const updateOrganizationMember = route(
  "PATCH /organizations/:org_id/members/:member_id",
  { permission: "admin", params: memberParams, body: z.object({ role }) },
  ({ account, params, body, transaction, execute }) => {
    execute({
      type: "ChangeMemberRole",
      organizationId: params.org_id,
      memberId: params.member_id,
      role: body.role,
    });
    return renderMember(unwrap(findMember(transaction.world, account, params.member_id)));
  },
);

const removeOrganizationMember = route(
  "DELETE /organizations/:org_id/members/:member_id",
  { permission: "admin", params: memberParams },
  ({ params, execute }) => {
    execute({ type: "RemoveMember", organizationId: params.org_id, memberId: params.member_id });
    return {} satisfies public_.EmptyResponse;
  },
);

const getOrganizationInvitations = route(
  "GET /organizations/:org_id/invitations",
  { permission: "view", params: organizationParams },
  ({ params, transaction }) => {
    const invitations = recordsOf(transaction.world, params.org_id, "invitation");
    return {
      invitations: invitations.map(renderInvitation),
    } satisfies public_.OrganizationInvitationsResponse;
  },
);

const createOrganizationInvitations = route(
  "POST /organizations/:org_id/invitations",
  {
    permission: "admin",
    params: organizationParams,
    body: z.object({ invitations: z.array(z.object({ email, role })).max(MAX_INVITATIONS) }),
  },
  ({ principal, params, body, execute }) => {
    const events = execute({
      type: "InviteMembers",
      organizationId: params.org_id,
      invitedBy: principal.account.id,
      invitations: body.invitations,
    });
    const invitations = events.flatMap((event) =>
      event.type === "RecordCreated" && event.record.kind === "invitation"
        ? [renderInvitation(event.record)]
        : [],
    );
    return { invitations } satisfies public_.OrganizationInvitationsResponse;
  },
);

const getOrganizationSpendingLimit = route(
  "GET /organizations/:org_id/billing/spending_limit",
  { permission: "view", params: organizationParams },
  ({ params, transaction }) => {
    const limit = unwrap(findSpendingLimit(transaction.world, params.org_id));
    return { spending_limit_cents: limit?.fields.cents ?? null } satisfies public_.SpendingLimitResponse;
  },
);

const setOrganizationSpendingLimit = route(
  "PUT /organizations/:org_id/billing/spending_limit",
  {
    permission: "admin",
    params: organizationParams,
    body: z.object({ spending_limit_cents: z.int().min(1) }),
  },
  ({ params, body, execute }) => {
    execute({
      type: "SetSpendingLimit",
      organizationId: params.org_id,
      cents: body.spending_limit_cents,
    });
    return { spending_limit_cents: body.spending_limit_cents } satisfies public_.SpendingLimitResponse;
  },
);

const deleteOrganizationSpendingLimit = route(
  "DELETE /organizations/:org_id/billing/spending_limit",
  { permission: "admin", params: organizationParams },
  ({ params, execute }) => {
    execute({ type: "ClearSpendingLimit", organizationId: params.org_id });
    return {} satisfies public_.EmptyResponse;
  },
);

/** One page, sorted by the chosen key, then by id. A cursor holds its sort order, so later pages keep it. */
function memberPage(organizationId: string, members: Member[], query: z.output<typeof listQuery>) {
  const { cursor, limit } = query;
  const sort_by = cursor?.[1] ?? query.sort_by ?? "joined_at";
  const sort_order = cursor?.[2] ?? query.sort_order ?? "desc";
  const sortKeyOf = (member: Member) =>
    sort_by === "email" ? member.account.email : sort_by === "role" ? member.role : member.joinedAt;
  const direction = sort_order === "asc" ? 1 : -1;
  const compare = (key: string | number, memberId: string, otherKey: string | number, otherId: string) =>
    direction *
    (key < otherKey ? -1 : key > otherKey ? 1 : memberId < otherId ? -1 : memberId > otherId ? 1 : 0);
  const sorted = members.sort((a, b) => compare(sortKeyOf(a), a.id, sortKeyOf(b), b.id));
  const rest =
    cursor === undefined
      ? sorted
      : sorted.filter((member) => compare(sortKeyOf(member), member.id, cursor[3], cursor[4]) > 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && rest.length > page.length;
  const next = hasMore
    ? { next: encodeCursor("members", [organizationId, sort_by, sort_order, sortKeyOf(last), last.id]) }
    : {};
  return { page, pagination: { sort_by, sort_order, ...next } };
}

function renderMember({ id: memberId, account, organizationId, role: memberRole, joinedAt }: Member) {
  return {
    id: memberId,
    user_id: account.id,
    org_id: organizationId,
    role: publicRole(memberRole),
    joined_at: timestamp(joinedAt),
  } satisfies public_.Member;
}

function renderMemberWithUser(member: Member) {
  return {
    member: renderMember(member),
    user: { email: member.account.email },
  } satisfies public_.MemberWithUser;
}

function renderInvitation({ id: invitationId, scope, fields, createdAt }: SettingsRecordOf<"invitation">) {
  return {
    id: invitationId,
    email: fields.email,
    org_id: scope,
    invited_by: fields.invitedBy,
    invited_at: timestamp(createdAt),
    role: publicRole(fields.role),
  } satisfies public_.Invitation;
}

/** The values are the same; the types differ: an enum there, a union of strings here. */
function publicRole(memberRole: MemberRole) {
  return memberRole as public_.MemberRole;
}
