import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/curve.ts";
import type { LoadReadingsSource } from "../../sizes/load-readings-source.ts";
import type { LatencySource } from "../../units/start-latency.ts";

/** What requests need of their compute. */
export type Demand = {
  /** vCPUs that each request keeps busy while it runs, where the trace does not contain it. */
  readonly loadPerRequest: number;
  /** Multiplies every load, also recorded ones. */
  readonly loadFactor?: number | undefined;
  /** Memory that each request takes while it runs. */
  readonly memoryGbPerRequest?: number | undefined;
  /** Needed as long as the compute is active, whatever runs. */
  readonly workingSetGb?: number | undefined;
};

/** When a compute starts and suspends. `period` ends earlier where the compute was deleted. */
export type ScalingSetting = {
  readonly period: Period;
  readonly delay: SuspendDelay;
  readonly latencies: LatencySource;
  readonly readings: LoadReadingsSource;
};
