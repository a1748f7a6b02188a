import { found } from "../http/request.ts";
import { findReachable } from "../platform/activity.ts";
import { delaySeconds, idleSince, suspendDueAt } from "../platform/autosuspend.ts";
import type { ActivePhase, Compute } from "../platform/compute.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { expectedReady, type Operation, unfinishedOperations } from "../platform/operation.ts";
import { refuse } from "../platform/refusals.ts";
import { SECOND } from "../platform/time.ts";
import { profileOf } from "../platform/world.ts";
import type { Look } from "../worlds/world-handle.ts";
import { instant, record } from "./records.ts";

/** A statement about a world, and the events that prove it. */
type Reason = {
  readonly about: "state" | "pending" | "wake" | "suspend" | "changes";
  readonly text: string;
  readonly proof: readonly RecordedEvent[];
};

type EventOf<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

/** So far back is looked for what led to the present state of an object. */
const MAX_EVENTS = 1_000;

/** Why a compute is as it is, what it waits for, what woke it, when it goes to sleep, and whether it can be changed. */
export function explainEndpoint(look: Look, endpointId: string) {
  const compute = found(findReachable(look.world, endpointId));
  const events = look.eventsAbout(endpointId, MAX_EVENTS);
  const reasons = [
    explainState(look, compute, events),
    ...explainPending(look, compute),
    ...explainWake(events),
    ...explainSuspend(look, compute, events),
    explainChanges(look, compute),
  ];
  return { endpoint_id: compute.id, project_id: compute.projectId, state: compute.phase.state, ...render(look, reasons) };
}

/** What asked for an operation, what it waited for, how long it takes, and what came of it. */
export function explainOperation(look: Look, operationId: string) {
  const events = [...look.eventsAbout(operationId, MAX_EVENTS)].reverse();
  const scheduled = newest(events, "OperationScheduled", ({ operation }) => operation.id === operationId);
  if (scheduled === undefined) return found(refuse("OPERATION_NOT_FOUND", `operation "${operationId}" not found`));
  const { operation } = scheduled;
  const reasons: Reason[] = [
    {
      about: "state",
      text: `${describe(operation)} was scheduled at ${instant(scheduled.at)}, ${askedBy(operation, activityOf(look, scheduled))}`,
      proof: [...decisionOf(look, scheduled), scheduled].filter((event, index, all) => all.indexOf(event) === index),
    },
  ];
  const { state } = look.world.operations.get(operationId) ?? operation;
  for (const event of events) {
    if (event.type === "OperationStarted") {
      const waitedMs = event.at - scheduled.at;
      reasons.push({
        about: "state",
        text: `it waited ${waitedMs} ms for the ones before it and has run since ${instant(event.at)}`,
        proof: [event],
      });
    }
    if (event.type === "OperationFinished")
      reasons.push({ about: "state", text: `it finished at ${instant(event.at)}`, proof: [event, ...effects(look, event)] });
    if (event.type === "OperationCancelled") {
      reasons.push({
        about: "state",
        text: `it was cancelled at ${instant(event.at)}, because what it concerned was deleted`,
        proof: [event],
      });
    }
  }
  if (look.world.operations.get(operationId) !== undefined) reasons.push(explainUnfinished(look, { ...operation, state }));
  const last = events.at(-1);
  const status = last?.type === "OperationFinished" ? "finished" : last?.type === "OperationCancelled" ? "cancelled" : state.status;
  return { operation_id: operationId, project_id: operation.projectId, action: operation.action, status, ...render(look, reasons) };
}

function render({ now }: Look, reasons: readonly Reason[]) {
  const proofs = new Map(reasons.flatMap(({ proof }) => proof.map((event) => [event.seq, event])));
  return {
    at: instant(now),
    summary: `${reasons.map(({ text }) => text).join(". ")}.`,
    reasons: reasons.map(({ about, text, proof }) => ({ about, text, events: proof.map(({ seq }) => seq) })),
    events: [...proofs.values()].sort((a, b) => a.seq - b.seq).map((event) => record(event)),
  };
}

function explainState(look: Look, compute: Compute, events: readonly RecordedEvent[]): Reason {
  const { phase } = compute;
  const about = "state";
  switch (phase.state) {
    case "active": {
      const activated = newest(events, "ComputeActivated");
      return {
        about,
        text: `${compute.id} has been active since ${instant(phase.startedAt)}, with ${phase.sizeCu} CU`,
        proof: some(activated),
      };
    }
    case "idle": {
      const suspended = newest(events, "ComputeSuspended");
      if (suspended === undefined) {
        return {
          about,
          text: `${compute.id} is idle: it was made disabled and never started`,
          proof: some(newest(events, "ComputeCreated")),
        };
      }
      const last = newest(events, "ActivityRecorded", ({ seq }) => seq < suspended.seq);
      const delayS = delaySeconds(profileOf(look.world), compute.suspendTimeoutSeconds);
      const why = {
        autosuspend: `nothing had used it since ${instant(compute.lastActiveAt ?? compute.startedAt ?? compute.createdAt)}, and its delay is ${delayS} s now`,
        request: "a request suspended it, or a change of it did",
        restart: "a restart suspended it",
        activity: "it was suspended for a client that came",
      }[suspended.cause];
      return {
        about,
        text: `${compute.id} has been idle since ${instant(suspended.at)}: ${why}`,
        proof: [...(suspended.cause === "autosuspend" ? some(last) : []), suspended],
      };
    }
    case "init":
      return { about, text: `${compute.id} is new and has not started yet`, proof: some(newest(events, "ComputeCreated")) };
    default:
      return phase satisfies never;
  }
}

