import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RecordedEvent } from "../../../../src/platform/model/events.ts";
import { eventWith, payloadOf } from "../../../../src/store/journal/event-payload.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const AT = 1_767_225_600_000;
const operation = {
  id: "a-1",
  number: 7,
  projectId: "p-1",
  branchId: "br-1",
  endpointId: "ep-1",
  action: "start_compute",
  state: { status: "running", startedAt: AT, dueAt: AT + 3_000 },
  durationMs: 3_000,
  cause: "activity",
  thenStart: false,
  createdAt: AT,
  updatedAt: AT,
};
const scheduled = { ...operation, action: "apply_config", cause: "request", thenStart: true };

function eventOf(fields: object): RecordedEvent {
  return { seq: 9, at: AT, decision: 8, ...fields } as RecordedEvent;
}

/** The fields of the event that is read, after those of its place, which come first and in this order. */
function read({ type, at }: RecordedEvent, payload: string): unknown {
  const event = eventWith({ seq: 9, at, type, decision: 8 }, payload);
  expect(Object.entries(event).slice(0, 4)).toEqual(Object.entries({ seq: 9, at, type, decision: 8 }));
  return Object.fromEntries(Object.entries(event).slice(4));
}

/** What is left of an event when it is written and read as JSON. */
function storedFields(event: RecordedEvent): unknown {
  const { seq, at, type, decision, ...fields } = event;
  return JSON.parse(JSON.stringify(fields));
}

