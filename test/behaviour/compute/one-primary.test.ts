import { expect, test } from "vitest";
import { createBranch, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const create = (double: Double, projectId: string, branch_id: string, type: string, more = {}) =>
  double.api("POST", `/projects/${projectId}/endpoints`, { endpoint: { branch_id, type, ...more } });

async function primariesOf(double: Double, projectId: string, branchId: string): Promise<number> {
  const { endpoints } = (await double.api("GET", `/projects/${projectId}/endpoints`)).body;
  return endpoints.filter((endpoint) => endpoint.branch_id === branchId && endpoint.type === "read_write")
    .length;
}

test("a second primary on a branch gets 409, with the message that public clients look for, and changes nothing", async () => {
  const double = await createDouble();
  const { projectId, branchId } = await createProject(double);
  const before = await worldState(double);
  const { status, body } = await create(double, projectId, branchId, "read_write");
  expect([status, body.code, body.message]).toEqual([
    409,
    "READ_WRITE_ENDPOINT_EXISTS",
    "read_write endpoint already exists",
  ]);
  expect(await worldState(double)).toBe(before);
});

test("of many creations at the same time on one branch, exactly one succeeds", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => create(double, projectId, branchId, "read_write")),
  );
  const statuses = responses.map(({ status }) => status).sort();
  expect(statuses).toEqual([201, ...Array.from({ length: 99 }, () => 409)]);
  expect(await primariesOf(double, projectId, branchId)).toBe(1);
});

test("of many creations in an immediate world, exactly one succeeds as well", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => create(double, projectId, branchId, "read_write")),
  );
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(99);
});

test("of two computes that move to one branch at the same time, one arrives", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, path } = await createProject(double);
  const { paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
  const { branchId } = await createBranch(double, projectId);
  const responses = await Promise.all(
    [path, paths[0] ?? ""].map((from) => double.api("PATCH", from, { endpoint: { branch_id: branchId } })),
  );
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(await primariesOf(double, projectId, branchId)).toBe(1);
});

test("a creation and a move to one branch at the same time: one of them", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, path } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const responses = await Promise.all([
    create(double, projectId, branchId, "read_write"),
    double.api("PATCH", path, { endpoint: { branch_id: branchId } }),
  ]);
  expect(responses.filter(({ status }) => status < 300)).toHaveLength(1);
  expect(await primariesOf(double, projectId, branchId)).toBe(1);
});

test("a new branch takes one primary at most", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const before = await worldState(double);
  const two = { endpoints: [{ type: "read_write" }, { type: "read_only" }, { type: "read_write" }] };
  const { status, body } = await double.api("POST", `/projects/${projectId}/branches`, two);
  expect([status, body.message]).toEqual([409, "read_write endpoint already exists"]);
  expect(await worldState(double)).toBe(before);
});

test("a read replica is no obstacle to a primary, nor a primary to a read replica", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  for (const type of ["read_only", "read_write", "read_only"]) {
    expect((await create(double, projectId, branchId, type)).status).toBe(201);
  }
  expect((await create(double, projectId, branchId, "read_write")).status).toBe(409);
});

test("an idle primary and a disabled one are primaries all the same", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId, branchId, path } = await createProject(double);
  await double.advance("1h");
  expect((await create(double, projectId, branchId, "read_write")).status).toBe(409);
  await double.api("PATCH", path, { endpoint: { disabled: true } });
  expect((await create(double, projectId, branchId, "read_write")).status).toBe(409);
});

test("each branch has its own primary", async () => {
  const double = await createDouble({ operations: "immediate" });
  const { projectId } = await createProject(double);
  for (let round = 0; round < 5; round += 1) {
    const { branchId } = await createBranch(double, projectId);
    expect((await create(double, projectId, branchId, "read_write")).status).toBe(201);
  }
});

test("a project's default branch gets a primary when the project is created", async () => {
  const double = await createDouble();
  const { created, branchId } = await createProject(double);
  expect(created.endpoints).toHaveLength(1);
  expect(created.endpoints[0]).toMatchObject({
    branch_id: branchId,
    type: "read_write",
    current_state: "init",
    pending_state: "active",
  });
});
