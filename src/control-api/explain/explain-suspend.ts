import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { ActivePhase, Compute } from "../../platform/model/compute.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { suspendsCompute } from "../../platform/model/operation.ts";
import { idleSince, suspendDelaySeconds, suspendDueAt } from "../../platform/rules/compute/autosuspend.ts";
import { unfinishedOperations } from "../../platform/rules/operation/schedule-operations.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import type { WorldView } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import { newestEvent, optional, type Reason } from "./explanation.ts";
import { lastUse } from "./last-use.ts";

/** When an active compute suspends, or what keeps it active. */
export function explainSuspend(
  view: WorldView,
  compute: Compute,
  events: readonly RecordedEvent[],
): Reason[] {
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
