import { afterAll, beforeAll, expect, test } from "vitest";
import { sortInSlices } from "../../../src/control-api/http/sort-in-slices.ts";
import { renderState } from "../../../src/control-api/routes/state.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

let double: Double;
let first: Awaited<ReturnType<typeof createProject>>;
const PROJECTS = 90;

beforeAll(async () => {
  double = await createDouble();
  first = await createProject(double);
  for (let number = 2; number <= PROJECTS; number += 1)
    expect((await double.api("POST", "/projects", { project: { name: `project-${number}` } })).status).toBe(
      201,
    );
  await double.advance("10m");
});
afterAll(() => double.close());

test("the state of a large world is the same text in pieces as in one", async () => {
  const response = await double.fetch(new Request("http://localhost/_sim/state"));
  const whole = await double.world.transact(({ world }) => renderState(world));
  expect(response.headers.get("content-length")).toBeNull();
  expect(await response.text()).toBe(JSON.stringify(whole));
});

test("changes between two pieces are not in the answer", async () => {
  const before = JSON.stringify(await double.world.transact(({ world }) => renderState(world)));
  const response = await double.fetch(new Request("http://localhost/_sim/state"));
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader.read()).value, { stream: true });
  const { body: listed } = await double.api("GET", "/projects");
  const other = listed.projects.find(({ id }) => id !== first.projectId);
  expect((await double.api("DELETE", `/projects/${other.id}`)).status).toBe(200);
  await double.api("PATCH", `/projects/${first.projectId}`, { project: { name: "changed" } });
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += decoder.decode(part.value, { stream: true });
  expect(text).toBe(before);
  await double.advance("1m");
});

test("fields and project_id select a part of the state", async () => {
  const { body } = await double.sim(
    "GET",
    `/state?fields=projects,branches,endpoints,usage&project_id=${first.projectId}`,
  );
  expect(Object.keys(body)).toEqual(["seq", "at", "projects", "branches", "endpoints", "usage"]);
  expect(body.projects.map(({ id }) => id)).toEqual([first.projectId]);
  expect(body.branches.map(({ project_id }) => project_id)).toEqual([first.projectId]);
  expect(body.endpoints.map(({ id }) => id)).toEqual([first.endpointId]);
  const { body: whole } = await double.sim("GET", "/state");
  expect(whole.usage.length).toBeGreaterThan(body.usage.length);
  expect(body.usage.map(({ id }) => id)).toContain(first.projectId);
  expect((await double.sim("GET", "/state?project_id=none&fields=projects,accounts")).body).toMatchObject({
    projects: [],
    accounts: whole.accounts,
  });
});

test("project_id selects the rows of a project, of its branches and of its computes", async () => {
  const second = await createProject(double);
  for (const { projectId } of [first, second])
    await double.api("POST", `/projects/${projectId}/branches`, { endpoints: [{ type: "read_write" }] });
  // Use of an hour or day is a row once a later one has use.
  for (let day = 0; day < 2; day += 1) {
    await double.sim("POST", "/activity", { endpoint_id: first.endpointId });
    await double.advance("1d");
  }
  const now = Date.parse((await double.sim("GET", "/clock")).body.now);
  const at = new Date(now + 86_400_000).toISOString();
  await double.sim("POST", "/activity", { endpoint_id: first.endpointId, at });
  const connect = { endpoint_id: first.endpointId, kind: "connect", connection_id: "c" };
  await double.sim("POST", "/activity", connect);
  const { body: whole } = await double.sim("GET", "/state");
  // Given newest first and twice: rows are still in order of creation, each once.
  const ids = [second.projectId, first.projectId, second.projectId];
  const { body } = await double.sim("GET", `/state?project_id=${ids.join(",")}`);
  const inside = [...ids, ...[...body.branches, ...body.endpoints].map(({ id }) => id)];
  const owned = (owner: string) => inside.includes(owner.replace(/#(day|month)$/, ""));
  const expected: Record<string, unknown> = {
    projects: whole.projects.filter(({ id }) => owned(id)),
    branches: whole.branches.filter(({ project_id }) => owned(project_id)),
    endpoints: whole.endpoints.filter(({ project_id }) => owned(project_id)),
    connections: whole.connections.filter(({ endpoint_id }) => owned(endpoint_id)),
    scheduled_activities: whole.scheduled_activities.filter(({ activity }) => owned(activity.endpoint_id)),
    usage: whole.usage.filter(({ id }) => owned(id)),
    hourly_usage: whole.hourly_usage.filter(({ of }) => owned(of)),
  };
  expect(body).toMatchObject(expected);
  for (const [name, rows] of Object.entries(body)) if (name in expected) expect(rows, name).not.toEqual([]);
  expect(body.hourly_usage.some(({ of }) => of.endsWith("#day"))).toBe(true);
});

test("an unknown field, and too many projects, are refused", async () => {
  expect((await double.sim("GET", "/state?fields=projets")).body.message).toContain(
    'there is no field "projets"; did you mean "projects"?',
  );
  const ids = Array.from({ length: 1_001 }, (_, index) => `p-${index}`).join(",");
  expect((await double.sim("GET", `/state?project_id=${ids}`)).body.message).toContain("at most 1000 ids");
});

test("endpoint_id selects computes", async () => {
  const { body } = await double.sim("GET", `/endpoints?endpoint_id=${first.endpointId},ep-none-at-all`);
  expect(body.endpoints.map(({ endpoint_id }) => endpoint_id)).toEqual([first.endpointId]);
  const { body: all } = await double.sim("GET", "/endpoints");
  expect(all.endpoints.length).toBeGreaterThan(50);
});

test("a sort in slices is a stable sort", () => {
  const rows = Array.from({ length: 9_001 }, (_, index) => ({ key: (index * 7_919) % 101, index }));
  const order = (one: { key: number }, other: { key: number }) => one.key - other.key;
  const sorting = sortInSlices(rows, order);
  let slices = 0;
  let next = sorting.next();
  for (; next.done !== true; next = sorting.next()) slices += 1;
  expect(next.value).toEqual([...rows].sort(order));
  expect(slices).toBeGreaterThan(5);
});
