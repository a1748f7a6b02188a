import { unwrap } from "../../http/request.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { expectedEnds } from "../../platform/model/operation.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { locks } from "../../platform/rules/operation/locked-by-operations.ts";
import { unfinishedOperations } from "../../platform/rules/operation/schedule-operations.ts";
import { isStartedByTraffic } from "../../platform/rules/operation/start-by-traffic.ts";
import type { ViewAbout, WorldView } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import { explainIdle } from "./explain-idle.ts";
import { describeOperation, explainUnfinished, requestedBy } from "./explain-operation.ts";
import { explainSuspend } from "./explain-suspend.ts";
import { decisionOf, newestEvent, optional, type Reason, renderExplanation } from "./explanation.ts";

/**
 * Explains the state of a compute: what it waits for, what started it, when it suspends, and whether it can
 * be changed.
 */
export function explainEndpoint(view: ViewAbout, endpointId: string) {
  const compute = unwrap(findReachableCompute(view.world, endpointId));
  const events = view.found;
  const reasons = [
    explainState(view, compute, events),
    ...explainDisabled(compute, events),
    ...explainPending(view, compute),
    ...explainWake(view, events),
    ...explainSuspend(view, compute, events),
    explainChanges(view, compute),
  ];
  return {
    endpoint_id: compute.id,
    project_id: compute.projectId,
    state: compute.phase.state,
    ...renderExplanation(view, reasons),
  };
}

function explainState(view: WorldView, compute: Compute, events: readonly RecordedEvent[]): Reason {
  const { phase } = compute;
  const about = "state";
  switch (phase.state) {
    case "active": {
      const activated = newestEvent(events, "ComputeActivated");
      return {
        about,
        text: `${compute.id} has been active since ${formatInstant(phase.startedAt)}, with ${phase.sizeCu} CU`,
        proof: optional(activated),
      };
    }
    case "idle":
      return explainIdle(view, compute, events);
    case "init":
      return {
        about,
        text: `${compute.id} is new and has not started yet`,
        proof: optional(newestEvent(events, "ComputeCreated")),
      };
    default:
      return phase satisfies never;
  }
}

/** S: a disabled compute "cannot be enabled by a connection". */
function explainDisabled({ id, disabled }: Compute, events: readonly RecordedEvent[]): Reason[] {
  if (!disabled) return [];
  const proof =
    newestEvent(events, "ComputeUpdated", ({ changes }) => changes.disabled === true) ??
    newestEvent(events, "ComputeCreated");
  return [
    {
      about: "wake",
      text: `${id} is disabled: nothing starts it until it is enabled`,
      proof: optional(proof),
    },
  ];
}

function explainPending(view: WorldView, compute: Compute): Reason[] {
  return unfinishedOperations(view.world, compute.projectId)
    .filter((operation) => operation.endpointId === compute.id)
    .map((operation) => explainUnfinished(view, operation));
}

function explainWake(view: WorldView, events: readonly RecordedEvent[]): Reason[] {
  const start = newestEvent(
    events,
    "OperationScheduled",
    ({ operation }) => operation.action === "start_compute",
  );
  if (start === undefined) return [];
  const activity = newestEvent(decisionOf(view, start), "ActivityRecorded");
  const text = `its last start was scheduled at ${formatInstant(start.at)}, ${requestedBy(start.operation, activity)}`;
  return [{ about: "wake", text, proof: [...optional(activity), start] }];
}

/**
 * C, D: while an unfinished operation locks the compute, changes to it are rejected with 423. R: except for updates
 * and restarts, which wait for the operation.
 */
function explainChanges(view: WorldView, compute: Compute): Reason {
  const operations = unfinishedOperations(view.world, compute.projectId);
  if (operations.length === 0)
    return {
      about: "changes",
      text: "changes are accepted: its project has no unfinished operations",
      proof: [],
    };
  const ends = expectedEnds(operations, view.now);
  const locking = operations.filter((operation) =>
    locks(view.world, operation, { endpointIds: [compute.id] }),
  );
  if (locking.length === 0)
    return {
      about: "changes",
      text: `changes are accepted: none of the unfinished operations of its project locks it: ${operations.map(describeOperation).join(", ")}`,
      proof: operations.flatMap(({ id }) => view.eventsAbout(id, 1)),
    };
  const until = Math.max(...locking.map((operation) => ends[operations.indexOf(operation)] ?? view.now));
  // The duration of a start that follows automatically is not drawn yet.
  const about = locking.some(({ thenStart }) => thenStart) ? "until some time after" : "until";
  const proof = locking.flatMap(({ id }) => view.eventsAbout(id, 1));
  const rejected =
    view.world.settings.locks === "project"
      ? "changes to its project are rejected with 423"
      : isStartedByTraffic(view.world, compute)
        ? "a start of it changes nothing, a suspend is rejected with 423, and updates and restarts wait"
        : "updates and restarts of it wait, and a start or suspend is rejected with 423";
  const text = `${rejected} ${about} ${formatInstant(until)}: ${locking.map(describeOperation).join(", ")}`;
  return { about: "changes", text, proof };
}
