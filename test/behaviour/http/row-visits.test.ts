// A request must not read more rows because its world has more projects.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { CompactingMap } from "../../../src/kernel/compacting-map.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

/** Rows that may be read in addition, for values that differ between two worlds, such as the length of a queue. */
const TOLERANCE = 3;

type Scene = { readonly double: Double; readonly ids: Awaited<ReturnType<typeof createProject>> };
const scenes: Scene[] = [];

async function sceneOf(projects: number): Promise<Scene> {
  const double = await createDouble();
  for (let count = 0; count < projects; count += 1) {
    if ((await double.api("POST", "/projects", { project: {} })).status !== 201) throw new Error("project");
  }
  const ids = await createProject(double);
  await double.advance("10m");
  return { double, ids };
}

let visits = 0;
beforeAll(async () => {
  scenes.push(await sceneOf(20), await sceneOf(600));
  // The first request reads the lanes from history, and the later ones what was added.
  for (const { double } of scenes) await double.sim("GET", "/timeline");
  const { get, values, entries } = CompactingMap.prototype;
  vi.spyOn(CompactingMap.prototype, "get").mockImplementation(function (this: CompactingMap<unknown>, key) {
    visits += 1;
    return get.call(this, key);
  });
  for (const [name, original] of Object.entries({ values, entries })) {
    vi.spyOn(CompactingMap.prototype, name as "values").mockImplementation(function* (
      this: CompactingMap<unknown>,
    ) {
      for (const row of original.call(this)) {
        visits += 1;
        yield row;
      }
    } as never);
  }
});
afterAll(async () => {
  vi.restoreAllMocks();
  for (const { double } of scenes) await double.close();
});

type Call = (scene: Scene) => Promise<{ readonly status: number }>;
const api =
  (method: string, path: (ids: Scene["ids"]) => string, body?: unknown): Call =>
  ({ double, ids }) =>
    double.api(method, path(ids), body);
const sim =
  (method: string, path: (ids: Scene["ids"]) => string, body?: (ids: Scene["ids"]) => unknown): Call =>
  ({ double, ids }) =>
    double.sim(method, path(ids), body?.(ids));

const CALLS: Readonly<Record<string, Call>> = {
  "GET /projects": api("GET", () => "/projects?limit=10"),
  "GET /projects/{id}": api("GET", ({ projectId }) => `/projects/${projectId}`),
  "POST /projects": api("POST", () => "/projects", { project: {} }),
  "PATCH /projects/{id}": api("PATCH", ({ projectId }) => `/projects/${projectId}`, {
    project: { name: "n" },
  }),
  "GET branches": api("GET", ({ projectId }) => `/projects/${projectId}/branches`),
  "POST branches": api("POST", ({ projectId }) => `/projects/${projectId}/branches`, {
    endpoints: [{ type: "read_write" }],
  }),
  "GET endpoints": api("GET", ({ projectId }) => `/projects/${projectId}/endpoints`),
  "GET endpoint": api("GET", ({ path }) => path),
  "GET operations": api("GET", ({ projectId }) => `/projects/${projectId}/operations?limit=10`),
  "GET connection_uri": api(
    "GET",
    ({ projectId }) => `/projects/${projectId}/connection_uri?database_name=neondb&role_name=neondb_owner`,
  ),
  "GET roles": api("GET", ({ projectId, branchId }) => `/projects/${projectId}/branches/${branchId}/roles`),
  "GET databases": api(
    "GET",
    ({ projectId, branchId }) => `/projects/${projectId}/branches/${branchId}/databases`,
  ),
  "GET /users/me": api("GET", () => "/users/me"),
  "GET /users/me/organizations": api("GET", () => "/users/me/organizations"),
  "GET /api_keys": api("GET", () => "/api_keys"),
  "POST /api_keys": api("POST", () => "/api_keys", { key_name: "k" }),
  "GET /regions": api("GET", () => "/regions"),
  "GET consumption of projects, newest first": api(
    "GET",
    ({ created }) =>
      `/consumption_history/v2/projects?limit=10&granularity=daily&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&metrics=compute_unit_seconds&org_id=${created.project.org_id}`,
  ),
  "GET consumption of projects": api(
    "GET",
    () =>
      "/consumption_history/projects?limit=10&granularity=daily&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z",
  ),
  "GET clock": sim("GET", () => "/clock"),
  "GET metrics": sim("GET", () => "/metrics"),
  "GET faults": sim("GET", () => "/faults"),
  "GET events": sim("GET", () => "/events?limit=10"),
  "GET explain": sim("GET", ({ endpointId }) => `/explain/endpoints/${endpointId}`),
  "POST activity": sim(
    "POST",
    () => "/activity",
    ({ endpointId }) => ({ endpoint_id: endpointId, kind: "query" }),
  ),
  "POST clock/advance, nothing due": sim(
    "POST",
    () => "/clock/advance",
    () => ({ by: "1ms" }),
  ),
  "GET stats": sim("GET", ({ endpointId }) => `/endpoints/${endpointId}/stats`),
  "GET worlds": sim("GET", () => "/worlds"),
  "GET recoverable projects": api("GET", () => "/projects?recoverable=true"),
  "GET state of a project": sim("GET", ({ projectId }) => `/state?project_id=${projectId}`),
  "GET timeline": sim("GET", ({ endpointId }) => `/timeline?endpoint_id=${endpointId}`),
};

test.for(Object.entries(CALLS))(
  "%s reads as many rows in a large world as in a small one",
  async ([, call]) => {
    const counts: number[] = [];
    for (const scene of scenes) {
      visits = 0;
      const { status } = await call(scene);
      expect(status).toBeLessThan(300);
      counts.push(visits);
    }
    const [small = 0, large] = counts;
    expect(large).toBeLessThanOrEqual(small + TOLERANCE);
  },
);
