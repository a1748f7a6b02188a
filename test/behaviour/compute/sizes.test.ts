import { expect, test } from "vitest";
import { PROFILES } from "../../../src/platform/catalog/defaults-and-limits.ts";
import { PLANS } from "../../../src/platform/catalog/plan.ts";
import { computeResources, maxConnections, resolveSizeRange } from "../../../src/platform/catalog/sizes.ts";
import { computeStats, createBranch, worldState } from "../../support/double/compute.ts";
import { createDouble, createProject } from "../../support/double/double.ts";

const profile = PROFILES["2024"];

/** The reference's table: size, vCPU, RAM, local file cache, max_connections. */
const TABLE = [
  [0.25, 0.25, 1, 0.8, 112],
  [0.5, 0.5, 2, 1.6, 225],
  [1, 1, 4, 3.2, 450],
  [2, 2, 8, 6.4, 901],
  [3, 3, 12, 9.6, 1351],
  [4, 4, 16, 12.8, 1802],
  [5, 5, 20, 16, 2253],
  [6, 6, 24, 19.2, 2703],
  [7, 7, 28, 22.4, 3154],
  [8, 8, 32, 25.6, 3604],
  [9, 9, 36, 28.8, 4000],
  [10, 10, 40, 32, 4000],
] as const;

test.each(TABLE)(
  "a compute of %d CU has %d vCPU, %d GB of RAM, %d GB of file cache, %d connections",
  async (cu, vcpu, ram, cache, connections) => {
    expect(computeResources(profile, cu)).toEqual({ vcpu, ramGb: ram, fileCacheGb: cache });
    expect(maxConnections(profile, { minCu: cu, maxCu: cu })).toBe(connections);
    const double = await createDouble();
    const { endpointId, created } = await createProject(double, {
      autoscaling_limit_min_cu: cu,
      autoscaling_limit_max_cu: cu,
    });
    expect(created.endpoints[0]).toMatchObject({
      autoscaling_limit_min_cu: cu,
      autoscaling_limit_max_cu: cu,
    });
    expect(await computeStats(double, endpointId)).toMatchObject({
      current_size_cu: cu,
      vcpu,
      ram_gb: ram,
      file_cache_size_gb: cache,
      shared_buffers_mb: 128,
      max_connections: connections,
    });
  },
);

test.each(TABLE)(
  "max_connections of %d CU is that of the minimum, whatever the maximum",
  (cu, _vcpu, _ram, _cache, connections) => {
    for (const [maxCu] of TABLE) {
      if (maxCu >= cu) expect(maxConnections(profile, { minCu: cu, maxCu })).toBe(connections);
    }
  },
);

test("the sizes are those of the table and no others", () => {
  expect(profile.sizes).toEqual({ autoscaled: TABLE.map(([cu]) => cu), fixedOnly: [] });
});

test.each([0, -1, 0.1, 0.3, 0.75, 1.5, 9.5, 11, 56, 1e9, -0.25])(
  "%d CU is not a size; the error lists the sizes",
  async (cu) => {
    const double = await createDouble();
    const { path } = await createProject(double);
    const before = await worldState(double);
    for (const field of ["autoscaling_limit_min_cu", "autoscaling_limit_max_cu"]) {
      const { status, body } = await double.api("PATCH", path, { endpoint: { [field]: cu } });
      expect([status, body.code]).toEqual([422, "COMPUTE_SIZE_NOT_ALLOWED"]);
      expect(body.message).toContain("0.25, 0.5 and whole numbers from 1 to 10");
    }
    expect(await worldState(double)).toBe(before);
  },
);

test.each([["1"], [null], [true], [[1]]])(
  "a size of %j is not a number and gets 400 with the field name",
  async (cu) => {
    const double = await createDouble();
    const { path } = await createProject(double);
    const { status, body } = await double.api("PATCH", path, { endpoint: { autoscaling_limit_min_cu: cu } });
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining("endpoint.autoscaling_limit_min_cu"),
    ]);
  },
);

const from = (minCu: number, maxCu: number) => ({ minCu, maxCu });

test.each([
  [{ minCu: 2, maxCu: 2 }, from(0.25, 0.25), from(2, 2)],
  [{ minCu: 1, maxCu: 8 }, from(0.25, 0.25), from(1, 8)],
  [{ minCu: 2 }, from(0.25, 0.25), from(2, 2)],
  [{ minCu: 2 }, from(0.25, 4), from(2, 4)],
  [{ maxCu: 4 }, from(0.25, 0.25), from(0.25, 4)],
  [{}, from(1, 2), from(1, 2)],
])("limits %j over %j resolve to %j", (input, base, expected) => {
  expect(resolveSizeRange(PLANS.paid, profile, input, base)).toEqual({ ok: true, value: expected });
});

test.each([
  [{ minCu: 4, maxCu: 2 }, from(0.25, 0.25)],
  [{ maxCu: 0.25 }, from(1, 2)],
  [{ minCu: 10, maxCu: 9 }, from(0.25, 0.25)],
])("a minimum above the maximum is rejected: %j over %j", (input, base) => {
  expect(resolveSizeRange(PLANS.paid, profile, input, base)).toMatchObject({
    ok: false,
    refusal: { code: "COMPUTE_SIZE_NOT_ALLOWED" },
  });
});

test("a range is fixed where minimum and maximum are equal", async () => {
  const double = await createDouble();
  const { endpointId, path } = await createProject(double);
  const { body } = await double.api("PATCH", path, {
    endpoint: { autoscaling_limit_min_cu: 3, autoscaling_limit_max_cu: 3 },
  });
  expect(body.endpoint).toMatchObject({ autoscaling_limit_min_cu: 3, autoscaling_limit_max_cu: 3 });
  await double.advance("10s");
  await double.sim("POST", "/activity", { endpoint_id: endpointId, load: 10 });
  expect((await computeStats(double, endpointId)).current_size_cu).toBe(3);
});

test("sizes are checked for computes of new projects and branches, for new computes and for defaults", async () => {
  const double = await createDouble();
  const { projectId } = await createProject(double);
  const { branchId } = await createBranch(double, projectId);
  const bad = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 12 };
  const responses = await Promise.all([
    double.api("POST", "/projects", { project: bad }),
    double.api("POST", "/projects", { project: { default_endpoint_settings: bad } }),
    double.api("PATCH", `/projects/${projectId}`, { project: { default_endpoint_settings: bad } }),
    double.api("POST", `/projects/${projectId}/branches`, { endpoints: [{ type: "read_write", ...bad }] }),
    double.api("POST", `/projects/${projectId}/endpoints`, {
      endpoint: { branch_id: branchId, type: "read_write", ...bad },
    }),
  ]);
  for (const { status, body } of responses)
    expect([status, body.code]).toEqual([422, "COMPUTE_SIZE_NOT_ALLOWED"]);
});

test("an idle compute has no size; its other figures are those of its next start", async () => {
  const double = await createDouble();
  const { endpointId } = await createProject(double, {
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 4,
  });
  await double.advance("1h");
  expect(await computeStats(double, endpointId)).toMatchObject({
    current_size_cu: 0,
    ram_gb: 4,
    max_connections: 450,
  });
});
