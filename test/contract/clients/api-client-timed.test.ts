import { EndpointType, type Operation } from "@neondatabase/api-client";
import { expect, test } from "vitest";
import { errorOf } from "../../support/document/public-client.ts";
import { startServedClient } from "../../support/server/served-client.ts";

// The public client against `standin serve` with timed operations on a manual clock.

const { client, sim } = await startServedClient();

const advance = (target: { by: string } | { next: true }) => sim("POST", "/clock/advance", target);
const reported = (operations: readonly Operation[]) =>
  operations.map(({ action, status }) => `${action} ${status}`);

/** A project on a paid plan, after its operations have finished. */
async function createSettled() {
  const { data } = await client.createProject({ project: { name: "shop" } });
  await advance({ by: "4s" });
  return { projectId: data.project.id, branchId: data.branch.id, endpointId: data.endpoints[0]?.id ?? "" };
}

async function endpointOf(projectId: string, endpointId: string) {
  return (await client.getProjectEndpoint(projectId, endpointId)).data.endpoint;
}

test("after a creation, polling shows the operations run in order and the compute become active", async () => {
  const { data } = await client.createProject({ project: {} });
  const projectId = data.project.id;
  const endpointId = data.endpoints[0]?.id ?? "";
  const poll = async () => reported((await client.listProjectOperations({ projectId })).data.operations);
  expect(reported(data.operations)).toEqual(["create_timeline running", "start_compute scheduling"]);
  expect(await endpointOf(projectId, endpointId)).toMatchObject({
    current_state: "init",
    pending_state: "active",
  });
  await advance({ next: true });
  expect(await poll()).toEqual(["start_compute running", "create_timeline finished"]);
  await advance({ next: true });
  expect(await poll()).toEqual(["start_compute finished", "create_timeline finished"]);
  const endpoint = await endpointOf(projectId, endpointId);
  expect(endpoint.current_state).toBe("active");
  expect(endpoint).not.toHaveProperty("pending_state");
  expect(endpoint).not.toHaveProperty("last_active");
});

test("a client that got 423 succeeds once the clock has advanced", async () => {
  const { data } = await client.createProject({ project: {} });
  const projectId = data.project.id;
  const create = () =>
    client.createProjectBranch(projectId, { endpoints: [{ type: EndpointType.ReadWrite }] });
  let refusals = 0;
  let created: Awaited<ReturnType<typeof create>> | undefined;
  while (created === undefined && refusals < 10) {
    created = await create().catch((error) => {
      expect(error.response.status).toBe(423);
      expect(error.response.data.message).toMatch(/^project already has running conflicting operations/);
      expect(error.response.headers["x-standin-hint"]).toBe('advance {"next":true}');
      return undefined;
    });
    if (created !== undefined) break;
    refusals += 1;
    await advance({ next: true });
  }
  // create_timeline locks the parent; start_compute locks its compute only.
  expect(refusals).toBe(1);
  expect(reported(created?.data.operations ?? [])).toEqual([
    "create_branch running",
    "start_compute scheduling",
  ]);
});

test("a compute suspends exactly five minutes after it became active, and a query starts it", async () => {
  const { projectId, endpointId } = await createSettled();
  await advance({ by: "299999ms" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("active");
  await advance({ by: "1ms" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("idle");
  const { activities } = await sim("POST", "/activity", { endpoint_id: endpointId });
  expect(activities[0]).toMatchObject({ outcome: "waits", woke: true, waited_ms: 3000 });
  const { operations } = (await client.listProjectOperations({ projectId, limit: 2 })).data;
  expect(reported(operations)).toEqual(["start_compute running", "suspend_compute finished"]);
  await advance({ by: "3s" });
  const woken = await endpointOf(projectId, endpointId);
  expect(woken.current_state).toBe("active");
  expect(Date.parse(woken.last_active ?? "")).toBeGreaterThan(Date.parse(woken.suspended_at ?? ""));
});

test("an update restarts an active compute, and its state stays the same meanwhile", async () => {
  const { projectId, endpointId } = await createSettled();
  const { data } = await client.updateProjectEndpoint(projectId, endpointId, {
    endpoint: { autoscaling_limit_max_cu: 2 },
  });
  expect(data.endpoint).toMatchObject({
    current_state: "active",
    pending_state: "idle",
    autoscaling_limit_max_cu: 2,
  });
  expect(reported(data.operations)).toEqual(["apply_config running", "suspend_compute scheduling"]);
  expect(await errorOf(client.suspendProjectEndpoint(projectId, endpointId))).toMatchObject({ status: 423 });
  await advance({ by: "2s" });
  expect(await endpointOf(projectId, endpointId)).toMatchObject({
    current_state: "idle",
    pending_state: "active",
  });
  await advance({ by: "3s" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("active");
});

test("a change of the delay applies at once without a restart", async () => {
  const { projectId, endpointId } = await createSettled();
  await advance({ by: "2m" });
  const { data } = await client.updateProjectEndpoint(projectId, endpointId, {
    endpoint: { suspend_timeout_seconds: 60 },
  });
  expect(data.operations.map(({ action }) => action)).toEqual(["apply_config"]);
  await advance({ by: "1s" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("idle");
});

test("suspend, start and restart take their operations, in order", async () => {
  const { projectId, endpointId } = await createSettled();
  const suspended = (await client.suspendProjectEndpoint(projectId, endpointId)).data;
  expect(suspended.endpoint).toMatchObject({ current_state: "active", pending_state: "idle" });
  expect(reported(suspended.operations)).toEqual(["suspend_compute running"]);
  await advance({ next: true });
  const started = (await client.startProjectEndpoint(projectId, endpointId)).data;
  expect(started.endpoint).toMatchObject({ current_state: "idle", pending_state: "active" });
  expect(reported(started.operations)).toEqual(["start_compute running"]);
  await advance({ by: "3s" });
  const restarted = (await client.restartProjectEndpoint(projectId, endpointId)).data;
  expect(restarted.endpoint).toMatchObject({ current_state: "active", pending_state: "active" });
  expect(reported(restarted.operations)).toEqual(["suspend_compute running", "start_compute scheduling"]);
  await advance({ by: "1s" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("idle");
  await advance({ by: "3s" });
  expect((await endpointOf(projectId, endpointId)).current_state).toBe("active");
});

test("a deleted resource is gone at once, although its operations still run", async () => {
  const { projectId, branchId } = await createSettled();
  const { data: created } = await client.createProjectBranch(projectId, { branch: { parent_id: branchId } });
  await advance({ by: "1s" });
  const { data } = await client.deleteProjectBranch({ projectId, branchId: created.branch.id });
  expect(reported(data.operations)).toEqual(["delete_timeline running"]);
  expect(await errorOf(client.getProjectBranch(projectId, created.branch.id))).toMatchObject({ status: 404 });
  await client.deleteProject(projectId);
  expect(await errorOf(client.getProject(projectId))).toMatchObject({ status: 404 });
  expect((await client.listProjects({ search: projectId })).data.projects).toEqual([]);
});
