import { timestamp } from "../../http/timestamps.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { Compute } from "../../platform/model/compute.ts";
import type { UsageTotals } from "../../platform/model/usage-totals.ts";

export const CREATION_SOURCE = "console"; // S

/** For `satisfies`: allows only fields of the public document. Undefined fields are absent in JSON. */
export type AllowUndefined<T> = { [K in keyof T]?: T[K] | undefined };

export function optionalTimestamp(at: SimTime | undefined): string | undefined {
  return at === undefined ? undefined : timestamp(at);
}

/** When the second of `now` ends (exclusive). */
export function nextSecond(now: SimTime): SimTime {
  return (Math.floor(now / SECOND) + 1) * SECOND;
}

/** When a total that grows by `perMs` has its next whole second; at the latest, or a little earlier. */
function nextWholeSecond(totalMs: number, perMs: number, now: SimTime): SimTime {
  if (perMs <= 0) return Number.POSITIVE_INFINITY;
  const missing = SECOND - (totalMs - wholeSeconds(totalMs) * SECOND);
  return now + Math.max(1, Math.floor(missing / perMs));
}

/** When time alone changes the whole seconds of a usage up to `now` (exclusive). */
export function usageUntil(
  { activeMs, cuMs }: UsageTotals,
  computes: Iterable<Compute>,
  now: SimTime,
): SimTime {
  let [active, size] = [0, 0];
  for (const { phase } of computes) {
    if (phase.state !== "active") continue;
    active += 1;
    size += phase.sizeCu;
  }
  return Math.min(nextWholeSecond(activeMs, active, now), nextWholeSecond(cuMs, size, now));
}

/** The API counts whole seconds; the world counts milliseconds. */
export function wholeSeconds(ms: number): number {
  return Math.floor(ms / SECOND);
}
