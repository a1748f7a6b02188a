import { DAY } from "../../platform/core/time.ts";
import { type ComputeArrivals, collectParts, type Period } from "../../recordings/trace/trace.ts";
import { MAX_DAYS } from "../replay/replay-outcome.ts";
import type { Traffic } from "./known-traffic.ts";

/** Columns take 16 bytes a request: what meets on one clock keeps within a gigabyte. */
export const MAX_ARRIVALS = 60_000_000;

/** Throws a RangeError where a trace lasts longer than days are told: minutes and months are told, too. */
export function checkPeriodLength({ startAt, endAt }: Period): void {
  const days = Math.ceil((endAt - startAt) / DAY);
  if (days > MAX_DAYS)
    throw new RangeError(
      `the trace lasts ${days.toLocaleString("en")} days, and ${MAX_DAYS.toLocaleString("en")} are looked at at most; look at a part of it by --from and --to`,
    );
}

/** All requests of all computes: those that meet on one clock are needed together. Throws a RangeError where they are too many. */
export function loadArrivals(traffic: Traffic): ComputeArrivals[] {
  let remaining = MAX_ARRIVALS;
  return traffic.computes.map((_, number) => {
    const own = collectParts(traffic.arrivals(number));
    remaining -= own.at.length;
    if (remaining < 0)
      throw new RangeError(
        `more than ${MAX_ARRIVALS.toLocaleString("en")} requests are too many for one clock; look at a part of the trace by --from and --to`,
      );
    return own;
  });
}
