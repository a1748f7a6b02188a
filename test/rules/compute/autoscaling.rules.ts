import { expect, test } from "vitest";
import { MAIN_COMPUTE, worldWithIdleCompute, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, MINUTE, NOW, SECOND, type Step } from "../../support/rules/rules.ts";

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

test("automatic scaling suspends nothing and closes no connection", () => {
  const connect: Step = {
    type: "RecordActivity",
    activity: { endpointId: "ep-main", kind: "connect", connectionId: "c1" },
  };
  const scaled = given(autoscaled, connect, load(800, MINUTE), after(FIRST), rescaleIsDue);
  const { phase, connection } = scaled.asking((world) => ({
    phase: world.computes.get("ep-main")?.phase,
    connection: world.connections.get("ep-main", "c1"),
  }));
  expect(phase).toMatchObject({ state: "active", sizeCu: 2, startedAt: NOW - 6 * SECOND });
  expect(connection).toEqual(expect.objectContaining({ id: "c1", pooled: false, waiting: false }));
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

// A span is reported at its end. Its readings, at 4 s and 9 s after it began, have passed by then.
const spanOf8 = (continues: boolean): Step => [
  autoscaled,
  { type: "BeginSpan", endpointId: "ep-main" },
  after(10 * SECOND),
  {
    type: "EndSpan",
    endpointId: "ep-main",
    beganAt: NOW,
    until: NOW + 10 * SECOND,
    arrivals: 1,
    load: 8,
    continues,
  },
];

test("readings within a span saw its load, but the compute is resized by the next reading only", () => {
  // The average is 1.23 at the last reading within the span, and 1.13 after one without it: 5 steps of 0.25 CU.
  given(spanOf8(false))
    .when(rescaleIsDue, after(4 * SECOND - 1))
    .then([]);
  given(spanOf8(false))
    .when(rescaleIsDue, after(4 * SECOND))
    .then([{ type: "ComputeResized", endpointId: "ep-main", sizeCu: 1.25 }]);
});

test("a span that continues has its last load until the next report", () => {
  given(spanOf8(true))
    .when(rescaleIsDue, after(4 * SECOND))
    .then([{ type: "ComputeResized", endpointId: "ep-main", sizeCu: 2 }]);
  const nextReport: Step = {
    type: "EndSpan",
    endpointId: "ep-main",
    beganAt: NOW + 10 * SECOND,
    until: NOW + 10 * SECOND,
    arrivals: 0,
  };
  given(spanOf8(true), nextReport)
    .when(rescaleIsDue, after(4 * SECOND))
    .then([{ type: "ComputeResized", sizeCu: 1.25 }]);
});

test("a part of a span that was too short for a measurement continues with the last load", () => {
  const short: Step = {
    type: "EndSpan",
    endpointId: "ep-main",
    beganAt: NOW + 10 * SECOND,
    until: NOW + 10 * SECOND,
    arrivals: 0,
    continues: true,
  };
  given(spanOf8(true), short)
    .when(rescaleIsDue, after(4 * SECOND))
    .then([{ type: "ComputeResized", sizeCu: 2 }]);
});

test("a suspend ends the load of a span", () => {
  given(spanOf8(true), { type: "SuspendCompute", ...MAIN_COMPUTE })
    .when(rescaleIsDue, after(4 * SECOND))
    .then([]);
});

test("the load of a span does not resize a compute of a fixed size", () => {
  const [, ...span] = spanOf8(true) as readonly Step[];
  given(worldWithProject(), span).when(rescaleIsDue, after(MINUTE)).then([]);
});
