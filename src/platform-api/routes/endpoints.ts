import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { requiredEvent } from "../../http/required-event.ts";
import type { Compute } from "../../platform/model/compute.ts";
import { computesOf, findBranch, findCompute, findProject } from "../../platform/world/lookup.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { computeOptions, computeType, endpointFields } from "../http/request-fields.ts";
import { type ApiRoute, type RequestContext, route } from "../http/route.ts";
import { listBody, objectBody } from "../render/body-of-rows.ts";
import {
  listedEndpoint,
  readEndpoint,
  renderChangedEndpoint,
  renderPendingEndpoint,
  renderReadEndpoint,
} from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const projectParams = z.object({ project_id: id });
const endpointParams = z.object({ project_id: id, endpoint_id: id });
type EndpointRequest = RequestContext<z.output<typeof endpointParams>, unknown, unknown>;

/** R; S for get, start and suspend. */
export function endpointRoutes(): readonly ApiRoute[] {
  return [
    createProjectEndpoint,
    listProjectEndpoints,
    listProjectBranchEndpoints,
    getProjectEndpoint,
    updateProjectEndpoint,
    deleteProjectEndpoint,
    startProjectEndpoint,
    suspendProjectEndpoint,
    restartProjectEndpoint,
  ];
}

const createProjectEndpoint = route(
  "POST /projects/:project_id/endpoints",
  {
    status: 201,
    params: projectParams,
    body: z.object({
      endpoint: z.object({
        branch_id: id,
        type: computeType,
        region_id: z.string().optional(),
        ...endpointFields,
      }),
    }),
  },
  ({ account, params, body, transaction, execute }) => {
    const events = execute({
      type: "CreateCompute",
      accountId: account.id,
      projectId: params.project_id,
      branchId: body.endpoint.branch_id,
      regionId: body.endpoint.region_id,
      computeType: body.endpoint.type,
      options: computeOptions(body.endpoint),
    });
    const { compute } = requiredEvent(events, "ComputeCreated");
    return {
      endpoint: renderChangedEndpoint(transaction.world, compute, transaction.now),
      operations: renderScheduledOperations(events, transaction.now),
    };
  },
);

const listProjectEndpoints = route(
  "GET /projects/:project_id/endpoints",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return listOf(transaction, computesOf(transaction.world, project.id));
  },
);

const listProjectBranchEndpoints = route(
  "GET /projects/:project_id/branches/:branch_id/endpoints",
  { params: z.object({ project_id: id, branch_id: id }) },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    const branch = unwrap(findBranch(transaction.world, project, params.branch_id));
    const computes = computesOf(transaction.world, project.id).filter(
      (compute) => compute.branchId === branch.id,
    );
    return listOf(transaction, computes);
  },
);

const getProjectEndpoint = route(
  "GET /projects/:project_id/endpoints/:endpoint_id",
  { params: endpointParams },
  (request) => {
    const { world, now } = request.transaction;
    return objectBody(request.transaction, "endpoint", requestedCompute(request), {
      json: readEndpoint,
      render: (compute) => renderReadEndpoint(world, compute, now),
    });
  },
);

const updateProjectEndpoint = route(
  "PATCH /projects/:project_id/endpoints/:endpoint_id",
  {
    params: endpointParams,
    body: z.object({ endpoint: z.object({ branch_id: id.optional(), ...endpointFields }) }),
  },
  (request) =>
    changeCompute(request, {
      type: "UpdateCompute",
      branchId: request.body.endpoint.branch_id,
      options: computeOptions(request.body.endpoint),
    }),
);

const deleteProjectEndpoint = route(
  "DELETE /projects/:project_id/endpoints/:endpoint_id",
  { params: endpointParams },
  (request) => {
    // R: the answer has the compute as it was, without `pending_state`, and no operations.
    const { pending_state: _, ...endpoint } = renderPendingEndpoint(
      request.transaction.world,
      requestedCompute(request),
      request.transaction.now,
    );
    request.execute({ type: "DeleteCompute", ...endpointTarget(request) });
    return { endpoint, operations: [] };
  },
);

const startProjectEndpoint = route(
  "POST /projects/:project_id/endpoints/:endpoint_id/start",
  { params: endpointParams },
  (request) => changeCompute(request, { type: "StartCompute" }),
);

const suspendProjectEndpoint = route(
  "POST /projects/:project_id/endpoints/:endpoint_id/suspend",
  { params: endpointParams },
  (request) => changeCompute(request, { type: "SuspendCompute" }),
);

const restartProjectEndpoint = route(
  "POST /projects/:project_id/endpoints/:endpoint_id/restart",
  { params: endpointParams },
  (request) => changeCompute(request, { type: "RestartCompute" }),
);

function listOf(transaction: Transaction, computes: readonly Compute[]) {
  const { world, now } = transaction;
  return listBody(transaction, "endpoints", computes, {
    json: listedEndpoint,
    render: (compute) => renderReadEndpoint(world, compute, now),
  });
}

function endpointTarget({ account, params }: EndpointRequest) {
  return { accountId: account.id, projectId: params.project_id, computeId: params.endpoint_id };
}

function requestedCompute(request: EndpointRequest): Compute {
  return unwrap(findCompute(request.transaction.world, endpointTarget(request)));
}

/** Executes a command; answers with the changed compute and the operations that it needs. */
function changeCompute(
  request: EndpointRequest,
  command:
    | { readonly type: "StartCompute" | "SuspendCompute" | "RestartCompute" }
    | {
        readonly type: "UpdateCompute";
        readonly branchId: string | undefined;
        readonly options: ReturnType<typeof computeOptions>;
      },
) {
  const { transaction, execute } = request;
  const events = execute({ ...endpointTarget(request), ...command });
  return {
    endpoint: renderChangedEndpoint(transaction.world, requestedCompute(request), transaction.now),
    operations: renderScheduledOperations(events, transaction.now),
  };
}
