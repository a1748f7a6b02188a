import { accept, type Refusal, type Result, refuse } from "../../catalog/refusal-codes.ts";
import { type Region, regionWithId } from "../../catalog/regions.ts";
import type { Account } from "../../model/account.ts";
import type { Context } from "../../model/context.ts";
import type { Event } from "../../model/events.ts";
import type { Project } from "../../model/project.ts";
import type { SettingsRecordOf } from "../../model/settings-record.ts";
import type { Deciders } from "../../world/handlers.ts";
import { findOrganization, findProject, projectsOf } from "../../world/lookup.ts";
import type { World } from "../../world/world.ts";
import {
  isOfKind,
  recordCreated,
  recordDeleted,
  recordsOf,
  recordUpdated,
} from "../settings/evolve-settings-record.ts";

export type VpcEndpointCommand = RestrictProject | UnrestrictProject | AssignVpcEndpoint | DeleteVpcEndpoint;

export const vpcEndpointDeciders = {
  RestrictProject: decideRestrictProject,
  UnrestrictProject: decideUnrestrictProject,
  AssignVpcEndpoint: decideAssignVpcEndpoint,
  DeleteVpcEndpoint: decideDeleteVpcEndpoint,
} satisfies Deciders<VpcEndpointCommand>;

// S: endpoints of private networks. Only their assignment is imitated, not the network.

type ProjectVpcEndpointRef = {
  readonly accountId: string;
  readonly projectId: string;
  readonly vpcEndpointId: string;
};
type OrganizationVpcEndpointRef = {
  readonly organizationId: string;
  readonly regionId: string;
  readonly vpcEndpointId: string;
};

type RestrictProject = ProjectVpcEndpointRef & {
  readonly type: "RestrictProject";
  readonly label: string;
};
type UnrestrictProject = ProjectVpcEndpointRef & { readonly type: "UnrestrictProject" };
type AssignVpcEndpoint = OrganizationVpcEndpointRef & {
  readonly type: "AssignVpcEndpoint";
  readonly label: string;
};
type DeleteVpcEndpoint = OrganizationVpcEndpointRef & { readonly type: "DeleteVpcEndpoint" };

/** S: creates or updates. The endpoint must be assigned to the project's organization. */
function decideRestrictProject(world: World, command: RestrictProject, context: Context): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const { vpcEndpointId, label } = command;
  const organizationId = world.accounts.get(project.value.accountId)?.organizationId ?? "";
  if (!vpcEndpointsOf(world, organizationId).some(({ fields }) => fields.vpcEndpointId === vpcEndpointId)) {
    return refuse(
      "VPC_ENDPOINT_NOT_ALLOWED",
      `VPC endpoint "${vpcEndpointId}" is not assigned to organization "${organizationId}"; assign it there first`,
    );
  }
  const existing = restrictionOf(world, project.value, vpcEndpointId);
  const fields = { vpcEndpointId, label };
  const { id } = project.value;
  return accept([
    existing === undefined
      ? recordCreated(world, context, id, "projectVpcEndpoint", fields)
      : recordUpdated(existing, fields, context.now),
  ]);
}

function decideUnrestrictProject(
  world: World,
  command: UnrestrictProject,
  { now }: Context,
): Result<Event[]> {
  const project = findProject(world, command.accountId, command.projectId);
  if (!project.ok) return project;
  const existing = restrictionOf(world, project.value, command.vpcEndpointId);
  return existing === undefined
    ? refuseVpcEndpointNotFound(command.vpcEndpointId)
    : accept([recordDeleted(existing, now)]);
}

/** S: creates or updates. Rejected for endpoints that were deleted before, and in Azure regions. */
function decideAssignVpcEndpoint(
  world: World,
  command: AssignVpcEndpoint,
  context: Context,
): Result<Event[]> {
  const { organizationId, regionId, vpcEndpointId, label } = command;
  const owner = findOrganization(world, organizationId);
  if (!owner.ok) return owner;
  const region = findRegion(regionId);
  if (!region.ok) return region;
  if (regionId.startsWith("azure-"))
    return refuse("REGION_NOT_SUPPORTED", `region_id: VPC endpoints are not supported in "${regionId}"`);
  const existing = recordsOf(world, organizationId, "organizationVpcEndpoint").find((record) =>
    isSameVpcEndpoint(record, regionId, vpcEndpointId),
  );
  if (existing?.fields.removed === true) {
    return refuse(
      "VPC_ENDPOINT_NOT_ALLOWED",
      `VPC endpoint "${vpcEndpointId}" was deleted from the organization and cannot be added back`,
    );
  }
  const fields = { vpcEndpointId, regionId, label };
  return accept([
    existing === undefined
      ? recordCreated(world, context, organizationId, "organizationVpcEndpoint", fields)
      : recordUpdated(existing, fields, context.now),
  ]);
}

