import { DAY } from "../../platform/core/time.ts";
import { allOf, type Period, type Requests } from "../../recordings/trace/trace.ts";
import { MOST_DAYS } from "../replay/replay-outcome.ts";
import type { Traffic } from "./known-traffic.ts";

/** Columns take 16 bytes a request: what meets on one clock keeps within a gigabyte. */
export const MOST_REQUESTS = 60_000_000;

/** Throws a RangeError where a trace lasts longer than days are told: minutes and months are told, too. */
export function checkLength({ startAt, endAt }: Period): void {
  const days = Math.ceil((endAt - startAt) / DAY);
  if (days > MOST_DAYS)
    throw new RangeError(
      `the trace lasts ${days.toLocaleString("en")} days, and ${MOST_DAYS.toLocaleString("en")} are looked at at most; look at a part of it by --from and --to`,
    );
}

/** All requests of all computes: those that meet on one clock are needed together. Throws a RangeError where they are too many. */
export function atHand(traffic: Traffic): Requests[] {
  let left = MOST_REQUESTS;
  return traffic.computes.map((_, number) => {
    const own = allOf(traffic.requests(number));
    left -= own.at.length;
    if (left < 0)
      throw new RangeError(
        `more than ${MOST_REQUESTS.toLocaleString("en")} requests are too many for one clock; look at a part of the trace by --from and --to`,
      );
    return own;
  });
}
