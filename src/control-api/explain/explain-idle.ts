import { SECOND } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { refuseOverQuota } from "../../platform/rules/usage/quota.ts";
import type { WorldView } from "../../worlds/world-handle.ts";
import { formatInstant } from "../http/render-object.ts";
import { decisionOf, type EventOf, newestEvent, optional, type Reason } from "./explanation.ts";
import { lastUse } from "./last-use.ts";

/** Explains the cause of the suspend, and since when the compute was unused. */
export function explainIdle(view: WorldView, compute: Compute, events: readonly RecordedEvent[]): Reason {
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

/**
 * Explains a suspend that another server recorded, and that this world has in its past. If the delay caused it, the
 * last use ended one delay before.
 */
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

/** S: a compute suspended by a quota does not start before the next billing period. */
function explainQuota(view: WorldView, compute: Compute, suspended: EventOf<"ComputeSuspended">): Reason {
  const quotaRefusal = refuseOverQuota(view.world, compute.projectId, view.now);
  const now = quotaRefusal === undefined ? "it may start again now" : quotaRefusal.message;
  const text = `${compute.id} has been idle since ${formatInstant(suspended.at)}, when its project reached a quota; ${now}`;
  return { about: "state", text, proof: [suspended] };
}