function explainPending(look: Look, compute: Compute): Reason[] {
  return unfinishedOperations(look.world, compute.projectId)
    .filter((operation) => operation.endpointId === compute.id)
    .map((operation) => explainUnfinished(look, operation));
}

function explainUnfinished(look: Look, operation: Operation): Reason {
  const about = "pending";
  const proof = look.eventsAbout(operation.id, 2);
  if (operation.state.status === "running") {
    return { about, text: `${describe(operation)} runs and ends at ${instant(operation.state.dueAt)}`, proof };
  }
  const before = unfinishedOperations(look.world, operation.projectId).filter(({ number }) => number < operation.number);
  return { about, text: `${describe(operation)} waits for ${before.map(describe).join(", ")}`, proof };
}

function explainWake(events: readonly RecordedEvent[]): Reason[] {
  const start = newest(events, "OperationScheduled", ({ operation }) => operation.action === "start_compute");
  if (start === undefined) return [];
  const activity = newest(events, "ActivityRecorded", ({ decision }) => decision === start.decision);
  const text = `its last start was asked for at ${instant(start.at)}, ${askedBy(start.operation, activity)}`;
  return [{ about: "wake", text, proof: [...some(activity), start] }];
}

function explainSuspend(look: Look, compute: Compute, events: readonly RecordedEvent[]): Reason[] {
  const { phase } = compute;
  if (phase.state !== "active" || phase.suspending) return [];
  const profile = profileOf(look.world);
  const delayS = delaySeconds(profile, compute.suspendTimeoutSeconds);
  const last = newest(events, "ActivityRecorded");
  if (delayS === undefined) {
    const set =
      newest(events, "ComputeUpdated", ({ changes }) => changes.suspendTimeoutSeconds !== undefined) ?? newest(events, "ComputeCreated");
    return [{ about: "suspend", text: "it never goes to sleep by itself: suspend_timeout_seconds is -1", proof: some(set) }];
  }
  const since = idleSince(compute, phase);
  const dueAt = suspendDueAt(compute, profile);
  if (since === undefined || dueAt === undefined) return [explainTransactions(look, compute, phase, events)];
  const busy = since > look.now ? `a query runs until ${instant(since)}` : `nothing has used it since ${instant(since)}`;
  const text = `${busy}, and after ${delayS} s without activity it goes to sleep: at ${instant(dueAt)}, in ${(dueAt - look.now) / SECOND} s`;
  return [{ about: "suspend", text, proof: some(last ?? newest(events, "ComputeActivated")) }];
}

function explainTransactions(look: Look, compute: Compute, { openTransactions }: ActivePhase, events: readonly RecordedEvent[]): Reason {
  const open = look.world.connections
    .by("endpoint", compute.id)
    .toArray()
    .filter((connection) => connection.inTransaction && !connection.waiting);
  const begun = open.flatMap(({ id }) => some(newest(events, "ActivityRecorded", ({ activity }) => activity.connectionId === id)));
  const names = open.map(({ id }) => `"${id}"`).join(", ");
  return {
    about: "suspend",
    text: `${openTransactions} open transactions keep it awake until they end: connection ${names}`,
    proof: begun,
  };
}

/** C, D: whoever would schedule more operations gets 423 while some are unfinished. */
function explainChanges(look: Look, compute: Compute): Reason {
  const operations = unfinishedOperations(look.world, compute.projectId);
  if (operations.length === 0)
    return { about: "changes", text: "changes are accepted: its project has no unfinished operations", proof: [] };
  const until = operations.reduce(
    (latest, { endpointId, state }) =>
      endpointId === undefined
        ? Math.max(latest, state.status === "running" ? state.dueAt : latest)
        : Math.max(latest, expectedReady(operations, endpointId, look.now)),
    look.now,
  );
  const proof = operations.flatMap(({ id }) => look.eventsAbout(id, 1));
  const text = `changes of its project are answered 423 until about ${instant(until)}: ${operations.map(describe).join(", ")}`;
  return { about: "changes", text, proof };
}

function describe({ action, endpointId, branchId, state }: Operation): string {
  return `${action} of ${endpointId ?? branchId ?? "the project"} (${state.status})`;
}

function askedBy({ cause }: Operation, activity: EventOf<"ActivityRecorded"> | undefined): string {
  switch (cause) {
    case "activity": {
      const source = activity?.activity.source === undefined ? "" : ` of "${activity.activity.source}"`;
      return `by a client's ${activity?.activity.kind ?? "activity"}${source} that found the compute asleep`;
    }
    case "autosuspend":
      return "by the autosuspend";
    case "restart":
      return "by the update that it was restarted for";
    case "request":
      return "by a request";
    default:
      return cause satisfies never;
  }
}

/** What else was decided with an event: what asked for it stands there. */
function decisionOf(look: Look, { decision, seq }: RecordedEvent): readonly RecordedEvent[] {
  return seq === decision ? [] : look.events(decision - 1, 1);
}

function activityOf(look: Look, event: RecordedEvent): EventOf<"ActivityRecorded"> | undefined {
  const [first] = decisionOf(look, event);
  return first?.type === "ActivityRecorded" ? first : undefined;
}

/** What came of an event in the same decision, for as long as that is next to it. */
function effects(look: Look, { seq, decision }: RecordedEvent): readonly RecordedEvent[] {
  return look.events(seq, MAX_EFFECTS).filter((event) => event.decision === decision && event.type !== "OperationStarted");
}

const MAX_EFFECTS = 5;

function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}

function newest<Type extends RecordedEvent["type"]>(
  events: readonly RecordedEvent[],
  type: Type,
  fits: (event: EventOf<Type>) => boolean = () => true,
): EventOf<Type> | undefined {
  return events.find((event): event is EventOf<Type> => event.type === type && fits(event as EventOf<Type>));
}
