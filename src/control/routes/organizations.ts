import { Hono } from "hono";
import { found } from "../../http/request.ts";
import { membersOf } from "../../platform/account/organization.ts";
import { findOrganization } from "../../platform/lookup.ts";
import { type ControlOptions, handler, turnOf } from "../http/handler.ts";
import { instant } from "./records.ts";

/** The part of the letter and the console: who had no account when invited accepts here, once there is one. */
export function organizationRoutes(options: ControlOptions): Hono {
  const app = new Hono();

  app.post(
    "/organizations/:org_id/invitations/:invitation_id/accept",
    handler(options, {}, ({ world, params }) =>
      turnOf(world, (turn) => {
        const organizationId = params["org_id"] ?? "";
        const owner = found(findOrganization(turn.world, organizationId));
        found(turn.execute({ type: "AcceptInvitation", organizationId, invitationId: params["invitation_id"] ?? "" }));
        const member = membersOf(turn.world, owner).at(-1);
        if (member === undefined) throw new Error("AcceptInvitation made no member");
        const { id, account, role, joinedAt } = member;
        return { member: { id, account_id: account.id, organization_id: organizationId, role, joined_at: instant(joinedAt) } };
      }),
    ),
  );

  return app;
}
