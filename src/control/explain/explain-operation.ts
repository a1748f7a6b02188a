import { found } from "../../http/request.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { blockersOf, type Operation, unfinishedOperations } from "../../platform/operation/operation.ts";
import { refuse } from "../../platform/refusals.ts";
import type { Look } from "../../worlds/world-handle.ts";
import { instant } from "../routes/records.ts";
import { decisionOf, type EventOf, effects, MAX_EVENTS, newest, type Reason, render, some } from "./explanation.ts";

/** What asked for an operation, what it waited for, how long it takes, and what came of it. */
export function explainOperation(look: Look, operationId: string) {
  const events = [...look.eventsAbout(operationId, MAX_EVENTS)].reverse();
  const scheduled = newest(events, "OperationScheduled", (event) => event.operation.id === operationId);
  const operation = look.operation(operationId) ?? scheduled?.operation;
  if (operation === undefined) return found(refuse("OPERATION_NOT_FOUND", `operation "${operationId}" not found`));
  const decision = scheduled === undefined ? [] : decisionOf(look, scheduled);
  const activity = decision.find((event): event is EventOf<"ActivityRecorded"> => event.type === "ActivityRecorded");
  const cause = activity ?? decision.find((event) => event.seq === scheduled?.decision);
  const reasons: Reason[] = [
    {
      about: "state",
      text: `${name(operation)} was scheduled at ${instant(operation.createdAt)}, ${askedBy(operation, activity)}`,
      proof: [...some(cause), ...some(scheduled)],
    },
    ...explainFaults(operation, events),
    explainCourse(look, operation, events),
  ];
  const { action, projectId, state } = operation;
  return { operation_id: operationId, project_id: projectId, action, status: state.status, ...render(look, reasons) };
}

/** What faults have made of an operation; each hit stands in history. */
function explainFaults({ id, failures }: Operation, events: readonly RecordedEvent[]): Reason[] {
  const hits = events.filter((event): event is EventOf<"FaultHit"> => event.type === "FaultHit" && isAbout(event, id));
  return hits.map((hit) => {
    const text = `${describeHit(hit)}${hit.outcome.kind === "operation_fails" && failures !== undefined ? `; so far ${failures.count}` : ""}`;
    return { about: "fault", text, proof: [hit, ...events.filter(({ type }) => type === "OperationRetried")] };
  });
}

function isAbout({ target }: EventOf<"FaultHit">, operationId: string): boolean {
  return target.kind === "operation" && target.operationId === operationId;
}

function describeHit({ fault, outcome }: EventOf<"FaultHit">): string {
  switch (outcome.kind) {
    case "operation_fails": {
      const end = outcome.ends === "failed" ? "and is not tried again" : "and then finishes";
      return `by the fault "${fault}" it fails ${outcome.times === 1 ? "once" : `${outcome.times} times`} ${end}`;
    }
    case "start_slower": {
      const longer = [
        ...(outcome.factor === 1 ? [] : [`${outcome.factor} times as long`]),
        ...(outcome.byMs === 0 ? [] : [`${outcome.byMs} ms longer`]),
      ];
      return `by the fault "${fault}" it takes ${longer.join(" and ") || "no longer"}`;
    }
    default:
      return `it met the fault "${fault}"`;
  }
}

function explainCourse(look: Look, operation: Operation, events: readonly RecordedEvent[]): Reason {
  const { state, createdAt } = operation;
  const started = newest(events, "OperationStarted");
  const waited = (startedAt: number) => (startedAt > createdAt ? `it waited ${startedAt - createdAt} ms for others, ` : "it ");
  switch (state.status) {
    case "finished": {
      const finished = newest(events, "OperationFinished");
      const text =
        state.startedAt === state.finishedAt && operation.durationMs === 0 && started === undefined
          ? `it was finished at once`
          : `${waited(state.startedAt)}ran from ${instant(state.startedAt)} and was finished at ${instant(state.finishedAt)}`;
      return {
        about: "state",
        text,
        proof: [
          ...some(started),
          ...(finished === undefined ? some(newest(events, "OperationScheduled")) : [finished, ...effects(look, finished)]),
        ],
      };
    }
    case "failed":
      return {
        about: "state",
        text: `${waited(state.startedAt)}ran from ${instant(state.startedAt)} and failed for good at ${instant(state.failedAt)}`,
        proof: some(newest(events, "OperationFailed")),
      };
    case "cancelled":
      return {
        about: "state",
        text: `it was cancelled at ${instant(state.cancelledAt)}, because what it concerned was deleted`,
        proof: some(newest(events, "OperationCancelled")),
      };
    case "running":
    case "scheduling":
      return explainUnfinished(look, operation);
    default:
      return state satisfies never;
  }
}

export function explainUnfinished(look: Look, operation: Operation): Reason {
  const about = "pending";
  const proof = look.eventsAbout(operation.id, 2);
  const { failures } = operation;
  const faulty =
    failures === undefined ? "" : `, by the fault "${failures.fault}" having failed ${failures.count} times of ${failures.times}`;
  if (operation.state.status === "running") {
    return {
      about,
      text: `${name(operation)} runs until ${instant(operation.state.dueAt)}${faulty}`,
      proof,
    };
  }
  const before = blockersOf(unfinishedOperations(look.world, operation.projectId), operation);
  return { about, text: `${name(operation)} waits for ${before.map(name).join(", ")}`, proof };
}

function name({ action, endpointId, branchId }: Operation): string {
  return `${action} of ${endpointId ?? branchId ?? "the project"}`;
}

export function describe(operation: Operation): string {
  return `${name(operation)} (${operation.state.status})`;
}

export function askedBy({ cause }: Operation, activity: EventOf<"ActivityRecorded"> | undefined): string {
  switch (cause) {
    case "activity": {
      const source = activity?.activity.source === undefined ? "" : ` of "${activity.activity.source}"`;
      return `by a client's ${activity?.activity.kind ?? "activity"}${source} that found the compute asleep`;
    }
    case "autosuspend":
      return "by the autosuspend";
    case "quota":
      return "by a quota of its project that was reached";
    case "restart":
      return "by the update that it was restarted for";
    case "request":
      return "by a request";
    default:
      return cause satisfies never;
  }
}
