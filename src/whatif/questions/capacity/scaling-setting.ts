import type { Random } from "../../../kernel/random-port.ts";
import { type Period, untilDeleted } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { type LoadReadingsSource, loadReadingsOf } from "../../sizes/load-readings-source.ts";
import { type LatencySource, StartLatencies } from "../../units/start-latency.ts";

/** Demand of the requests of a compute. */
export type Demand = {
  /** vCPUs that each request keeps busy while it runs, if the trace does not state it. */
  readonly loadPerRequest: number;
  /** Factor of every load, including recorded ones. */
  readonly loadFactor?: number | undefined;
  /** Memory that each request takes while it runs. */
  readonly memoryGbPerRequest?: number | undefined;
  /** Working set in GB, needed while the compute is active, regardless of running requests. */
  readonly workingSetGb?: number | undefined;
};

/** Settings for starts and suspends of a compute. `period` ends earlier if the compute was deleted. */
export type ScalingSetting = {
  readonly period: Period;
  readonly delay: SuspendDelay;
  readonly latencies: LatencySource;
  readonly readings: LoadReadingsSource;
};

/** The setting of a compute under its current delay. */
export function currentScalingSetting(
  question: Question,
  period: Period,
  compute: number,
  random: Random,
): ScalingSetting & { readonly latencies: StartLatencies } {
  return {
    period: untilDeleted(period, question.deletedAt?.[compute]),
    delay: effectiveDelay(question, question.currentDelay, compute),
    latencies: new StartLatencies(question.latency, random, compute),
    readings: loadReadingsOf(random, compute, question.scaling?.starts[compute]),
  };
}