describe("an event as a list of values", () => {
  // Files contain these lists: a change makes existing files unreadable.
  test.each([
    [{ type: "OperationScheduled", operation }, '["a-1",7,"p-1","br-1","ep-1",2,1,3000,1,0,0,0,0,3000]'],
    [
      { type: "OperationScheduled", operation: { ...scheduled, state: { status: "scheduling" } } },
      '["a-1",7,"p-1","br-1","ep-1",4,0,3000,0,1,0,0]',
    ],
    [{ type: "OperationStarted", operationId: "a-1", dueAt: AT + 5 }, '["a-1",5]'],
    [{ type: "OperationRetried", operationId: "a-1", dueAt: AT + 5 }, '["a-1",5]'],
    [{ type: "OperationFinished", operationId: "a-1" }, '["a-1"]'],
    [{ type: "OperationFailed", operationId: "a-1" }, '["a-1"]'],
    [{ type: "OperationCancelled", operationId: "a-1" }, '["a-1"]'],
    [{ type: "ComputeActivated", endpointId: "ep-1", release: 2_922 }, '["ep-1",2922]'],
    [{ type: "ComputeSuspending", endpointId: "ep-1" }, '["ep-1"]'],
    [{ type: "ComputeSuspended", endpointId: "ep-1", cause: "autosuspend" }, '["ep-1","autosuspend"]'],
    [{ type: "ComputeResized", endpointId: "ep-1", sizeCu: 0.5 }, '["ep-1",0.5]'],
    [
      { type: "ActivityRecorded", activity: { endpointId: "ep-1", kind: "query" }, waitedMs: 0 },
      '[0,"ep-1",0,0]',
    ],
    [
      {
        type: "ActivityRecorded",
        activity: {
          endpointId: "ep-1",
          kind: "transaction",
          durationMs: 5,
          queries: 2,
          connectionId: "c",
          database: "d",
          pooled: true,
          source: "web",
          load: 0.5,
          blocks: { hits: 1, misses: 2, writes: 3 },
        },
        waitedMs: 3_000,
        opened: "#9",
        scheduled: 4,
      },
      '[3000,"ep-1",1,196863,5,2,"c","d",true,"web",0.5,{"hits":1,"misses":2,"writes":3},"#9",4]',
    ],
    [
      {
        type: "ActivityScheduled",
        scheduled: {
          number: 3,
          at: AT + 60_000,
          activity: { endpointId: "ep-1", kind: "connect", source: "web" },
        },
      },
      '[3,60000,"ep-1",2,32,"web"]',
    ],
    [{ type: "SpanBegan", endpointId: "ep-1" }, '["ep-1"]'],
    [
      { type: "SpanEnded", endpointId: "ep-1", beganAt: AT - 900, until: AT - 100, arrivals: 3 },
      '["ep-1",3,-900,-100]',
    ],
  ])("%j", (fields, payload) => {
    const event = eventOf(fields);
    expect(payloadOf(event)).toBe(payload);
    expect(read(event, payload)).toEqual(storedFields(event));
  });

  test.each(["running", "finished", "failed", "cancelled", "scheduling"])(
    "of an operation that is %s",
    (status) => {
      const instants = {
        startedAt: AT - 10,
        dueAt: AT + 1,
        finishedAt: AT,
        failedAt: AT,
        cancelledAt: AT + 2,
      };
      const names = {
        running: ["startedAt", "dueAt"],
        finished: ["startedAt", "finishedAt"],
        failed: ["startedAt", "failedAt"],
        cancelled: ["cancelledAt"],
        scheduling: [],
      }[status] as (keyof typeof instants)[];
      const state = { status, ...Object.fromEntries(names.map((name) => [name, instants[name]])) };
      const event = eventOf({ type: "OperationScheduled", operation: { ...operation, state } });
      expect(payloadOf(event)).toMatch(/^\[/);
      expect(read(event, payloadOf(event))).toEqual(storedFields(event));
    },
  );
});

describe("an event stays an object", () => {
  test.each([
    ["with failures", { type: "OperationScheduled", operation: { ...operation, failures: { fault: "f" } } }],
    ["without a compute", { type: "OperationScheduled", operation: { ...operation, endpointId: undefined } }],
    ["of an unknown action", { type: "OperationScheduled", operation: { ...operation, action: "new" } }],
    ["of an unknown cause", { type: "OperationScheduled", operation: { ...operation, cause: "new" } }],
    [
      "in an unknown state",
      { type: "OperationScheduled", operation: { ...operation, state: { status: "new", startedAt: AT } } },
    ],
    [
      "in a state with another field",
      { type: "OperationScheduled", operation: { ...operation, state: { status: "scheduling", by: 1 } } },
    ],
    ["with a fraction of a millisecond", { type: "OperationStarted", operationId: "a-1", dueAt: AT + 0.5 }],
    ["with another field", { type: "ComputeSuspended", endpointId: "ep-1", cause: "quota", by: "p-1" }],
    ["without one of its fields", { type: "ComputeSuspended", endpointId: "ep-1" }],
    [
      "with another field of its activity",
      { type: "ActivityRecorded", activity: { endpointId: "ep-1", kind: "query", tag: "x" }, waitedMs: 0 },
    ],
    [
      "with an activity of an unknown kind",
      { type: "ActivityRecorded", activity: { endpointId: "ep-1", kind: "new" }, waitedMs: 0 },
    ],
    [
      "with another field beside its activity",
      { type: "ActivityRecorded", activity: { endpointId: "ep-1", kind: "query" }, waitedMs: 0, tag: "x" },
    ],
    [
      "with another field of what is scheduled",
      {
        type: "ActivityScheduled",
        scheduled: { number: 1, at: AT, tag: "x", activity: { endpointId: "ep-1", kind: "query" } },
      },
    ],
    ["with data", { type: "SpanEnded", endpointId: "e", beganAt: AT, until: AT, arrivals: 1, data: {} }],
    ["of a type without a short form", { type: "BranchBecameReady", branchId: "br-1" }],
  ])("%s", (_, fields) => {
    const event = eventOf(fields);
    expect(payloadOf(event)).toMatch(/^\{/);
    expect(read(event, payloadOf(event))).toEqual(storedFields(event));
  });
});

test("every event is read as it was written", async () => {
  const absentOr = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
  const instant = fc.oneof(
    fc.integer({ min: AT - 1_000_000, max: AT + 1_000_000 }),
    fc.constantFrom(0, -1, 0.5, Number.MAX_SAFE_INTEGER + 2),
  );
  const activity = fc.record({
    endpointId: fc.string(),
    kind: fc.constantFrom("query", "transaction", "connect", "disconnect", "later"),
    durationMs: absentOr(fc.nat()),
    queries: absentOr(fc.nat()),
    connectionId: absentOr(fc.string({ unit: "binary" })),
    pooled: absentOr(fc.boolean()),
    load: absentOr(fc.double({ noNaN: true, noDefaultInfinity: true })),
    tag: absentOr(fc.constant(1)),
  });
  const events = fc.oneof(
    fc.record({
      type: fc.constant("ActivityRecorded"),
      activity,
      waitedMs: fc.nat(),
      opened: absentOr(fc.string()),
      scheduled: absentOr(fc.nat()),
    }),
    fc.record({
      type: fc.constant("ActivityScheduled"),
      scheduled: fc.record({ number: fc.nat(), at: instant, activity }),
    }),
    fc.record({
      type: fc.constant("OperationScheduled"),
      operation: fc.record({
        ...Object.fromEntries(Object.entries(operation).map(([name, value]) => [name, fc.constant(value)])),
        endpointId: absentOr(fc.string()),
        failures: absentOr(fc.constant({ fault: "f", times: 1, ends: "failed", count: 0 })),
        createdAt: instant,
      }),
    }),
  );
  await expectHolds(
    fc.property(events, instant, (fields, at) => {
      const event = eventOf({ ...fields, at });
      expect(read(event, payloadOf(event))).toEqual(storedFields(event));
    }),
    1_000,
  );
});

test("a list for a type without a short form is an error", () => {
  const place = { seq: 9, at: AT, type: "BranchBecameReady", decision: 8 };
  expect(() => eventWith(place, '["br-1"]')).toThrow("BranchBecameReady has no short form");
});
