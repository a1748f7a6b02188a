import { ConsumptionHistoryGranularity, MemberRole } from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve`: organizations, and settings records of projects.

const { advance, client, clientWith, sim } = await startServedClient(["--operations", "immediate"]);
const made = await sim("POST", "/accounts", { name: "other", email: "other@standin.example" });
const other = clientWith(made.api_key.key);
const organizationId = (await client.getCurrentUserOrganizations()).data.organizations[0]?.id ?? "";
const otherOrganizationId = (await other.getCurrentUserOrganizations()).data.organizations[0]?.id ?? "";

async function createProject(name: string): Promise<{ id: string; branchId: string }> {
  const { data } = await client.createProject({ project: { name } });
  return { id: data.project.id, branchId: data.branch.id };
}

test("the account of an organization is its first member and admin", async () => {
  const { members } = (await client.getOrganizationMembers({ orgId: organizationId })).data;
  expect(members).toMatchObject([{ member: { role: "admin", org_id: organizationId } }]);
  const id = members[0]?.member.id ?? "";
  expect((await client.getOrganizationMember(organizationId, id)).data).toEqual(members[0]?.member);
  expect(
    (await errorOf(client.updateOrganizationMember(organizationId, id, { role: MemberRole.Member }))).status,
  ).toBe(422);
  expect((await errorOf(client.removeOrganizationMember(organizationId, id))).status).toBe(422);
  expect((await errorOf(other.getOrganizationMembers({ orgId: organizationId }))).status).toBe(404);
});

test("an invited account joins at once; a person without one joins after creating it and accepting", async () => {
  await client.createOrganizationInvitations(organizationId, {
    invitations: [{ email: "other@standin.example", role: MemberRole.Member }],
  });
  const { organizations } = (await other.getCurrentUserOrganizations()).data;
  expect(organizations.map(({ id }) => id).sort()).toEqual([organizationId, otherOrganizationId].sort());
  const { members } = (await client.getOrganizationMembers({ orgId: organizationId })).data;
  const member = members.find(({ user }) => user.email === "other@standin.example")?.member;
  const changed = await client.updateOrganizationMember(organizationId, member?.id ?? "", {
    role: MemberRole.Viewer,
  });
  expect(changed.data.role).toBe("viewer");
  await client.removeOrganizationMember(organizationId, member?.id ?? "");
  expect((await errorOf(other.getOrganization(organizationId))).status).toBe(404);

  const later = { email: "later@standin.example", role: MemberRole.Member };
  const [invitation] = (await client.createOrganizationInvitations(organizationId, { invitations: [later] }))
    .data.invitations;
  const listed = (await client.getOrganizationInvitations(organizationId)).data.invitations;
  expect(listed.filter(({ email }) => email === later.email)).toEqual([invitation]);
  const made = await sim("POST", "/accounts", { name: "later", email: later.email });
  await sim("POST", `/organizations/${organizationId}/invitations/${invitation?.id}/accept`);
  const joined = clientWith(made.api_key.key);
  expect((await joined.getOrganization(organizationId)).data.id).toBe(organizationId);
});

test("an organization's keys act for the organization or for one of its projects", async () => {
  const project = await createProject("scoped");
  const elsewhere = await createProject("elsewhere");
  const whole = (await client.createOrgApiKey(organizationId, { key_name: "whole" })).data;
  const scoped = (
    await client.createOrgApiKey(organizationId, { key_name: "scoped", project_id: project.id })
  ).data;
  expect((await client.listOrgApiKeys(organizationId)).data.map(({ name }) => name).sort()).toEqual([
    "scoped",
    "whole",
  ]);
  const ofWhole = clientWith(whole.key);
  const ofProject = clientWith(scoped.key);
  expect((await ofWhole.getAuthDetails()).data.auth_method).toBe("api_key_org");
  expect((await ofWhole.getProject(elsewhere.id)).data.project.name).toBe("elsewhere");
  expect((await ofProject.getProject(project.id)).data.project.name).toBe("scoped");
  expect((await errorOf(ofProject.getProject(elsewhere.id))).status).toBe(404);
  expect((await errorOf(ofProject.deleteProject(project.id))).status).toBe(403);
  expect((await client.revokeOrgApiKey(organizationId, whole.id)).data).toMatchObject({ revoked: true });
  expect((await errorOf(ofWhole.getAuthDetails())).status).toBe(401);
  expect((await errorOf(client.revokeOrgApiKey(organizationId, whole.id))).status).toBe(404);
});

test("a spending limit can be set, read and removed", async () => {
  expect((await client.getOrganizationSpendingLimit(organizationId)).data.spending_limit_cents).toBeNull();
  expect(
    (await client.setOrganizationSpendingLimit(organizationId, { spending_limit_cents: 500 })).data
      .spending_limit_cents,
  ).toBe(500);
  await client.deleteOrganizationSpendingLimit(organizationId);
  expect((await client.getOrganizationSpendingLimit(organizationId)).data.spending_limit_cents).toBeNull();
  expect(
    (await errorOf(client.setOrganizationSpendingLimit(organizationId, { spending_limit_cents: 0 }))).status,
  ).toBe(400);
});

test("a permission shares a project until it is revoked", async () => {
  const project = await createProject("shared");
  expect((await errorOf(other.getProject(project.id))).status).toBe(404);
  const { id } = (await client.grantPermissionToProject(project.id, { email: "other@standin.example" })).data;
  expect(
    (await client.listProjectPermissions(project.id)).data.project_permissions.map(
      (permission) => permission.id,
    ),
  ).toEqual([id]);
  expect((await other.listSharedProjects({})).data.projects.map((shared) => shared.id)).toEqual([project.id]);
  expect((await other.getProject(project.id)).status).toBe(200);
  await client.revokePermissionFromProject(project.id, id);
  expect((await errorOf(other.getProject(project.id))).status).toBe(404);
});

test("key sets and preload libraries of a project are stored and listed", async () => {
  const project = await createProject("jwks");
  const { jwks } = (
    await client.addProjectJwks(project.id, {
      jwks_url: "https://keys.example/jwks.json",
      provider_name: "keys",
    })
  ).data;
  expect((await client.getProjectJwks(project.id)).data.jwks).toEqual([jwks]);
  expect((await client.deleteProjectJwks(project.id, jwks.id)).data.id).toBe(jwks.id);
  expect((await client.getProjectJwks(project.id)).data.jwks).toEqual([]);
  expect((await errorOf(client.deleteProjectJwks(project.id, jwks.id))).status).toBe(404);
  expect((await client.getAvailablePreloadLibraries(project.id)).data.libraries?.length).toBeGreaterThan(0);
});

test("VPC endpoints belong to the organization, and projects are restricted to them", async () => {
  const project = await createProject("vpc");
  const region = "aws-us-east-2";
  await client.assignOrganizationVpcEndpoint(organizationId, region, "vpce-1234567890abcdef0", {
    label: "office",
  });
  expect((await client.listOrganizationVpcEndpoints(organizationId, region)).data.endpoints).toMatchObject([
    { label: "office" },
  ]);
  expect((await client.listOrganizationVpcEndpointsAllRegions(organizationId)).data.endpoints).toMatchObject([
    { region_id: region },
  ]);
  await client.assignProjectVpcEndpoint(project.id, "vpce-1234567890abcdef0", { label: "only from there" });
  expect((await client.listProjectVpcEndpoints(project.id)).data.endpoints).toMatchObject([
    { label: "only from there" },
  ]);
  const details = (
    await client.getOrganizationVpcEndpointDetails(organizationId, region, "vpce-1234567890abcdef0")
  ).data;
  expect(details).toMatchObject({ num_restricted_projects: 1, example_restricted_projects: [project.id] });
  await client.deleteProjectVpcEndpoint(project.id, "vpce-1234567890abcdef0");
  await client.deleteOrganizationVpcEndpoint(organizationId, region, "vpce-1234567890abcdef0");
  expect((await client.listOrganizationVpcEndpointsAllRegions(organizationId)).data.endpoints).toEqual([]);
});

test("a project can be transferred to an account that accepts it, and between organizations of an admin", async () => {
  const project = await createProject("handed over");
  const request = (await client.createProjectTransferRequest(project.id, { ttl_seconds: 3_600 })).data;
  expect((await errorOf(other.getProject(project.id))).status).toBe(404);
  await other.acceptProjectTransferRequest(project.id, request.id, { org_id: otherOrganizationId });
  expect((await other.getProject(project.id)).data.project.org_id).toBe(otherOrganizationId);
  expect((await errorOf(client.getProject(project.id))).status).toBe(404);
  expect((await errorOf(other.acceptProjectTransferRequest(project.id, request.id, {}))).status).toBe(404);

  const move = { destination_org_id: organizationId, project_ids: [project.id] };
  expect((await errorOf(other.transferProjectsFromOrgToOrg(otherOrganizationId, move))).status).toBe(404);
  const invitations = [{ email: "other@standin.example", role: MemberRole.Admin }];
  await client.createOrganizationInvitations(organizationId, { invitations });
  await other.transferProjectsFromOrgToOrg(otherOrganizationId, move);
  expect((await client.getProject(project.id)).data.project.org_id).toBe(organizationId);
  const back = { destination_org_id: otherOrganizationId, project_ids: [project.id] };
  // A project of another organization is not an own project, even for an admin of that organization.
  expect((await errorOf(other.transferProjectsFromUserToOrg(back))).status).toBe(404);
  expect((await client.transferProjectsFromUserToOrg(back).catch(({ response }) => response)).status).toBe(
    404,
  );
});

test("consumption adds up to what the project used", async () => {
  const project = await createProject("consuming");
  await advance("3h");
  const used = (await client.getProject(project.id)).data.project;
  expect(used.active_time_seconds).toBe(300);
  const range = { from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", project_ids: [project.id] };
  const hourly = (
    await client.getConsumptionHistoryPerProject({
      ...range,
      granularity: ConsumptionHistoryGranularity.Hourly,
    })
  ).data;
  const sum = hourly.projects
    .flatMap(({ periods }) => periods.flatMap(({ consumption }) => consumption))
    .reduce((total, frame) => total + frame.active_time_seconds, 0);
  expect(sum).toBe(300);
  const daily = {
    ...range,
    org_id: organizationId,
    granularity: ConsumptionHistoryGranularity.Daily,
    metrics: ["compute_unit_seconds"],
  };
  const valuesOf = (
    periods: readonly { readonly consumption: readonly { metrics?: readonly { value: number }[] }[] }[],
  ) =>
    periods.flatMap(({ consumption }) =>
      consumption.flatMap(({ metrics = [] }) => metrics.map(({ value }) => value)),
    );
  const { projects } = (await client.getConsumptionHistoryPerProjectV2(daily)).data;
  expect(projects.flatMap(({ periods }) => valuesOf(periods))).toEqual([75]);
  const { branches } = (await client.getConsumptionHistoryPerBranchV2(daily)).data;
  expect(branches).toMatchObject([{ project_id: project.id, branch_id: project.branchId }]);
  expect(branches.flatMap(({ periods }) => valuesOf(periods))).toEqual([75]);
});

test("a connection URI leads to the database through the branch's compute", async () => {
  const project = await createProject("connected");
  const { uri } = (
    await client.getConnectionUri({
      projectId: project.id,
      database_name: "neondb",
      role_name: "neondb_owner",
    })
  ).data;
  expect(new URL(uri)).toMatchObject({ username: "neondb_owner", pathname: "/neondb" });
  const wrong = { projectId: project.id, database_name: "neondb", role_name: "nobody" };
  expect((await errorOf(client.getConnectionUri(wrong))).status).toBe(404);
});
