import { EndpointType } from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve`: recovery, quotas and plan limits of projects.

const { advance, client, clientWith, sim } = await startServedClient();

async function createShop() {
  const { data } = await client.createProject({ project: { name: "shop" } });
  await advance("10s");
  return { projectId: data.project.id, branchId: data.branch.id, endpointId: data.endpoints[0]?.id ?? "" };
}

/** Recoverable projects, oldest first. */
const recoverable = async () =>
  (await client.listProjects({ recoverable: true, limit: 400 })).data.projects.map(({ id }) => id);

test("a deleted project can be recovered unchanged within a week, but not later", async () => {
  const { projectId, branchId, endpointId } = await createShop();
  const at = { projectId, database_name: "neondb", role_name: "neondb_owner" };
  const { uri } = (await client.getConnectionUri(at)).data;
  await client.deleteProject(projectId);
  await advance("6d");
  expect(await recoverable()).toContain(projectId);
  const { project, branches } = (await client.recoverProject(projectId)).data;
  expect([project.id, branches?.map(({ id }) => id)]).toEqual([projectId, [branchId]]);
  expect((await client.getConnectionUri(at)).data.uri).toBe(uri);
  expect((await client.getProjectEndpoint(projectId, endpointId)).data.endpoint.current_state).toBe("idle");
  expect(await errorOf(client.recoverProject(projectId))).toMatchObject({
    status: 404,
    code: "PROJECT_NOT_FOUND",
  });
  await client.deleteProject(projectId);
  await advance("7d");
  expect(await recoverable()).not.toContain(projectId);
  expect(await errorOf(client.recoverProject(projectId))).toMatchObject({
    status: 404,
    code: "PROJECT_NOT_FOUND",
  });
});

test("a project with a protected branch cannot be deleted", async () => {
  const { projectId, branchId } = await createShop();
  await client.updateProjectBranch(projectId, branchId, { branch: { protected: true } });
  expect(await errorOf(client.deleteProject(projectId))).toMatchObject({
    status: 422,
    code: "BRANCH_IS_PROTECTED",
  });
});

test("an exhausted quota suspends the computes and prevents starts until it is raised", async () => {
  const { projectId, endpointId } = await createShop();
  const limit = (active_time_seconds: number) =>
    client.updateProject(projectId, { project: { settings: { quota: { active_time_seconds } } } });
  const stateOf = async () =>
    (await client.getProjectEndpoint(projectId, endpointId)).data.endpoint.current_state;
  expect((await limit(60)).data.project.settings?.quota).toMatchObject({ active_time_seconds: 60 });
  expect(await stateOf()).toBe("active");
  await advance("60s");
  expect(await stateOf()).toBe("idle");
  expect((await client.getProject(projectId)).data.project.active_time_seconds).toBe(60);
  expect(await errorOf(client.startProjectEndpoint(projectId, endpointId))).toMatchObject({
    status: 422,
    code: "QUOTA_EXCEEDED",
    message: expect.stringContaining("active_time_seconds"),
  });
  await limit(0);
  await client.startProjectEndpoint(projectId, endpointId);
  await advance("10s");
  expect(await stateOf()).toBe("active");
});

test("new computes of a project have its default settings", async () => {
  const default_endpoint_settings = {
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 2,
    suspend_timeout_seconds: 120,
  };
  const { data } = await client.createProject({ project: { default_endpoint_settings } });
  expect(data.endpoints).toMatchObject([default_endpoint_settings]);
  const project = {
    default_endpoint_settings: { ...default_endpoint_settings, autoscaling_limit_max_cu: 11 },
  };
  expect(await errorOf(client.updateProject(data.project.id, { project }))).toMatchObject({
    status: 422,
    code: "COMPUTE_SIZE_NOT_ALLOWED",
    message: expect.stringContaining("autoscaling_limit_max_cu"),
  });
});

test("a plan limits projects, branches, snapshots and replicas", async () => {
  const made = await sim("POST", "/accounts", { name: "frugal", plan: "free" });
  const frugal = clientWith(made.api_key.key);
  const { data } = await frugal.createProject({ project: {} });
  const projectId = data.project.id;
  await advance("10s");
  const { branches_limit, projects_limit } = (await frugal.getCurrentUserInfo()).data;
  for (let count = 1; count < branches_limit; count += 1) {
    await frugal.createProjectBranch(projectId, {});
    await advance("10s");
  }
  expect(await errorOf(frugal.createProjectBranch(projectId, {}))).toEqual({
    status: 422,
    code: "BRANCHES_LIMIT_EXCEEDED",
    message: `branches limit exceeded: the free plan allows ${branches_limit} branches in a project`,
  });
  await frugal.createSnapshot({ projectId, branchId: data.branch.id });
  const another = await errorOf(frugal.createSnapshot({ projectId, branchId: data.branch.id }));
  expect([another.status, another.code]).toEqual([422, "SNAPSHOTS_LIMIT_EXCEEDED"]);
  const replica = { branch_id: data.branch.id, type: EndpointType.ReadOnly };
  const refused = await errorOf(frugal.createProjectEndpoint(projectId, { endpoint: replica }));
  expect([refused.status, refused.code]).toEqual([422, "PLAN_LIMIT_EXCEEDED"]);
  for (let count = 1; count < projects_limit; count += 1) await frugal.createProject({ project: {} });
  expect(await errorOf(frugal.createProject({ project: {} }))).toEqual({
    status: 422,
    code: "PROJECTS_LIMIT_EXCEEDED",
    message: `user projects limit of ${projects_limit} exceeded, got ${projects_limit}: the free plan allows ${projects_limit} projects`,
  });
});
