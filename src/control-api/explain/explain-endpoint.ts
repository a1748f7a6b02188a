import { unwrap } from "../../http/request.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";
import { isOpenEnded } from "../../platform/model/activity.ts";
import type { ActivePhase, Compute } from "../../platform/model/compute.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { expectedEnds, suspendsCompute } from "../../platform/model/operation.ts";
import { idleSince, suspendDelaySeconds, suspendDueAt } from "../../platform/rules/compute/autosuspend.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { locks } from "../../platform/rules/operation/locked-by-operations.ts";
import { unfinishedOperations } from "../../platform/rules/operation/schedule-operations.ts";
import { isStartedByTraffic } from "../../platform/rules/operation/start-by-traffic.ts";
import { refuseOverQuota } from "../../platform/rules/usage/quota.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import type { WorldView } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import { describeOperation, explainUnfinished, requestedBy } from "./explain-operation.ts";
import {
  decisionOf,
  type EventOf,
  MAX_EVENTS,
  newestEvent,
  optional,
  type Reason,
  renderExplanation,
} from "./explanation.ts";

/**
 * Explains the state of a compute: what it waits for, what started it, when it suspends, and whether it can
 * be changed.
 */
export function explainEndpoint(view: WorldView, endpointId: string) {
  const compute = unwrap(findReachableCompute(view.world, endpointId));
  // Lifecycle events are read separately, so that the work of clients does not push them out of the limit.
  const found = [
    ...view.eventsAbout(endpointId, MAX_EVENTS, "lifecycle"),
    ...view.eventsAbout(endpointId, MAX_EVENTS),
  ];
  const bySeq = new Map(found.map((event) => [event.seq, event]));
  const events = [...bySeq.values()].sort((a, b) => b.seq - a.seq);
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

function explainIdle(view: WorldView, compute: Compute, events: readonly RecordedEvent[]): Reason {
  const about = "state";
  const suspended = newestEvent(events, "ComputeSuspended");
  const created = newestEvent(events, "ComputeCreated");
  if (suspended === undefined || compute.suspendedAt === undefined) {
    const text =
      compute.suspendedAt === undefined
        ? `${compute.id} is idle: it was created disabled and has never started`
        : `${compute.id} has been idle since ${formatInstant(compute.suspendedAt)}; the event that suspended it was truncated or is too far back`;
    return { about, text, proof: optional(created) };
  }
  const decision = decisionOf(view, suspended);
  if (suspended.cause === "quota") return explainQuota(view, compute, suspended);
  if (suspended.cause === "recorded") return explainRecordedSuspend(compute, suspended);
  if (suspended.cause !== "autosuspend") {
    const update = decision.find(({ type }) => type === "OperationFinished");
    return {
      about,
      text: `${compute.id} has been idle since ${formatInstant(suspended.at)}: a request suspended it, or changed it`,
      proof: [...optional(update), suspended],
    };
  }
  const use = lastUse(events, suspended.seq);
  // A client that arrived since then has moved lastActiveAt, so the previous value has to come from the
  // events.
  const last = compute.lastActiveAt ?? 0;
  const since = last <= suspended.at ? Math.max(last, compute.startedAt ?? compute.createdAt) : use.since;
  const proof = since === use.since ? use.proof : undefined;
  const unused =
    since === undefined
      ? ""
      : `: nothing had used it since ${formatInstant(since)}, for ${(suspended.at - since) / SECOND} s`;
  return {
    about,
    text: `${compute.id} has been idle since ${formatInstant(suspended.at)}${unused}`,
    proof: [...optional(proof), suspended],
  };
}

/** Of the past that was read from another server. The end of its use follows from the delay, if that is known. */
function explainRecordedSuspend(
  { id, lastActiveAt = 0 }: Compute,
  suspended: EventOf<"ComputeSuspended">,
): Reason {
  const use =
    lastActiveAt < suspended.at
      ? `; if its delay suspended it, its last use ended at ${formatInstant(lastActiveAt)}`
      : "";
  const text = `${id} has been idle since ${formatInstant(suspended.at)}, as recorded by the platform that this past was read from${use}`;
  return { about: "state", text, proof: [suspended] };
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

/** S: a compute suspended by a quota does not start before the next billing period. */
function explainQuota(view: WorldView, compute: Compute, suspended: EventOf<"ComputeSuspended">): Reason {
  const quotaRefusal = refuseOverQuota(view.world, compute.projectId, view.now);
  const now = quotaRefusal === undefined ? "it may start again now" : quotaRefusal.message;
  const text = `${compute.id} has been idle since ${formatInstant(suspended.at)}, when its project reached a quota; ${now}`;
  return { about: "state", text, proof: [suspended] };
}

/**
 * When a compute was last used before event `before`, since its last start, and the event that proves it: an
 * activity or the start.
 */
function lastUse(
  events: readonly RecordedEvent[],
  before: number,
): { readonly since?: number; readonly proof?: RecordedEvent } {
  const activated = newestEvent(events, "ComputeActivated", ({ seq }) => seq < before);
  if (activated === undefined) return {};
  let use: { since: number; proof: RecordedEvent } = { since: activated.at, proof: activated };
  const ends = new Map<string, EventOf<"ActivityRecorded">>();
  // Newest first, so the end of a connection is known before its activity.
  for (const event of events) {
    if (event.seq >= before) continue;
    if (event.type === "SpanEnded" && event.seq > activated.seq && event.until >= use.since) {
      if (event.until > use.since || use.proof === activated) use = { since: event.until, proof: event };
      continue;
    }
    if (event.type !== "ActivityRecorded") continue;
    const { kind, connectionId } = event.activity;
    if (kind === "disconnect") {
      if (event.seq > activated.seq) ends.set(connectionId ?? "", event);
      continue;
    }
    // Activity that waited for the start is served once the start ends.
    const servedAt =
      event.seq > activated.seq
        ? event.at
        : event.at + event.waitedMs === activated.at
          ? activated.at
          : undefined;
    if (servedAt === undefined) continue;
    const end = connectionId === undefined ? undefined : ends.get(connectionId);
    const lastsUntil = isOpenEnded(event.activity)
      ? (end?.at ?? servedAt)
      : servedAt + (kind === "connect" ? 0 : (event.activity.durationMs ?? 0));
    const isTruncated = end !== undefined && end.at <= lastsUntil;
    const until = isTruncated ? end.at : lastsUntil;
    if (until > use.since || (until === use.since && use.proof === activated))
      use = { since: until, proof: isTruncated ? end : event };
  }
  return use;
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

function explainSuspend(view: WorldView, compute: Compute, events: readonly RecordedEvent[]): Reason[] {
  const { phase } = compute;
  const isBeingSuspended = unfinishedOperations(view.world, compute.projectId).some(
    (operation) => operation.endpointId === compute.id && suspendsCompute(operation),
  );
  if (phase.state !== "active" || phase.suspending || isBeingSuspended) return [];
  const profile = profileOfWorld(view.world);
  const delayS = suspendDelaySeconds(profile, compute.suspendTimeoutSeconds);
  if (delayS === undefined) {
    const set =
      newestEvent(events, "ComputeUpdated", ({ changes }) => changes.suspendTimeoutSeconds !== undefined) ??
      newestEvent(events, "ComputeCreated");
    return [
      {
        about: "suspend",
        text: "it never suspends automatically: suspend_timeout_seconds is -1",
        proof: optional(set),
      },
    ];
  }
  const since = idleSince(compute, phase);
  const dueAt = suspendDueAt(compute, profile);
  if (phase.spanSince !== undefined) return [explainSpan(phase.spanSince, events)];
  if (since === undefined || dueAt === undefined) return [explainTransactions(view, compute, phase, events)];
  const use = lastUse(events, Number.POSITIVE_INFINITY);
  const busy =
    since > view.now
      ? `a query runs until ${formatInstant(since)}`
      : `nothing has used it since ${formatInstant(since)}`;
  const when = dueAt <= view.now ? "now" : `at ${formatInstant(dueAt)}, in ${(dueAt - view.now) / SECOND} s`;
  const text = `${busy}; it suspends after ${delayS} s without activity, ${when}`;
  return [{ about: "suspend", text, proof: use.since === since ? optional(use.proof) : [] }];
}

/** Work of Postgres clients, which ends when all of them have been idle for a moment. */
function explainSpan(since: SimTime, events: readonly RecordedEvent[]): Reason {
  const text = `Postgres clients have worked since ${formatInstant(since)}; autosuspend counts from the end of their work`;
  return { about: "suspend", text, proof: optional(newestEvent(events, "SpanBegan")) };
}

function explainTransactions(
  view: WorldView,
  compute: Compute,
  { openTransactions }: ActivePhase,
  events: readonly RecordedEvent[],
): Reason {
  const open = [...view.world.connections.forCompute(compute.id).values()].filter(
    ({ inTransaction, waiting }) => inTransaction && !waiting,
  );
  const begun = open.flatMap(({ id }) =>
    optional(newestEvent(events, "ActivityRecorded", ({ activity }) => activity.connectionId === id)),
  );
  const ids = open.map(({ id }) => `"${id}"`).join(", ");
  const text =
    openTransactions === 1
      ? `an open transaction keeps it active until it ends: connection ${ids}`
      : `${openTransactions} open transactions keep it active until they end: connections ${ids}`;
  return { about: "suspend", text, proof: begun };
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
