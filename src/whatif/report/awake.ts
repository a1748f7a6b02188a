import { SECOND } from "../../platform/time.ts";
import type { Delay } from "../curve.ts";
import type { Period, Requests } from "../trace.ts";

/** A time in which a compute is awake, and the requests that it serves in it: from the index `from` up to, not including, `to`. */
export type Awake = { readonly period: Period; readonly from: number; readonly to: number };

/** When a compute is awake under a delay, where starts take no time. */
export function awakeTimes({ at, durationMs }: Requests, { endAt }: Period, delay: Delay): Awake[] {
  const delayMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
  const awake: Awake[] = [];
  let [from, busyEnd] = [0, 0];
  const end = (to: number) =>
    awake.push({ period: { startAt: at[from] as number, endAt: Math.min(Math.max(endAt, busyEnd), busyEnd + delayMs) }, from, to });
  for (let i = 0; i < at.length; i += 1) {
    const arrival = at[i] as number;
    if (i > 0 && arrival > busyEnd + delayMs) {
      end(i);
      from = i;
    }
    busyEnd = Math.max(busyEnd, arrival + (durationMs[i] as number));
  }
  if (at.length > 0) end(at.length);
  return awake;
}
