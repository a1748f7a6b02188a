import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { createdRecord } from "../../http/required-event.ts";
import { timestamp } from "../../http/timestamps.ts";
import { authorize } from "../../platform/rules/account/access.ts";
import { type ApiRoute, type RequestContext, route } from "../http/route.ts";

const DEFAULT_TTL_S = 86_400; // S
const MAX_TTL_S = 315_360_000; // A: ten years
const MAX_PROJECTS = 400; // S

const transferBody = z.object({ destination_org_id: id, project_ids: z.array(id).min(1).max(MAX_PROJECTS) });

/**
 * S: transfers of projects, by a request that another account accepts, or between organizations of one
 * person.
 */
export function transferRoutes(): readonly ApiRoute[] {
  return [
    createProjectTransferRequest,
    acceptProjectTransferRequest,
    transferProjectsFromOrgToOrg,
    transferProjectsFromUserToOrg,
  ];
}

const createProjectTransferRequest = route(
  "POST /projects/:project_id/transfer_requests",
  {
    status: 201,
    permission: "admin",
    params: z.object({ project_id: id }),
    body: z
      .object({ ttl_seconds: z.int().min(1).max(MAX_TTL_S).default(DEFAULT_TTL_S) })
      .default({ ttl_seconds: DEFAULT_TTL_S }),
  },
  ({ account, params, body, execute }) => {
    const events = execute({
      type: "RequestTransfer",
      accountId: account.id,
      projectId: params.project_id,
      ttlSeconds: body.ttl_seconds,
    });
    const { id: requestId, scope, createdAt, fields } = createdRecord(events, "transferRequest");
    return {
      id: requestId,
      project_id: scope,
      created_at: timestamp(createdAt),
      expires_at: timestamp(fields.expiresAt),
    } satisfies public_.ProjectTransferRequestResponse;
  },
);

const acceptProjectTransferRequest = route(
  "PUT /projects/:project_id/transfer_requests/:request_id",
  {
    status: 204,
    permission: "claim",
    params: z.object({ project_id: id, request_id: id }),
    body: z.object({ org_id: id.optional() }).optional(),
    organizationIn: (body) => body?.org_id,
  },
  ({ account, params, execute }) => {
    execute({
      type: "AcceptTransfer",
      projectId: params.project_id,
      requestId: params.request_id,
      toAccountId: account.id,
    });
  },
);

const transferProjectsFromOrgToOrg = route(
  "POST /organizations/:source_org_id/projects/transfer",
  { permission: "admin", params: z.object({ source_org_id: id }), body: transferBody },
  transferProjects,
);

// S: for projects of a person without an organization. Here, every person has one.
const transferProjectsFromUserToOrg = route(
  "POST /users/me/projects/transfer",
  { permission: "person", body: transferBody },
  transferProjects,
);

function transferProjects({
  account,
  principal,
  body,
  transaction,
  execute,
}: RequestContext<unknown, unknown, z.output<typeof transferBody>>) {
  const destination = unwrap(
    authorize(transaction.world, principal, "create", { organizationId: body.destination_org_id }),
  );
  execute({
    type: "TransferProjects",
    accountId: account.id,
    toAccountId: destination.id,
    projectIds: body.project_ids,
  });
  return {} satisfies public_.EmptyResponse;
}
