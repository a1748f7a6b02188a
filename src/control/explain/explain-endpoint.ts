import { found } from "../../http/request.ts";
import { findReachable, isOpenEnded } from "../../platform/compute/activity.ts";
import { delaySeconds, idleSince, suspendDueAt } from "../../platform/compute/autosuspend.ts";
import type { ActivePhase, Compute } from "../../platform/compute/compute.ts";
import { SECOND } from "../../platform/core/time.ts";
import { profileOf } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { expectedEnds, unfinishedOperations } from "../../platform/operation/operation.ts";
import { refuseOverQuota } from "../../platform/project/quota.ts";
import type { Look } from "../../worlds/world-handle.ts";
import { instant } from "../routes/records.ts";
import { askedBy, describe, explainUnfinished } from "./explain-operation.ts";
import { decisionOf, type EventOf, MAX_EVENTS, newest, type Reason, render, some } from "./explanation.ts";

/** Why a compute is as it is, what it waits for, what woke it, when it goes to sleep, and whether it can be changed. */
export function explainEndpoint(look: Look, endpointId: string) {
  const compute = found(findReachable(look.world, endpointId));
  // Of its life, so that thousands of queries do not hide it; of its use, as far back as it is likely to matter.
  const bySeq = new Map(
    [...look.eventsAbout(endpointId, MAX_EVENTS, "life"), ...look.eventsAbout(endpointId, MAX_EVENTS)].map((event) => [event.seq, event]),
  );
  const events = [...bySeq.values()].sort((a, b) => b.seq - a.seq);
  const reasons = [
    explainState(look, compute, events),
    ...explainDisabled(compute, events),
    ...explainPending(look, compute),
    ...explainWake(events),
    ...explainSuspend(look, compute, events),
    explainChanges(look, compute),
  ];
  return { endpoint_id: compute.id, project_id: compute.projectId, state: compute.phase.state, ...render(look, reasons) };
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
    case "idle":
      return explainIdle(look, compute, events);
    case "init":
      return { about, text: `${compute.id} is new and has not started yet`, proof: some(newest(events, "ComputeCreated")) };
    default:
      return phase satisfies never;
  }
}

function explainIdle(look: Look, compute: Compute, events: readonly RecordedEvent[]): Reason {
  const about = "state";
  const suspended = newest(events, "ComputeSuspended");
  const created = newest(events, "ComputeCreated");
  if (suspended === undefined || compute.suspendedAt === undefined) {
    const text =
      compute.suspendedAt === undefined
        ? `${compute.id} is idle: it was made disabled and has not been started`
        : `${compute.id} has been idle since ${instant(compute.suspendedAt)}; what suspended it is forgotten, or lies far back`;
    return { about, text, proof: some(created) };
  }
  const decision = decisionOf(look, suspended);
  if (suspended.cause === "quota") return explainQuota(look, compute, suspended);
  if (suspended.cause !== "autosuspend") {
    const update = decision.find(({ type }) => type === "OperationFinished");
    return {
      about,
      text: `${compute.id} has been idle since ${instant(suspended.at)}: a request suspended it, or changed it`,
      proof: [...some(update), suspended],
    };
  }
  const use = lastUse(events, suspended.seq);
  // A client that came since then has moved its last activity; what it was before, only events tell.
  const last = compute.lastActiveAt ?? 0;
  const since = last <= suspended.at ? Math.max(last, compute.startedAt ?? compute.createdAt) : use.since;
  const proof = since === use.since ? use.proof : undefined;
  const unused = since === undefined ? "" : `: nothing had used it since ${instant(since)}, for ${(suspended.at - since) / SECOND} s`;
  return { about, text: `${compute.id} has been idle since ${instant(suspended.at)}${unused}`, proof: [...some(proof), suspended] };
}

/** S: a disabled compute "cannot be enabled by a connection". */
function explainDisabled({ id, disabled }: Compute, events: readonly RecordedEvent[]): Reason[] {
  if (!disabled) return [];
  const proof = newest(events, "ComputeUpdated", ({ changes }) => changes.disabled === true) ?? newest(events, "ComputeCreated");
  return [{ about: "wake", text: `${id} is disabled: nothing wakes it before it is enabled again`, proof: some(proof) }];
}

/** S: what a quota has suspended does not start before the next billing period. */
function explainQuota(look: Look, compute: Compute, suspended: EventOf<"ComputeSuspended">): Reason {
  const still = refuseOverQuota(look.world, compute.projectId, look.now);
  const now = still === undefined ? "by now it may start again" : still.message;
  const text = `${compute.id} has been idle since ${instant(suspended.at)}, when its project reached a quota; ${now}`;
  return { about: "state", text, proof: [suspended] };
}

