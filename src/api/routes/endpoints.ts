import { Hono } from "hono";
import * as z from "zod";
import { found } from "../../http/request.ts";
import type { Compute } from "../../platform/compute/compute.ts";
import type { World } from "../../platform/core/world.ts";
import { computesOf, findBranch, findCompute, findProject } from "../../platform/lookup.ts";
import { computeOptions, computeType, endpointFields, id } from "../http/query-fields.ts";
import type { Call, Caller } from "../http/request-context.ts";
import { EndpointTexts, renderChangedEndpoint, renderScheduled, renderSettlingEndpoint } from "../render/render-objects.ts";

const inProject = z.object({ project_id: id });
const onEndpoint = z.object({ project_id: id, endpoint_id: id });
type OnEndpoint = Call<z.output<typeof onEndpoint>, unknown, unknown>;

/** R, "Computes (endpoints)"; S for get, start and suspend. */
export function endpointRoutes(caller: Caller): Hono {
  // Worlds that were copied from each other in memory share their rows, but not their time.
  const byWorld = new WeakMap<World, EndpointTexts>();
  const textsOf = (world: World): EndpointTexts => {
    const texts = byWorld.get(world) ?? new EndpointTexts();
    byWorld.set(world, texts);
    return texts;
  };
  const app = new Hono();

  app.post(
    "/projects/:project_id/endpoints",
    caller.route(
      {
        status: 201,
        params: inProject,
        body: z.object({ endpoint: z.object({ branch_id: id, type: computeType, region_id: z.string().optional(), ...endpointFields }) }),
      },
      ({ account, params, body, turn, execute }) => {
        const events = execute({
          type: "CreateCompute",
          accountId: account.id,
          projectId: params.project_id,
          branchId: body.endpoint.branch_id,
          regionId: body.endpoint.region_id,
          computeType: body.endpoint.type,
          options: computeOptions(body.endpoint),
        });
        const created = events.find((event) => event.type === "ComputeCreated");
        if (created === undefined) throw new Error("CreateCompute created none");
        return { endpoint: renderChangedEndpoint(turn.world, created.compute, turn.now), operations: renderScheduled(events, turn.now) };
      },
    ),
  );

  app.get(
    "/projects/:project_id/endpoints",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      return textsOf(turn.world).list(turn.world, computesOf(turn.world, project.id), turn.now);
    }),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/endpoints",
    caller.route({ params: z.object({ project_id: id, branch_id: id }) }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      const branch = found(findBranch(turn.world, project, params.branch_id));
      const computes = computesOf(turn.world, project.id).filter((compute) => compute.branchId === branch.id);
      return textsOf(turn.world).list(turn.world, computes, turn.now);
    }),
  );

  app.get(
    "/projects/:project_id/endpoints/:endpoint_id",
    caller.route({ params: onEndpoint }, (call) => ({ endpoint: renderSettlingEndpoint(call.turn.world, computeOf(call), call.turn.now) })),
  );

  app.patch(
    "/projects/:project_id/endpoints/:endpoint_id",
    caller.route({ params: onEndpoint, body: z.object({ endpoint: z.object({ branch_id: id.optional(), ...endpointFields }) }) }, (call) =>
      changed(call, { type: "UpdateCompute", branchId: call.body.endpoint.branch_id, options: computeOptions(call.body.endpoint) }),
    ),
  );

  app.delete(
    "/projects/:project_id/endpoints/:endpoint_id",
    caller.route({ params: onEndpoint }, (call) => {
      // R: the deleted compute is in the answer as it was, without `pending_state`, and there are no operations.
      const { pending_state: _, ...endpoint } = renderSettlingEndpoint(call.turn.world, computeOf(call), call.turn.now);
      call.execute({ type: "DeleteCompute", ...targetOf(call) });
      return { endpoint, operations: [] };
    }),
  );

  for (const [verb, type] of [
    ["start", "StartCompute"],
    ["suspend", "SuspendCompute"],
    ["restart", "RestartCompute"],
  ] as const) {
    app.post(
      `/projects/:project_id/endpoints/:endpoint_id/${verb}`,
      caller.route({ params: onEndpoint }, (call) => changed(call, { type })),
    );
  }

  return app;
}

function targetOf({ account, params }: OnEndpoint) {
  return { accountId: account.id, projectId: params.project_id, endpointId: params.endpoint_id };
}

function computeOf(call: OnEndpoint): Compute {
  return found(findCompute(call.turn.world, targetOf(call)));
}

/** The way of every call that changes a compute: the command, then the compute as it is and the operations that it takes. */
function changed(
  call: OnEndpoint,
  command:
    | { readonly type: "StartCompute" | "SuspendCompute" | "RestartCompute" }
    | { readonly type: "UpdateCompute"; readonly branchId: string | undefined; readonly options: ReturnType<typeof computeOptions> },
) {
  const { turn, execute } = call;
  const events = execute({ ...targetOf(call), ...command });
  return { endpoint: renderChangedEndpoint(turn.world, computeOf(call), turn.now), operations: renderScheduled(events, turn.now) };
}
