import { test } from "vitest";
import { worldWithIdleCompute, worldWithProject } from "../../support/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE, SECOND, type Step } from "../../support/rules.ts";

const rescaleIsDue = { kind: "rescale", id: "ep-main" } as const;
const autoscaled: Step = worldWithProject({ compute: { maxCu: 2 } });

/** A query that keeps this number of vCPUs busy. */
function load(vcpus: number, durationMs = 0): CommandOf<"RecordActivity"> {
  return {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "query", load: vcpus, durationMs },
  };
}

test("a compute grows at once to the smallest size that carries the load at 90 %", () => {
  given(autoscaled)
    .when(load(0.9))
    .then([{ type: "ActivityRecorded" }, { type: "ComputeResized", endpointId: "ep-main", sizeCu: 1 }]);
  given(autoscaled)
    .when(load(0.91))
    .then([{ type: "ActivityRecorded" }, { type: "ComputeResized", sizeCu: 2 }]);
});

test("a load that the current size carries resizes nothing", () => {
  given(autoscaled)
    .when(load(0.225))
    .then([{ type: "ActivityRecorded" }]);
});

test("a compute grows to its maximum and no further", () => {
  given(autoscaled)
    .when(load(8))
    .then([{ type: "ActivityRecorded" }, { type: "ComputeResized", sizeCu: 2 }]);
});

test("a compute shrinks one minute after the load ends, and not before", () => {
  given(autoscaled, load(0.9, 10 * SECOND))
    .when(rescaleIsDue, after(MINUTE + 10 * SECOND - 1))
    .then([]);
  given(autoscaled, load(0.9, 10 * SECOND))
    .when(rescaleIsDue, after(MINUTE + 10 * SECOND))
    .then([{ type: "ComputeResized", endpointId: "ep-main", sizeCu: 0.25 }]);
});

test("while a smaller load goes on, a compute shrinks to the size for that", () => {
  given(autoscaled, load(1.8), after(30 * SECOND), load(0.9))
    .when(rescaleIsDue, after(30 * SECOND))
    .then([{ type: "ComputeResized", sizeCu: 1 }]);
});

test("an idle, an unloaded or an unknown compute is not rescaled", () => {
  given(worldWithIdleCompute()).when(rescaleIsDue, after(MINUTE)).then([]);
  given(autoscaled).when(rescaleIsDue, after(MINUTE)).then([]);
  given(autoscaled).when({ kind: "rescale", id: "ep-unknown" }).then([]);
});
