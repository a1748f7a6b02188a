import { SECOND, type SimTime } from "../../kernel/time.ts";
import { delayOfSuspendTimeout } from "../../platform/catalog/suspend-timeout.ts";
import type { SuspendDelay } from "../../whatif/gap-curve/delay.ts";
import { RESOLUTION_MS } from "../../whatif/periods/active-periods.ts";
import { changesOf, STARTS } from "../../whatif/periods/compute-operations.ts";
import { DelayLookup } from "../../whatif/periods/delay-lookup.ts";
import type { ComputePast } from "./account-past.ts";
import type { OperationCourse } from "./operation-course.ts";

/**
 * Until when the account shows that each start was used, by the position of the start in the course; NaN where it shows
 * no use. The first request caused the start. A compute that suspends by itself was used until one delay before. If its
 * delay is not known, it may have been used until it was suspended. If it was suspended earlier than its delay, by a call,
 * only the first request is known.
 */
export function knownUse(compute: ComputePast, course: OperationCourse, defaultDelayS: number): Float64Array {
  const { createdAt, endsAt, action, isEffective } = course;
  const usedUntil = new Float64Array(createdAt.length).fill(Number.NaN);
  const delays = delaysOf(compute, defaultDelayS);
  /** When the next suspend begins, or the next start: the end of what the start at hand began. */
  let suspendedAt: SimTime | undefined;
  let startedAgainAt: SimTime | undefined;
  for (let index = createdAt.length - 1; index >= 0; index -= 1) {
    if (isEffective[index] !== 1) continue;
    if (course.suspends(index)) suspendedAt = course.beginsAt[index] as number;
    if (action[index] !== STARTS) continue;
    const [requestedAt, activeAt] = [createdAt[index] as number, endsAt[index] as number];
    const delay = delays.between(requestedAt, suspendedAt ?? startedAgainAt ?? compute.readAt);
    const until =
      suspendedAt !== undefined
        ? usedBefore(activeAt, suspendedAt, delay)
        : startedAgainAt !== undefined
          ? Math.max(activeAt, startedAgainAt)
          : openUntil(compute, activeAt, delay);
    // Neither a creation nor a restart has a request of its own.
    if (until > activeAt || !(isAtCreation(compute, requestedAt) || isRestart(course, index)))
      usedUntil[index] = until;
    suspendedAt = undefined;
    startedAgainAt = course.beginsAt[index] as number;
  }
  return usedUntil;
}

function isAtCreation({ isTypeKnown, created_at }: ComputePast, requestedAt: SimTime): boolean {
  return isTypeKnown && Math.abs(requestedAt - created_at) <= RESOLUTION_MS;
}

function usedBefore(activeAt: SimTime, suspendedAt: SimTime, delay: SuspendDelay | undefined): SimTime {
  if (delay === undefined || delay === "never") return Math.max(activeAt, suspendedAt);
  const idleMs = delay * SECOND;
  const isTooEarly = suspendedAt + RESOLUTION_MS < activeAt + idleMs;
  return isTooEarly ? activeAt : Math.max(activeAt, suspendedAt - idleMs);
}

/** The end of the use of a compute that was active at the last read. */
function openUntil(
  { readAt, lastActiveAt = 0, existsUntil }: ComputePast,
  activeAt: SimTime,
  delay: SuspendDelay | undefined,
): SimTime {
  const end = existsUntil ?? readAt;
  if (delay === undefined || delay === "never") return Math.max(activeAt, end);
  // The last use is at most one delay old: otherwise the compute would have been suspended.
  return Math.max(activeAt, Math.min(end, Math.max(lastActiveAt, end - delay * SECOND)));
}

/** Whether a start comes right after a suspend, as a restart does. */
function isRestart(course: OperationCourse, start: number): boolean {
  if (start === 0 || !course.suspends(start - 1)) return false;
  const [suspendedAt, startedAt] = [course.endsAt[start - 1], course.createdAt[start]] as [number, number];
  return startedAt <= suspendedAt + RESOLUTION_MS && (course.durationMs[start - 1] as number) > 0;
}

function delaysOf({ settings, operations }: ComputePast, defaultDelayS: number): DelayLookup {
  const seen = settings.flatMap(({ first_seen_at, last_seen_at, suspend_timeout_seconds: setting }) => {
    const delay = delayOfSuspendTimeout(setting, defaultDelayS);
    return [
      { at: first_seen_at, delay },
      { at: last_seen_at, delay },
    ];
  });
  return new DelayLookup(seen, changesOf(operations));
}
