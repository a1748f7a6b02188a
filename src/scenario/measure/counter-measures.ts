import type { SimTime } from "../../kernel/time.ts";
import type { MeasureName } from "../file/expectation.ts";
import type { Counters } from "./counters.ts";

/** The measures that follow from the counters of a resource alone. */
type CounterMeasure = Exclude<
  MeasureName,
  | "state"
  | "projects"
  | "branches"
  | "computes"
  | "connections"
  | "operations"
  | "requests"
  | "errors"
  | "events"
>;

export function counterMeasure(name: CounterMeasure, counters: Counters, now: SimTime): number {
  switch (name) {
    case "active_computes":
      return counters.active;
    case "activities":
      return counters.activities;
    case "refused":
      return counters.refused;
    case "cold_starts":
      return counters.coldStarts;
    case "starts":
      return counters.starts;
    case "suspends":
      return counters.suspends;
    case "resizes":
      return counters.resizes;
    case "active_time":
      return counters.activeMs(now);
    case "compute_time":
      return counters.cuMs(now);
    case "wait_mean":
      return counters.meanWaitMs();
    case "wait_p50":
      return counters.waitPercentile(50);
    case "wait_p90":
      return counters.waitPercentile(90);
    case "wait_p99":
      return counters.waitPercentile(99);
    case "wait_max":
      return counters.longestWaitMs();
    default:
      return name satisfies never;
  }
}
