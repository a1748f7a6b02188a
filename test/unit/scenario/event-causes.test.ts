import { expect, test } from "vitest";
import type { RecordedEvent } from "../../../src/platform/model/events.ts";
import { EventCauses } from "../../../src/scenario/measure/event-causes.ts";

const endpointId = "ep-main";

function recorded(seq: number, event: object): RecordedEvent {
  return { seq, decision: seq, at: seq * 1_000, ...event } as RecordedEvent;
}

test("the last activity before an autosuspend is the newest work, of a step or of Postgres clients", () => {
  const causes = new EventCauses();
  const activity = recorded(1, {
    type: "ActivityRecorded",
    activity: { endpointId, kind: "query" },
    waitedMs: 0,
  });
  const span = recorded(2, { type: "SpanEnded", endpointId, beganAt: 1_500, until: 2_000, arrivals: 3 });
  const suspend = {
    action: "suspend_compute",
    cause: "autosuspend",
    endpointId,
    state: { status: "finished" },
  };
  const suspended = (seq: number) =>
    causes.observe(recorded(seq, { type: "OperationScheduled", operation: { id: `op-${seq}`, ...suspend } }));
  causes.observe(activity);
  causes.observe(span);
  expect(suspended(3).lastActivity).toBe(span);
  causes.observe(recorded(4, { ...activity, seq: 4, decision: 4 }));
  expect(suspended(5).lastActivity).toMatchObject({ type: "ActivityRecorded", seq: 4 });
});
