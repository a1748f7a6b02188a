import { test } from "vitest";
import { MAIN_COMPUTE, worldWithIdleCompute, worldWithProject } from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, HOUR, NOW, running, type Step } from "../../support/rules/rules.ts";

const schedule: CommandOf<"ScheduleActivity"> = {
  type: "ScheduleActivity",
  activity: { endpointId: "ep-main", kind: "query" },
  at: NOW + HOUR,
};
const arrival = { kind: "activity", id: "1" } as const;
const disableMain: Step = [
  { type: "UpdateCompute", ...MAIN_COMPUTE, options: { disabled: true } },
  after(HOUR),
];

test("activity is scheduled for a later instant", () => {
  given(worldWithProject())
    .when(schedule)
    .then([
      {
        type: "ActivityScheduled",
        scheduled: { number: 1, at: NOW + HOUR, activity: { endpointId: "ep-main", kind: "query" } },
      },
    ]);
});

test("activity can be scheduled for now, and not a millisecond earlier", () => {
  given(worldWithProject())
    .when({ ...schedule, at: NOW })
    .then([{ type: "ActivityScheduled", scheduled: { at: NOW } }]);
  given(worldWithProject())
    .when({ ...schedule, at: NOW - 1 })
    .thenRefused("INSTANT_IN_THE_PAST");
});

test("scheduling activity on an unknown compute is refused", () => {
  given(worldWithProject())
    .when({ ...schedule, activity: { endpointId: "ep-unknown", kind: "query" } })
    .thenRefused("ENDPOINT_NOT_FOUND");
});

test("scheduled activity arrives like any other", () => {
  given(worldWithProject(), schedule)
    .when(arrival, after(HOUR))
    .then([{ type: "ActivityRecorded", scheduled: 1, waitedMs: 0 }]);
  given(worldWithIdleCompute(), schedule)
    .when(arrival, after(HOUR))
    .then([
      running("start_compute", { cause: "activity" }),
      { type: "ActivityRecorded", scheduled: 1, waitedMs: 3_000 },
    ]);
});

test("scheduled activity that is refused when it arrives is dropped, with the reason", () => {
  given(worldWithProject(), schedule, disableMain)
    .when(arrival)
    .then([{ type: "ActivityDropped", endpointId: "ep-main", scheduled: 1, reason: "ENDPOINT_DISABLED" }]);
});

test("activity that was scheduled for a deleted compute does not arrive", () => {
  given(worldWithProject(), schedule, { type: "DeleteCompute", ...MAIN_COMPUTE })
    .when(arrival, after(HOUR))
    .then([]);
});
