import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { timestamp } from "../../http/instants.ts";
import { found } from "../../http/request.ts";
import { findMember, type Member, membersOf } from "../../platform/account/organization.ts";
import { findSpendingLimit } from "../../platform/account/spending-limit.ts";
import { recordsOf } from "../../platform/project/evolve-settings-record.ts";
import { MEMBER_ROLES, type MemberRole, type RecordOf } from "../../platform/project/settings-record.ts";
import { checkPlace, cursorOf, encodeCursor, limitOf } from "../http/paging.ts";
import { email, id } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";

const MAX_PAGE = 500; // S
const MAX_INVITATIONS = 100; // A
const SORTS = ["email", "role", "joined_at"] as const; // S
const ORDERS = ["asc", "desc"] as const; // S

const inOrganization = z.object({ org_id: id });
const onMember = inOrganization.extend({ member_id: z.guid("must be a UUID") });
const role = z.enum(MEMBER_ROLES);

const listQuery = z.object({
  sort_by: z.enum(SORTS).optional(),
  sort_order: z.enum(ORDERS).optional(),
  limit: limitOf(MAX_PAGE, MAX_PAGE),
  cursor: cursorOf("members", z.tuple([id, z.enum(SORTS), z.enum(ORDERS), z.union([z.string(), z.number()]), z.string()])),
});

/** S: who belongs to an organization, who is invited, and what it wants to spend. */
export function organizationRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/organizations/:org_id/members",
    caller.route({ needs: "belong", params: inOrganization, query: listQuery }, ({ account, params, query, turn }) => {
      checkPlace(query.cursor, [params.org_id, query.sort_by, query.sort_order]);
      const { page, pagination } = pageOf(params.org_id, membersOf(turn.world, account), query);
      return { members: page.map(renderMemberWithUser), pagination } satisfies public_.OrganizationMembersResponse &
        public_.CursorPaginationResponse;
    }),
  );

  app.get(
    "/organizations/:org_id/members/:member_id",
    caller.route({ needs: "belong", params: onMember }, ({ account, params, turn }) =>
      renderMember(found(findMember(turn.world, account, params.member_id))),
    ),
  );

  app.patch(
    "/organizations/:org_id/members/:member_id",
    caller.route({ needs: "rule", params: onMember, body: z.object({ role }) }, ({ account, params, body, turn, execute }) => {
      execute({ type: "ChangeMemberRole", organizationId: params.org_id, memberId: params.member_id, role: body.role });
      return renderMember(found(findMember(turn.world, account, params.member_id)));
    }),
  );

  app.delete(
    "/organizations/:org_id/members/:member_id",
    caller.route({ needs: "rule", params: onMember }, ({ params, execute }) => {
      execute({ type: "RemoveMember", organizationId: params.org_id, memberId: params.member_id });
      return {} satisfies public_.EmptyResponse;
    }),
  );

  app.get(
    "/organizations/:org_id/invitations",
    caller.route({ needs: "belong", params: inOrganization }, ({ params, turn }) => {
      const invitations = recordsOf(turn.world, params.org_id, "invitation");
      return { invitations: invitations.map(renderInvitation) } satisfies public_.OrganizationInvitationsResponse;
    }),
  );

  app.post(
    "/organizations/:org_id/invitations",
    caller.route(
      {
        needs: "rule",
        params: inOrganization,
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
          event.type === "RecordCreated" && event.record.kind === "invitation" ? [renderInvitation(event.record)] : [],
        );
        return { invitations } satisfies public_.OrganizationInvitationsResponse;
      },
    ),
  );

  app.get(
    "/organizations/:org_id/billing/spending_limit",
    caller.route({ needs: "belong", params: inOrganization }, ({ params, turn }) => {
      const limit = found(findSpendingLimit(turn.world, params.org_id));
      return { spending_limit_cents: limit?.fields.cents ?? null } satisfies public_.SpendingLimitResponse;
    }),
  );

  app.put(
    "/organizations/:org_id/billing/spending_limit",
    caller.route(
      { needs: "rule", params: inOrganization, body: z.object({ spending_limit_cents: z.int().min(1) }) },
      ({ params, body, execute }) => {
        execute({ type: "SetSpendingLimit", organizationId: params.org_id, cents: body.spending_limit_cents });
        return { spending_limit_cents: body.spending_limit_cents } satisfies public_.SpendingLimitResponse;
      },
    ),
  );

  app.delete(
    "/organizations/:org_id/billing/spending_limit",
    caller.route({ needs: "rule", params: inOrganization }, ({ params, execute }) => {
      execute({ type: "ClearSpendingLimit", organizationId: params.org_id });
      return {} satisfies public_.EmptyResponse;
    }),
  );

  return app;
}

/** Sorted by the chosen key and, where that ties, by id; a cursor carries its sort, so a walk stays in it. */
function pageOf(organizationId: string, members: Member[], query: z.output<typeof listQuery>) {
  const { cursor, limit } = query;
  const sort_by = cursor?.[1] ?? query.sort_by ?? "joined_at";
  const sort_order = cursor?.[2] ?? query.sort_order ?? "desc";
  const keyOf = (member: Member) => (sort_by === "email" ? member.account.email : sort_by === "role" ? member.role : member.joinedAt);
  const direction = sort_order === "asc" ? 1 : -1;
  const compare = (key: string | number, memberId: string, otherKey: string | number, otherId: string) =>
    direction * (key < otherKey ? -1 : key > otherKey ? 1 : memberId < otherId ? -1 : memberId > otherId ? 1 : 0);
  const sorted = members.sort((a, b) => compare(keyOf(a), a.id, keyOf(b), b.id));
  const rest = cursor === undefined ? sorted : sorted.filter((member) => compare(keyOf(member), member.id, cursor[3], cursor[4]) > 0);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  const more = last !== undefined && rest.length > page.length;
  const next = more ? { next: encodeCursor("members", [organizationId, sort_by, sort_order, keyOf(last), last.id]) } : {};
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
  return { member: renderMember(member), user: { email: member.account.email } } satisfies public_.MemberWithUser;
}

function renderInvitation({ id: invitationId, scope, fields, createdAt }: RecordOf<"invitation">) {
  return {
    id: invitationId,
    email: fields.email,
    org_id: scope,
    invited_by: fields.invitedBy,
    invited_at: timestamp(createdAt),
    role: publicRole(fields.role),
  } satisfies public_.Invitation;
}

/** The same words; an enum of theirs is not our union of strings. */
function publicRole(memberRole: MemberRole) {
  return memberRole as public_.MemberRole;
}
