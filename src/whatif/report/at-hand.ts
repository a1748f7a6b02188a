import type { Requests } from "../trace.ts";
import { allRequests, type Traffic } from "./traffic.ts";

/** Columns take 16 bytes a request: what meets on one clock keeps within a gigabyte. */
export const MOST_REQUESTS = 60_000_000;

/** All requests of all computes: those that meet on one clock are needed together. Throws a RangeError where they are too many. */
export function atHand(traffic: Traffic): Requests[] {
  let left = MOST_REQUESTS;
  return traffic.computes.map((_, number) => {
    const own = allRequests(traffic, number);
    left -= own.at.length;
    if (left < 0)
      throw new RangeError(
        `more than ${MOST_REQUESTS.toLocaleString("en")} requests are too many for one clock; look at a part of the trace by --from and --to`,
      );
    return own;
  });
}
