import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import {
  findRegion,
  findVpcEndpoint,
  restrictedProjects,
  vpcEndpointsOf,
} from "../../platform/rules/project/vpc-endpoint.ts";
import { recordsOf } from "../../platform/rules/settings/evolve-settings-record.ts";
import { findProject } from "../../platform/world/lookup.ts";
import { type ApiRoute, route } from "../http/route.ts";

const MAX_EXAMPLES = 3; // S

const projectParams = z.object({ project_id: id });
const projectEndpointParams = projectParams.extend({ vpc_endpoint_id: id });
const organizationParams = z.object({ org_id: id });
const regionParams = organizationParams.extend({ region_id: id });
const regionEndpointParams = regionParams.extend({ vpc_endpoint_id: id });
const assignment = z.object({ label: z.string().max(256) });

/** S: VPC endpoints of organizations and projects. Assignments are answered without a body. */
export function vpcEndpointRoutes(): readonly ApiRoute[] {
  return [
    listProjectVPCEndpoints,
    assignProjectVPCEndpoint,
    deleteProjectVPCEndpoint,
    listOrganizationVPCEndpointsAllRegions,
    listOrganizationVPCEndpoints,
    getOrganizationVPCEndpointDetails,
    assignOrganizationVPCEndpoint,
    deleteOrganizationVPCEndpoint,
  ];
}

const listProjectVPCEndpoints = route(
  "GET /projects/:project_id/vpc_endpoints",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      endpoints: recordsOf(transaction.world, project.id, "projectVpcEndpoint").map(renderVpcEndpoint),
    } satisfies public_.VPCEndpointsResponse;
  },
);

const assignProjectVPCEndpoint = route(
  "POST /projects/:project_id/vpc_endpoints/:vpc_endpoint_id",
  { params: projectEndpointParams, body: assignment },
  ({ account, params, body, execute }) => {
    const target = {
      accountId: account.id,
      projectId: params.project_id,
      vpcEndpointId: params.vpc_endpoint_id,
    };
    execute({ type: "RestrictProject", ...target, label: body.label });
  },
);

const deleteProjectVPCEndpoint = route(
  "DELETE /projects/:project_id/vpc_endpoints/:vpc_endpoint_id",
  { params: projectEndpointParams },
  ({ account, params, execute }) => {
    const target = {
      accountId: account.id,
      projectId: params.project_id,
      vpcEndpointId: params.vpc_endpoint_id,
    };
    execute({ type: "UnrestrictProject", ...target });
  },
);

const listOrganizationVPCEndpointsAllRegions = route(
  "GET /organizations/:org_id/vpc/vpc_endpoints",
  { permission: "view", params: organizationParams },
  ({ params, transaction }) => {
    const endpoints = vpcEndpointsOf(transaction.world, params.org_id);
    return {
      endpoints: endpoints.map((record) => ({
        ...renderVpcEndpoint(record),
        region_id: record.fields.regionId,
      })),
    } satisfies public_.VPCEndpointsWithRegionResponse;
  },
);

const listOrganizationVPCEndpoints = route(
  "GET /organizations/:org_id/vpc/region/:region_id/vpc_endpoints",
  { permission: "view", params: regionParams },
  ({ params, transaction }) => {
    const region = unwrap(findRegion(params.region_id));
    const endpoints = vpcEndpointsOf(transaction.world, params.org_id).filter(
      ({ fields }) => fields.regionId === region.id,
    );
    return { endpoints: endpoints.map(renderVpcEndpoint) } satisfies public_.VPCEndpointsResponse;
  },
);

const getOrganizationVPCEndpointDetails = route(
  "GET /organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
  { permission: "view", params: regionEndpointParams },
  ({ account, params, transaction }) => {
    const record = unwrap(
      findVpcEndpoint(transaction.world, params.org_id, params.region_id, params.vpc_endpoint_id),
    );
    const restricted = restrictedProjects(transaction.world, account, params.vpc_endpoint_id);
    return {
      ...renderVpcEndpoint(record),
      // A: no acceptance by the platform is needed.
      state: "accepted",
      num_restricted_projects: restricted.length,
      example_restricted_projects: restricted.slice(0, MAX_EXAMPLES).map((project) => project.id),
    } satisfies public_.VPCEndpointDetails;
  },
);

const assignOrganizationVPCEndpoint = route(
  "POST /organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
  { permission: "admin", params: regionEndpointParams, body: assignment },
  ({ params, body, execute }) => {
    execute({ type: "AssignVpcEndpoint", ...vpcEndpointTarget(params), label: body.label });
  },
);

const deleteOrganizationVPCEndpoint = route(
  "DELETE /organizations/:org_id/vpc/region/:region_id/vpc_endpoints/:vpc_endpoint_id",
  { permission: "admin", params: regionEndpointParams },
  ({ params, execute }) => {
    execute({ type: "DeleteVpcEndpoint", ...vpcEndpointTarget(params) });
  },
);

function vpcEndpointTarget(params: z.output<typeof regionEndpointParams>) {
  return { organizationId: params.org_id, regionId: params.region_id, vpcEndpointId: params.vpc_endpoint_id };
}

function renderVpcEndpoint({
  fields,
}: {
  readonly fields: { readonly vpcEndpointId: string; readonly label: string };
}) {
  return { vpc_endpoint_id: fields.vpcEndpointId, label: fields.label } satisfies public_.VPCEndpoint;
}
