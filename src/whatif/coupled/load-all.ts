import { DAY } from "../../kernel/time.ts";
import { type ComputeArrivals, collectParts, type Period } from "../../traffic/recorded/trace/trace.ts";
import { MAX_DAYS } from "../trace/long-gaps.ts";
import type { Traffic } from "../trace/traffic.ts";

/** Maximum number of requests. They take 16 bytes each, so a coupled simulation stays below 1 GB. */
export const MAX_ARRIVALS = 60_000_000;

/** Throws a RangeError if the period is longer than a report by day, minute or month can be. */
export function checkPeriodLength({ startAt, endAt }: Period): void {
  const days = Math.ceil((endAt - startAt) / DAY);
  if (days > MAX_DAYS)
    throw new RangeError(
      `the trace lasts ${days.toLocaleString("en")} days; at most ${MAX_DAYS.toLocaleString("en")} are supported: select a part with --from and --to`,
    );
}

/**
 * Loads all requests of all computes, as a coupled simulation needs. Throws a RangeError if there are too
 * many.
 */
export function loadArrivals(traffic: Traffic): ComputeArrivals[] {
  let remaining = MAX_ARRIVALS;
  return traffic.computes.map((_, number) => {
    const own = collectParts(traffic.arrivals(number));
    remaining -= own.at.length;
    if (remaining < 0)
      throw new RangeError(
        `the trace has more than ${MAX_ARRIVALS.toLocaleString("en")} requests, too many to simulate computes together: select a part with --from and --to`,
      );
    return own;
  });
}
