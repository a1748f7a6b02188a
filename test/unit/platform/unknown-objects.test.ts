import { expect, test } from "vitest";
import type { Event } from "../../../src/platform/model/events.ts";
import { EVENT_TYPES, evolve } from "../../../src/platform/rules/evolve.ts";
import { emptyWorld } from "../../../src/platform/world/world.ts";

// An event about an object that does not exist comes from a damaged journal. It must not change the world in part.

const reference = {
  accountId: "a",
  projectId: "p",
  branchId: "b",
  endpointId: "e",
  operationId: "o",
  recordId: "r",
  snapshotId: "s",
  keyId: 7,
  name: "f",
  fault: "f",
  changes: {},
};
const disconnect = { endpointId: "e", kind: "disconnect", connectionId: "c" };

test.each<[type: Event["type"], message: RegExp, fields?: object]>([
  ["AccountPlanChanged", /AccountPlanChanged: there is no account a/],
  ["ApiKeyRevoked", /ApiKeyRevoked: there is no API key 7/],
  ["ProjectUpdated", /ProjectUpdated: there is no project p/],
  ["ProjectDeleted", /ProjectDeleted: there is no project p/],
  ["RecordUpdated", /RecordUpdated: there is no record r/],
  ["BranchBecameReady", /BranchBecameReady: there is no branch b/],
  ["BranchUpdated", /BranchUpdated: there is no branch b/],
  ["RoleCreated", /RoleCreated: there is no branch b/],
  ["DatabaseDeleted", /DatabaseDeleted: there is no branch b/],
  ["BackupScheduleSet", /BackupScheduleSet: there is no branch b/],
  ["SnapshotRenamed", /SnapshotRenamed: there is no snapshot s/],
  ["ComputeUpdated", /ComputeUpdated: there is no endpoint e/],
  ["ComputeSuspended", /ComputeSuspended: there is no endpoint e/],
  ["ActivityRecorded", /ActivityRecorded: there is no endpoint e/, { activity: disconnect }],
  ["SpanBegan", /a span of e, which is not active/],
  ["SpanEnded", /a span of e, which is not active/],
  ["OperationStarted", /OperationStarted: operation o is not unfinished/],
  ["OperationFinished", /OperationFinished: operation o is not unfinished/],
  ["FaultMatched", /FaultMatched: there is no fault f/],
])("%s for an unknown object throws", (type, message, fields = {}) => {
  const event = { type, at: 1, seq: 1, decision: 1, ...reference, ...fields };
  expect(() => evolve(emptyWorld(), event as never)).toThrow(message);
});

test("an event type of a newer release changes nothing but the position", () => {
  const world = emptyWorld();
  evolve(world, { type: "Unknown", at: 5, seq: 3, decision: 3 } as never);
  expect(world).toMatchObject({ seq: 3, at: 5 });
  expect(EVENT_TYPES).not.toContain("Unknown");
});
