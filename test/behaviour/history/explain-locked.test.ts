import { expect, test } from "vitest";
import type { EndpointPath } from "../../support/double/compute.ts";
import { createBranch, recordActivity } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";
import { explain, explanationAbout, explanationLines } from "../../support/double/explanation.ts";

const at = (time: string) => `2026-01-01T${time}Z`;
const ACCEPTED = "changes: changes are accepted: its project has no unfinished operations []";

test("a waiting operation names what it waits for, not what merely runs at the same time", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { body } = await double.api("POST", `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }, { type: "read_only" }],
  });
  const [primary, replica] = body.endpoints.map(({ id }) => id);
  for (const id of [primary, replica]) {
    expect(await explanationAbout(double, "pending", id)).toBe(
      `pending: start_compute of ${id} waits for create_branch of ${body.branch.id} [OperationScheduled]`,
    );
  }
});

test.each([
  ["narrow", "changes are accepted: none of the unfinished operations of its project locks it:"],
  ["project", `changes to its project are rejected with 423 until ${at("00:00:21.000")}:`],
] as const)(
  "with locks %s, the explanation says whether another compute locks this one",
  async (locks, text) => {
    const double = await createDouble({ locks });
    const { endpointId, projectId } = await createProject(double);
    const { endpointIds, paths } = await createBranch(double, projectId, [{ type: "read_write" }]);
    await double.api("POST", `${paths[0]}/suspend`);
    expect(await explanationAbout(double, "pending", endpointId)).toBe("");
    expect(await explanationAbout(double, "changes", endpointId)).toBe(
      `changes: ${text} suspend_compute of ${endpointIds[0]} (running) [OperationScheduled]`,
    );
  },
);

type Locked = {
  readonly double: Double;
  readonly projectId: string;
  readonly branchId: string;
  readonly path: EndpointPath;
  readonly endpointId: string;
};
const LOCKS: Readonly<Record<string, (scene: Locked) => Promise<unknown>>> = {
  "a restart": ({ double, path }) => double.api("POST", `${path}/restart`),
  "a suspend": ({ double, path }) => double.api("POST", `${path}/suspend`),
  "an update of its name": ({ double, path }) => double.api("PATCH", path, { endpoint: { name: "renamed" } }),
  "an update that restarts it": ({ double, path }) =>
    double.api("PATCH", path, { endpoint: { autoscaling_limit_max_cu: 2 } }),
  "a new role": ({ double, projectId, branchId }) =>
    double.api("POST", `/projects/${projectId}/branches/${branchId}/roles`, { role: { name: "app" } }),
  "a restore of its branch": async ({ double, projectId, branchId }) => {
    await double.advance("1h");
    return double.api("POST", `/projects/${projectId}/branches/${branchId}/restore`, {
      source_branch_id: branchId,
      source_timestamp: at("00:30:00"),
      preserve_under_name: "before",
    });
  },
};

test.each(Object.keys(LOCKS))(
  "until %s ends, a start or suspend is rejected with 423, exactly until the reported instant",
  async (name) => {
    const double = await createDouble();
    const project = await createProject(double);
    const response = (await LOCKS[name]?.({ double, ...project })) as { status?: number } | undefined;
    expect(response?.status ?? 200).toBeLessThan(300);
    const text = await explanationAbout(double, "changes", project.endpointId);
    const [, after, until] = /423 until (some time after )?(\S+Z):/.exec(text) ?? [];
    expect(until).toBeDefined();
    // The other call would change nothing.
    const change = async () => {
      const { current_state } = (await double.api("GET", project.path)).body.endpoint;
      const call = current_state === "idle" ? "start" : "suspend";
      return (await double.api("POST", `${project.path}/${call}`)).status;
    };
    await double.sim("POST", "/clock/advance", { to: new Date(Date.parse(until ?? "") - 1).toISOString() });
    expect(await change()).toBe(423);
    await double.sim("POST", "/clock/advance", { to: until });
    // The duration of a start that follows automatically is not drawn yet.
    expect(await change()).toBe(after === undefined ? 200 : 423);
  },
);

test("a start by a client can be explained at its instant", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.advance("10m");
  await recordActivity(double, endpointId, { source: "checkout" });
  await double.advance("1500ms");
  expect((await double.api("POST", `${path}/start`)).status).toBe(200);
  const then = (await double.sim("GET", "/clock")).body.now;
  const before = await explanationLines(double, endpointId);
  await double.advance("30d");
  const lines = await explanationLines(double, endpointId, then);
  expect(lines).toEqual(before);
  expect(lines.at(-1)).toBe(
    `changes: a start of it changes nothing, a suspend is rejected with 423, and updates and restarts wait until ${at("00:10:13.000")}: start_compute of ${endpointId} (running) [OperationScheduled]`,
  );
  expect((await explain(double, endpointId, then)).body.at).toBe(then);
  expect((await explanationLines(double, endpointId)).at(-1)).toBe(ACCEPTED);
});

test("at every point of history a compute is reported in its state at that time", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double);
  await double.advance("10m");
  await recordActivity(double, endpointId);
  await double.advance("10m");
  for (const [time, state] of [
    ["00:00:00", "init"],
    ["00:00:03.999", "init"],
    ["00:00:04", "active"],
    ["00:05:03.999", "active"],
    ["00:05:04", "idle"],
    ["00:10:12.999", "idle"],
    ["00:10:13", "active"],
    ["00:15:13", "idle"],
  ] as const) {
    const { body } = await explain(double, endpointId, at(time));
    expect([time, body.state]).toEqual([time, state]);
  }
});

test("after the suspend timeout is shortened, the remaining time is 0, never negative", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  await double.advance("4m");
  await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 60 } });
  const { events } = (await double.sim("GET", "/events")).body;
  const { seq } = events.find(({ type }) => type === "ComputeUpdated");
  expect(await explanationAbout(double, "suspend", endpointId, seq)).not.toMatch(/in -/);
});

test("a compute can be explained only between its creation and its deletion", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const { seq } = (await double.sim("GET", "/state")).body;
  await double.api("DELETE", path);
  for (const [id, point] of [
    [endpointId, undefined],
    [endpointId, 1],
    ["ep-nobody-knows-12345678", undefined],
    ["nonsense", undefined],
  ] as const) {
    const { status, body } =
      point === undefined
        ? await double.sim("GET", `/explain/endpoints/${id}`)
        : await explain(double, id, point);
    expect([status, body.code, body.message]).toEqual([
      404,
      "ENDPOINT_NOT_FOUND",
      `endpoint "${id}" not found`,
    ]);
  }
  expect((await explain(double, endpointId, seq)).body.state).toBe("active");
});

test.each([
  ["2027-01-01T00:00:00Z", 422, "POINT_NOT_REACHED", /history ends at event 13/],
  ["14", 422, "POINT_NOT_REACHED", /history ends at event 13/],
  [
    "yesterday",
    400,
    "BAD_REQUEST",
    /^at: must be an ISO 8601 instant like 2026-01-31T12:00:00Z, or the sequence number of an event/,
  ],
  ["-1", 400, "BAD_REQUEST", /^at: must be/],
  ["", 400, "BAD_REQUEST", /^at: must be/],
] as const)("at %j the explanation is rejected with a reason", async (point, status, code, message) => {
  const double = await createDouble();
  const { endpointId, created } = await createProject(double);
  for (const id of [endpointId, created.operations[0].id]) {
    const response = await explain(double, id, point);
    expect([response.status, response.body.code]).toEqual([status, code]);
    expect(response.body.message).toMatch(message);
  }
});