/** A: also removes the endpoint from the restrictions of the organization's projects. */
function decideDeleteVpcEndpoint(
  world: World,
  command: DeleteVpcEndpoint,
  { now }: Context,
): Result<Event[]> {
  const { organizationId, regionId, vpcEndpointId } = command;
  const owner = findOrganization(world, organizationId);
  if (!owner.ok) return owner;
  const existing = findVpcEndpoint(world, organizationId, regionId, vpcEndpointId);
  if (!existing.ok) return existing;
  const elsewhere = vpcEndpointsOf(world, organizationId).some(
    ({ id, fields }) => id !== existing.value.id && fields.vpcEndpointId === vpcEndpointId,
  );
  const restrictions = elsewhere ? [] : restrictionsIn(world, owner.value, vpcEndpointId);
  return accept([
    recordUpdated(existing.value, { ...existing.value.fields, removed: true }, now),
    ...restrictions.map((restriction) => recordDeleted(restriction, now)),
  ]);
}

/** The endpoints assigned to an organization, oldest first. */
export function vpcEndpointsOf(
  world: World,
  organizationId: string,
): SettingsRecordOf<"organizationVpcEndpoint">[] {
  return recordsOf(world, organizationId, "organizationVpcEndpoint").filter(
    ({ fields }) => fields.removed !== true,
  );
}

export function findVpcEndpoint(
  world: World,
  organizationId: string,
  regionId: string,
  vpcEndpointId: string,
): Result<SettingsRecordOf<"organizationVpcEndpoint">> {
  const region = findRegion(regionId);
  if (!region.ok) return region;
  const existing = vpcEndpointsOf(world, organizationId).find((record) =>
    isSameVpcEndpoint(record, regionId, vpcEndpointId),
  );
  return existing === undefined ? refuseVpcEndpointNotFound(vpcEndpointId) : accept(existing);
}

export function findRegion(regionId: string): Result<Region> {
  const region = regionWithId(regionId);
  return region === undefined ? refuse("REGION_NOT_FOUND", `region "${regionId}" not found`) : accept(region);
}

/** The projects of an organization that this endpoint restricts, oldest first. */
export function restrictedProjects(world: World, owner: Account, vpcEndpointId: string): Project[] {
  return projectsOf(world, owner.id)
    .toArray()
    .filter((project) => restrictionOf(world, project, vpcEndpointId) !== undefined);
}

/** Includes deleted projects, which can be recovered. */
function restrictionsIn(
  world: World,
  owner: Account,
  vpcEndpointId: string,
): SettingsRecordOf<"projectVpcEndpoint">[] {
  return [...world.records.values()]
    .filter((record) => isOfKind(record, "projectVpcEndpoint"))
    .filter(
      ({ scope, fields }) =>
        fields.vpcEndpointId === vpcEndpointId && world.projects.get(scope)?.accountId === owner.id,
    );
}

function restrictionOf(
  world: World,
  project: Project,
  vpcEndpointId: string,
): SettingsRecordOf<"projectVpcEndpoint"> | undefined {
  return recordsOf(world, project.id, "projectVpcEndpoint").find(
    ({ fields }) => fields.vpcEndpointId === vpcEndpointId,
  );
}

function isSameVpcEndpoint(
  { fields }: SettingsRecordOf<"organizationVpcEndpoint">,
  regionId: string,
  vpcEndpointId: string,
): boolean {
  return fields.regionId === regionId && fields.vpcEndpointId === vpcEndpointId;
}

function refuseVpcEndpointNotFound(vpcEndpointId: string): { readonly ok: false; readonly refusal: Refusal } {
  return refuse("VPC_ENDPOINT_NOT_FOUND", `VPC endpoint "${vpcEndpointId}" not found`);
}
