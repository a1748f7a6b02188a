import { unwrap } from "../../http/request.ts";
import { refuse } from "../../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { blockersOf, type Operation } from "../../platform/model/operation.ts";
import { unfinishedOperations } from "../../platform/rules/operation/schedule-operations.ts";
import type { ViewAbout, WorldView } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import {
  decisionOf,
  type EventOf,
  effectsOf,
  MAX_EVENTS,
  newestEvent,
  optional,
  type Reason,
  renderExplanation,
} from "./explanation.ts";

/** Explains what caused an operation, what it waited for, how long it takes, and its result. */
export function explainOperation(view: ViewAbout, operationId: string) {
  const events = view.found.slice(0, MAX_EVENTS).reverse();
  const scheduled = newestEvent(events, "OperationScheduled", (event) => event.operation.id === operationId);
  const operation = view.operation(operationId) ?? scheduled?.operation;
  if (operation === undefined)
    return unwrap(refuse("OPERATION_NOT_FOUND", `operation "${operationId}" not found`));
  const decision = scheduled === undefined ? [] : decisionOf(view, scheduled);
  const activity = decision.find(
    (event): event is EventOf<"ActivityRecorded"> => event.type === "ActivityRecorded",
  );
  const cause = activity ?? decision.find((event) => event.seq === scheduled?.decision);
  const reasons: Reason[] = [
    {
      about: "state",
      text: `${operationLabel(operation)} was scheduled at ${formatInstant(operation.createdAt)}, ${requestedBy(operation, activity)}`,
      proof: [...optional(cause), ...optional(scheduled)],
    },
    ...explainFaults(operation, events),
    explainCourse(view, operation, events),
  ];
  const { action, projectId, state } = operation;
  return {
    operation_id: operationId,
    project_id: projectId,
    action,
    status: state.status,
    ...renderExplanation(view, reasons),
  };
}

/** The effect of faults on an operation; each trigger is an event in history. */
function explainFaults({ id, failures }: Operation, events: readonly RecordedEvent[]): Reason[] {
  const hits = events.filter(
    (event): event is EventOf<"FaultHit"> => event.type === "FaultHit" && isAbout(event, id),
  );
  return hits.map((hit) => {
    const text = `${describeHit(hit)}${hit.outcome.kind === "operation_fails" && failures !== undefined ? `; ${failures.count} so far` : ""}`;
    return {
      about: "fault",
      text,
      proof: [hit, ...events.filter(({ type }) => type === "OperationRetried")],
    };
  });
}

function isAbout({ target }: EventOf<"FaultHit">, operationId: string): boolean {
  return target.kind === "operation" && target.operationId === operationId;
}

function describeHit({ fault, outcome }: EventOf<"FaultHit">): string {
  switch (outcome.kind) {
    case "operation_fails": {
      const end = outcome.ends === "failed" ? "without a retry" : "and then finish";
      return `fault "${fault}" makes it fail ${outcome.times === 1 ? "once" : `${outcome.times} times`} ${end}`;
    }
    case "start_slower": {
      const longer = [
        ...(outcome.factor === 1 ? [] : [`${outcome.factor} times as long`]),
        ...(outcome.byMs === 0 ? [] : [`${outcome.byMs} ms longer`]),
      ];
      return `fault "${fault}" makes it take ${longer.join(" and ") || "no longer"}`;
    }
    default:
      return `it matched fault "${fault}"`;
  }
}

function explainCourse(view: WorldView, operation: Operation, events: readonly RecordedEvent[]): Reason {
  const { state, createdAt } = operation;
  const started = newestEvent(events, "OperationStarted");
  const waitText = (startedAt: number) =>
    startedAt > createdAt ? `it waited ${startedAt - createdAt} ms for other operations, ` : "it ";
  switch (state.status) {
    case "finished": {
      const finished = newestEvent(events, "OperationFinished");
      const text =
        state.startedAt === state.finishedAt && operation.durationMs === 0 && started === undefined
          ? "it finished at once"
          : `${waitText(state.startedAt)}ran from ${formatInstant(state.startedAt)} and finished at ${formatInstant(state.finishedAt)}`;
      return {
        about: "state",
        text,
        proof: [
          ...optional(started),
          ...(finished === undefined
            ? optional(newestEvent(events, "OperationScheduled"))
            : [finished, ...effectsOf(view, finished)]),
        ],
      };
    }
    case "failed":
      return {
        about: "state",
        text: `${waitText(state.startedAt)}ran from ${formatInstant(state.startedAt)} and failed permanently at ${formatInstant(state.failedAt)}`,
        proof: optional(newestEvent(events, "OperationFailed")),
      };
    case "cancelled":
      return {
        about: "state",
        text: `it was cancelled at ${formatInstant(state.cancelledAt)}, because its object was deleted`,
        proof: optional(newestEvent(events, "OperationCancelled")),
      };
    case "running":
    case "scheduling":
      return explainUnfinished(view, operation);
    default:
      return state satisfies never;
  }
}

export function explainUnfinished(view: WorldView, operation: Operation): Reason {
  const about = "pending";
  const proof = view.eventsAbout(operation.id, 2);
  const { failures } = operation;
  const faultText =
    failures === undefined
      ? ""
      : `; ${failures.fault === undefined ? "the failures of the calibrated profile have" : `fault "${failures.fault}" has`} made it fail ${failures.count} of ${failures.times} times`;
  if (operation.state.status === "running") {
    return {
      about,
      text: `${operationLabel(operation)} runs until ${formatInstant(operation.state.dueAt)}${faultText}`,
      proof,
    };
  }
  const blockers = blockersOf(unfinishedOperations(view.world, operation.projectId), operation);
  return {
    about,
    text: `${operationLabel(operation)} waits for ${blockers.map(operationLabel).join(", ")}`,
    proof,
  };
}

function operationLabel({ action, endpointId, branchId }: Operation): string {
  return `${action} of ${endpointId ?? branchId ?? "the project"}`;
}

export function describeOperation(operation: Operation): string {
  return `${operationLabel(operation)} (${operation.state.status})`;
}

export function requestedBy({ cause }: Operation, activity: EventOf<"ActivityRecorded"> | undefined): string {
  switch (cause) {
    case "activity": {
      const source = activity?.activity.source === undefined ? "" : ` from "${activity.activity.source}"`;
      return `by a client's ${activity?.activity.kind ?? "activity"}${source} that found the compute idle`;
    }
    case "autosuspend":
      return "by autosuspend";
    case "quota":
      return "because its project reached a quota";
    case "restart":
      return "to restart it for an update";
    case "repeated_update":
      return "by an update that repeats the current values, so it has no effect";
    case "request":
      return "by a request";
    case "recorded":
      return "by the platform that this past was read from, which does not say why";
    default:
      return cause satisfies never;
  }
}
