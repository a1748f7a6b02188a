import { expect, test } from "vitest";
import { computeResources, maxConnections } from "../../../src/platform/catalog/sizes.ts";
import type { Compute } from "../../../src/platform/model/compute.ts";
import { effectiveRange } from "../../../src/platform/rules/compute/open-connections.ts";
import { profileOfWorld } from "../../../src/platform/world/world.ts";
import { MAIN_COMPUTE, SHOP, worldWithBranch, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, running, SECOND, type Step } from "../../support/rules/rules.ts";

/** The reference's table: size in CU, vCPU, RAM and local file cache in GB, `max_connections`. */
const TABLE = [
  [0.25, 0.25, 1, 0.8, 112],
  [0.5, 0.5, 2, 1.6, 225],
  [1, 1, 4, 3.2, 450],
  [2, 2, 8, 6.4, 901],
  [3, 3, 12, 9.6, 1_351],
  [4, 4, 16, 12.8, 1_802],
  [5, 5, 20, 16, 2_253],
  [6, 6, 24, 19.2, 2_703],
  [7, 7, 28, 22.4, 3_154],
  [8, 8, 32, 25.6, 3_604],
  [9, 9, 36, 28.8, 4_000],
  [10, 10, 40, 32, 4_000],
] as const;
const SIZES: readonly number[] = TABLE.map(([cu]) => cu);

const create: CommandOf<"CreateCompute"> = {
  type: "CreateCompute",
  ...SHOP,
  id: "ep-dev",
  branchId: "br-dev",
  computeType: "read_write",
  options: {},
};

/** Of the compute "ep-main", which is active. */
function figures(minCu: number, maxCu: number, ...more: readonly Step[]) {
  return given(worldWithProject({ compute: { minCu, maxCu } }), ...more).asking((world) => {
    const compute = world.computes.get("ep-main") as Compute;
    const profile = profileOfWorld(world);
    const { phase } = compute;
    const cu = phase.state === "active" ? phase.sizeCu : 0;
    return {
      ...computeResources(profile, cu),
      sharedBuffersMb: profile.sharedBuffersMb,
      maxConnections: maxConnections(profile, effectiveRange(compute)),
    };
  });
}

test.each(TABLE)(
  "a compute of %d CU has %d vCPU, %d GB of RAM, a file cache of %d GB and %i connections",
  (cu, vcpu, ramGb, fileCacheGb, connections) => {
    expect(figures(cu, cu)).toMatchObject({ vcpu, ramGb, fileCacheGb, maxConnections: connections });
  },
);

test("RAM is 4 GB for each CU, the file cache has 80 % of it, and shared_buffers is 128 MB for all sizes", () => {
  for (const cu of SIZES) {
    const { vcpu, ramGb, fileCacheGb, sharedBuffersMb } = figures(cu, cu);
    expect([vcpu, ramGb, sharedBuffersMb]).toEqual([cu, 4 * cu, 128]);
    expect(fileCacheGb).toBeCloseTo(0.8 * ramGb, 9);
  }
});

test("each size of the table can be a fixed size, and the bound of a range", () => {
  for (const cu of SIZES)
    for (const range of [
      { minCu: cu, maxCu: cu },
      { minCu: cu, maxCu: 10 },
      { minCu: 0.25, maxCu: cu },
    ])
      given(worldWithBranch())
        .when({ ...create, options: range })
        .then([{ type: "ComputeCreated", compute: { range } }, running("start_compute")]);
});

test("a size that is not in the table is refused, as a minimum and as a maximum", () => {
  for (const cu of [-1, 0, 0.1, 0.3, 0.75, 1.5, 9.5, 11]) {
    given(worldWithBranch())
      .when({ ...create, options: { minCu: cu, maxCu: 10 } })
      .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
    given(worldWithBranch())
      .when({ ...create, options: { minCu: 0.25, maxCu: cu } })
      .thenRefused("COMPUTE_SIZE_NOT_ALLOWED");
  }
});

test("max_connections is that of the minimum size, whatever the maximum", () => {
  for (const [cu, , , , connections] of TABLE)
    for (const maxCu of SIZES.filter((size) => size >= cu))
      expect(figures(cu, maxCu).maxConnections).toBe(connections);
});

test("max_connections does not grow when autoscaling scales the compute", () => {
  const load: Step = {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "query", load: 800, durationMs: 60 * SECOND },
  };
  const scaled = figures(1, 8, load, after(4 * SECOND), { kind: "rescale", id: "ep-main" });
  expect(scaled).toMatchObject({ vcpu: 8, maxConnections: 450 });
});

test("a new size has its connections after the restart", () => {
  const resize: Step = { type: "UpdateCompute", ...MAIN_COMPUTE, options: { minCu: 2, maxCu: 2 } };
  expect(figures(1, 1, resize).maxConnections).toBe(450);
  expect(figures(1, 1, resize, after(6 * SECOND)).maxConnections).toBe(901);
});
