import { unwrap } from "../../http/request.ts";
import { membersOf } from "../../platform/rules/account/organization.ts";
import { findOrganization } from "../../platform/world/lookup.ts";
import { runTransaction } from "../http/handler.ts";
import { formatInstant } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

/**
 * Accepts an invitation. On the platform this happens by e-mail and console, after the invited person has an
 * account.
 */
export function organizationRoutes(): readonly ControlApiRoute[] {
  return [acceptInvitation];
}

const acceptInvitation = route(
  "POST /organizations/:org_id/invitations/:invitation_id/accept",
  {},
  ({ world, params }) =>
    runTransaction(world, (transaction) => {
      const organizationId = params["org_id"] ?? "";
      const owner = unwrap(findOrganization(transaction.world, organizationId));
      unwrap(
        transaction.execute({
          type: "AcceptInvitation",
          organizationId,
          invitationId: params["invitation_id"] ?? "",
        }),
      );
      const member = membersOf(transaction.world, owner).at(-1);
      if (member === undefined) throw new Error("AcceptInvitation made no member");
      const { id, account, role, joinedAt } = member;
      return {
        member: {
          id,
          account_id: account.id,
          organization_id: organizationId,
          role,
          joined_at: formatInstant(joinedAt),
        },
      };
    }),
);
