import { test } from "vitest";
import {
  createOther,
  ORGANIZATION,
  OWNER_MEMBER,
  worldWithAccount,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, given, NOW, type Step } from "../../support/rules/rules.ts";

function invite(...emails: readonly string[]): CommandOf<"InviteMembers"> {
  return {
    type: "InviteMembers",
    organizationId: ORGANIZATION,
    invitedBy: "owner",
    invitations: emails.map((email) => ({ email, role: "member" })),
  };
}

const acceptInvitation: CommandOf<"AcceptInvitation"> = {
  type: "AcceptInvitation",
  organizationId: ORGANIZATION,
  invitationId: "record-1",
};
const changeRole: CommandOf<"ChangeMemberRole"> = {
  type: "ChangeMemberRole",
  organizationId: ORGANIZATION,
  memberId: "record-2",
  role: "viewer",
};
const removeMember: CommandOf<"RemoveMember"> = {
  type: "RemoveMember",
  organizationId: ORGANIZATION,
  memberId: "record-2",
};
/** The invitation is `record-1`, the member `record-2`. */
const organizationWithMember: Step = [worldWithAccount(), createOther, invite("other@example.com")];

test("inviting an address without an account records an open invitation", () => {
  given(worldWithAccount())
    .when(invite("new@example.com"))
    .then([
      {
        type: "RecordCreated",
        record: {
          id: "record-1",
          kind: "invitation",
          scope: ORGANIZATION,
          fields: { email: "new@example.com", role: "member", invitedBy: "owner" },
        },
      },
    ]);
});

test("inviting the address of an account makes that account a member at once", () => {
  given(worldWithAccount(), createOther)
    .when(invite("Other@Example.com"))
    .then([
      { type: "RecordCreated", record: { kind: "invitation", fields: { acceptedAt: NOW } } },
      { type: "RecordCreated", record: { kind: "member", fields: { accountId: "other", role: "member" } } },
    ]);
});

test("inviting the same address twice in one request is refused", () => {
  given(worldWithAccount())
    .when(invite("new@example.com", "NEW@example.com"))
    .thenRefused("MEMBER_EXISTS", /invitations\.1\.email: .*twice/);
});

test("inviting an address with an open invitation is refused", () => {
  given(worldWithAccount(), invite("new@example.com"))
    .when(invite("new@example.com"))
    .thenRefused("MEMBER_EXISTS", /invited already/);
});

test("inviting a member, or the owner, is refused", () => {
  given(organizationWithMember).when(invite("other@example.com")).thenRefused("MEMBER_EXISTS");
  given(worldWithAccount()).when(invite("owner@example.com")).thenRefused("MEMBER_EXISTS");
});

test("when one of several invitations is refused, none takes effect", () => {
  given(worldWithAccount()).when(invite("new@example.com", "owner@example.com")).thenRefused("MEMBER_EXISTS");
});

test("an invitation can be accepted once an account has its address", () => {
  given(worldWithAccount(), invite("other@example.com"), createOther)
    .when(acceptInvitation)
    .then([
      {
        type: "RecordUpdated",
        recordId: "record-1",
        fields: { email: "other@example.com", role: "member", acceptedAt: NOW },
      },
      { type: "RecordCreated", record: { kind: "member", fields: { accountId: "other", role: "member" } } },
    ]);
});

test("accepting an invitation is refused while no account has its address", () => {
  given(worldWithAccount(), invite("new@example.com"))
    .when(acceptInvitation)
    .thenRefused("ACCOUNT_NOT_FOUND", /new@example\.com/);
});

test("accepting an invitation twice is refused", () => {
  given(organizationWithMember).when(acceptInvitation).thenRefused("MEMBER_EXISTS");
});

test("accepting an unknown invitation is refused", () => {
  given(worldWithAccount()).when(acceptInvitation).thenRefused("INVITATION_NOT_FOUND");
});

test("a member gets another role", () => {
  given(organizationWithMember)
    .when(changeRole)
    .then([{ type: "RecordUpdated", recordId: "record-2", fields: { accountId: "other", role: "viewer" } }]);
});

test("giving a member the role that it has does nothing", () => {
  given(organizationWithMember)
    .when({ ...changeRole, role: "member" })
    .then([]);
});

test("the owner stays an admin: any other role is refused", () => {
  given(worldWithAccount())
    .when({ ...changeRole, memberId: OWNER_MEMBER, role: "admin" })
    .then([]);
  given(worldWithAccount())
    .when({ ...changeRole, memberId: OWNER_MEMBER, role: "member" })
    .thenRefused("MEMBER_OWNS_ORGANIZATION");
});

test("changing the role of an unknown member is refused", () => {
  given(worldWithAccount()).when(changeRole).thenRefused("MEMBER_NOT_FOUND");
});

test("a member is removed", () => {
  given(organizationWithMember)
    .when(removeMember)
    .then([{ type: "RecordDeleted", recordId: "record-2" }]);
});

test("removing the owner is refused", () => {
  given(worldWithAccount())
    .when({ ...removeMember, memberId: OWNER_MEMBER })
    .thenRefused("MEMBER_OWNS_ORGANIZATION");
});

test("removing an unknown member is refused", () => {
  given(worldWithAccount()).when(removeMember).thenRefused("MEMBER_NOT_FOUND");
});

test.each([invite("new@example.com"), acceptInvitation, changeRole, removeMember])(
  "$type in an unknown organization is refused",
  (command) => {
    given(worldWithAccount())
      .when({ ...command, organizationId: "org-unknown" })
      .thenRefused("ORGANIZATION_NOT_FOUND");
  },
);