/** When a compute was used last in the life that lasts at `before`, and the event that tells of it: an activity, or the start itself. */
function lastUse(events: readonly RecordedEvent[], before: number): { readonly since?: number; readonly proof?: RecordedEvent } {
  const activated = newest(events, "ComputeActivated", ({ seq }) => seq < before);
  if (activated === undefined) return {};
  let use: { since: number; proof: RecordedEvent } = { since: activated.at, proof: activated };
  const ends = new Map<string, EventOf<"ActivityRecorded">>();
  // The newest first: so the end of a connection is known before what went through it.
  for (const event of events) {
    if (event.type !== "ActivityRecorded" || event.seq >= before) continue;
    const { kind, connectionId } = event.activity;
    if (kind === "disconnect") {
      if (event.seq > activated.seq) ends.set(connectionId ?? "", event);
      continue;
    }
    // What waited for the start is served from its end.
    const servedAt = event.seq > activated.seq ? event.at : event.at + event.waitedMs === activated.at ? activated.at : undefined;
    if (servedAt === undefined) continue;
    const end = connectionId === undefined ? undefined : ends.get(connectionId);
    const lastsUntil = isOpenEnded(event.activity)
      ? (end?.at ?? servedAt)
      : servedAt + (kind === "connect" ? 0 : (event.activity.durationMs ?? 0));
    const isCut = end !== undefined && end.at <= lastsUntil;
    const until = isCut ? end.at : lastsUntil;
    if (until > use.since || (until === use.since && use.proof === activated)) use = { since: until, proof: isCut ? end : event };
  }
  return use;
}

function explainPending(look: Look, compute: Compute): Reason[] {
  return unfinishedOperations(look.world, compute.projectId)
    .filter((operation) => operation.endpointId === compute.id)
    .map((operation) => explainUnfinished(look, operation));
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
  const isBeingSuspended = unfinishedOperations(look.world, compute.projectId).some(
    ({ endpointId, action }) => endpointId === compute.id && action === "suspend_compute",
  );
  if (phase.state !== "active" || phase.suspending || isBeingSuspended) return [];
  const profile = profileOf(look.world);
  const delayS = delaySeconds(profile, compute.suspendTimeoutSeconds);
  if (delayS === undefined) {
    const set =
      newest(events, "ComputeUpdated", ({ changes }) => changes.suspendTimeoutSeconds !== undefined) ?? newest(events, "ComputeCreated");
    return [{ about: "suspend", text: "it never goes to sleep by itself: suspend_timeout_seconds is -1", proof: some(set) }];
  }
  const since = idleSince(compute, phase);
  const dueAt = suspendDueAt(compute, profile);
  if (since === undefined || dueAt === undefined) return [explainTransactions(look, compute, phase, events)];
  const use = lastUse(events, Number.POSITIVE_INFINITY);
  const busy = since > look.now ? `a query runs until ${instant(since)}` : `nothing has used it since ${instant(since)}`;
  const when = dueAt <= look.now ? "now" : `at ${instant(dueAt)}, in ${(dueAt - look.now) / SECOND} s`;
  const text = `${busy}, and after ${delayS} s without activity it goes to sleep: ${when}`;
  return [{ about: "suspend", text, proof: use.since === since ? some(use.proof) : [] }];
}

function explainTransactions(look: Look, compute: Compute, { openTransactions }: ActivePhase, events: readonly RecordedEvent[]): Reason {
  const open = [...look.world.connections.of(compute.id).values()].filter(({ inTransaction, waiting }) => inTransaction && !waiting);
  const begun = open.flatMap(({ id }) => some(newest(events, "ActivityRecorded", ({ activity }) => activity.connectionId === id)));
  const ids = open.map(({ id }) => `"${id}"`).join(", ");
  const text =
    openTransactions === 1
      ? `an open transaction keeps it awake until it ends: connection ${ids}`
      : `${openTransactions} open transactions keep it awake until they end: connections ${ids}`;
  return { about: "suspend", text, proof: begun };
}

/** C, D: whoever would schedule more operations gets 423 while some are unfinished. */
function explainChanges(look: Look, compute: Compute): Reason {
  const operations = unfinishedOperations(look.world, compute.projectId);
  if (operations.length === 0)
    return { about: "changes", text: "changes are accepted: its project has no unfinished operations", proof: [] };
  const until = Math.max(...expectedEnds(operations, look.now));
  // A start that follows by itself takes a time that is not drawn yet.
  const about = operations.some(({ thenStart }) => thenStart) ? "until some time after" : "until";
  const proof = operations.flatMap(({ id }) => look.eventsAbout(id, 1));
  const text = `changes of its project are answered 423 ${about} ${instant(until)}: ${operations.map(describe).join(", ")}`;
  return { about: "changes", text, proof };
}
