import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { found } from "../../http/request.ts";
import { findProject } from "../../platform/lookup.ts";
import { recordsOf } from "../../platform/project/evolve-settings-record.ts";
import { findRegion, findVpcEndpoint, restrictedProjects, vpcEndpointsOf } from "../../platform/project/vpc-endpoint.ts";
import { id } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";

const MAX_EXAMPLES = 3; // S

const inProject = z.object({ project_id: id });
const ofProject = inProject.extend({ vpc_endpoint_id: id });
const ofOrganization = z.object({ org_id: id });
const inRegion = ofOrganization.extend({ region_id: id });
const ofRegion = inRegion.extend({ vpc_endpoint_id: id });
const assignment = z.object({ label: z.string().max(256) });

/** S: assignments are answered without a body. */
export function vpcEndpointRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/vpc_endpoints",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      return { endpoints: recordsOf(turn.world, project.id, "projectVpcEndpoint").map(render) } satisfies public_.VPCEndpointsResponse;
    }),
  );

  app.post(
    "/projects/:project_id/vpc_endpoints/:vpc_endpoint_id",
    caller.route({ params: ofProject, body: assignment }, ({ account, params, body, execute }) => {
      const target = { accountId: account.id, projectId: params.project_id, vpcEndpointId: params.vpc_endpoint_id };
      execute({ type: "RestrictProject", ...target, label: body.label });
    }),
  );

  app.delete(
    "/projects/:project_id/vpc_endpoints/:vpc_endpoint_id",
    caller.route({ params: ofProject }, ({ account, params, execute }) => {
      const target = { accountId: account.id, projectId: params.project_id, vpcEndpointId: params.vpc_endpoint_id };
      execute({ type: "UnrestrictProject", ...target });
    }),
  );

  app.get(
    "/organizations/:org_id/vpc/vpc_endpoints",
    caller.route({ needs: "belong", params: ofOrganization }, ({ params, turn }) => {
      const endpoints = vpcEndpointsOf(turn.world, params.org_id);
      return {
        endpoints: endpoints.map((record) => ({ ...render(record), region_id: record.fields.regionId })),
      } satisfies public_.VPCEndpointsWithRegionResponse;
    }),
  );

  app.get(
    "/organizations/:org_id/vpc/region/:region_id/vpc_endpoints",
    caller.route({ needs: "belong", params: inRegion }, ({ params, turn }) => {
      const region = found(findRegion(params.region_id));
      const endpoints = vpcEndpointsOf(turn.world, params.org_id).filter(({ fields }) => fields.regionId === region.id);
      return { endpoints: endpoints.map(render) } satisfies public_.VPCEndpointsResponse;
    }),
  );

  app.get(
    "/organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
    caller.route({ needs: "belong", params: ofRegion }, ({ account, params, turn }) => {
      const record = found(findVpcEndpoint(turn.world, params.org_id, params.region_id, params.vpc_endpoint_id));
      const restricted = restrictedProjects(turn.world, account, params.vpc_endpoint_id);
      return {
        ...render(record),
        // A: nobody is here who would have to accept it first.
        state: "accepted",
        num_restricted_projects: restricted.length,
        example_restricted_projects: restricted.slice(0, MAX_EXAMPLES).map((project) => project.id),
      } satisfies public_.VPCEndpointDetails;
    }),
  );

  app.post(
    "/organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
    caller.route({ needs: "rule", params: ofRegion, body: assignment }, ({ params, body, execute }) => {
      execute({ type: "AssignVpcEndpoint", ...targetOf(params), label: body.label });
    }),
  );

  app.delete(
    "/organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
    caller.route({ needs: "rule", params: ofRegion }, ({ params, execute }) => {
      execute({ type: "DeleteVpcEndpoint", ...targetOf(params) });
    }),
  );

  return app;
}

function targetOf(params: z.output<typeof ofRegion>) {
  return { organizationId: params.org_id, regionId: params.region_id, vpcEndpointId: params.vpc_endpoint_id };
}

function render({ fields }: { readonly fields: { readonly vpcEndpointId: string; readonly label: string } }) {
  return { vpc_endpoint_id: fields.vpcEndpointId, label: fields.label } satisfies public_.VPCEndpoint;
}
