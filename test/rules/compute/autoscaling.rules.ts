import { test } from "vitest";
import { worldWithIdleCompute, worldWithProject } from "../../support/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE, SECOND, type Step } from "../../support/rules.ts";

const rescaleIsDue = { kind: "rescale", id: "ep-main" } as const;
const autoscaled: Step = worldWithProject({ compute: { maxCu: 2 } });

/** A query that keeps this many vCPUs busy. */
function load(vcpus: number, durationMs: number): CommandOf<"RecordActivity"> {
  return {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "query", load: vcpus, durationMs },
  };
}

test("a load resizes nothing before the next reading", () => {
  given(autoscaled)
    .when(load(8, MINUTE))
    .then([{ type: "ActivityRecorded" }]);
  given(autoscaled, load(8, MINUTE)).when(rescaleIsDue).then([]);
});

// The compute is active since 6 s before, so its next readings are in 4 s, 9 s and 14 s.
const FIRST = 4 * SECOND;

test("the first reading of a load of 8 is an average of 0.64, for which a compute grows to 0.75 CU", () => {
  given(autoscaled, load(8, MINUTE))
    .when(rescaleIsDue, after(FIRST - 1))
    .then([]);
  given(autoscaled, load(8, MINUTE))
    .when(rescaleIsDue, after(FIRST))
    .then([{ type: "ComputeResized", endpointId: "ep-main", sizeCu: 0.75 }]);
});

test("a load that ends at the reading is not seen by it", () => {
  given(autoscaled, load(8, FIRST)).when(rescaleIsDue, after(FIRST)).then([]);
  given(autoscaled, load(8, FIRST + 1))
    .when(rescaleIsDue, after(FIRST))
    .then([{ type: "ComputeResized", sizeCu: 0.75 }]);
});

test("a compute grows to its maximum and no further", () => {
  given(autoscaled, load(800, MINUTE))
    .when(rescaleIsDue, after(FIRST))
    .then([{ type: "ComputeResized", sizeCu: 2 }]);
});

test("after the load, a compute shrinks as the average falls", () => {
  // 0.64, 0.59 and 0.54 are 2.8, 2.6 and 2.4 steps of 0.25 CU.
  const grown: Step = [autoscaled, load(8, FIRST + 1), after(FIRST), rescaleIsDue];
  given(grown)
    .when(rescaleIsDue, after(10 * SECOND - 1))
    .then([]);
  given(grown)
    .when(rescaleIsDue, after(10 * SECOND))
    .then([{ type: "ComputeResized", sizeCu: 0.5 }]);
});

test("an idle, an unloaded, a fixed or an unknown compute is not rescaled", () => {
  given(worldWithIdleCompute()).when(rescaleIsDue, after(MINUTE)).then([]);
  given(autoscaled).when(rescaleIsDue, after(MINUTE)).then([]);
  given(worldWithProject(), load(8, MINUTE)).when(rescaleIsDue, after(MINUTE)).then([]);
  given(autoscaled).when({ kind: "rescale", id: "ep-unknown" }).then([]);
});
