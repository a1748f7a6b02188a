import type { Random } from "../../../kernel/random-port.ts";
import { type Period, untilDeleted } from "../../../traffic/recorded/trace/trace.ts";
import type { SuspendDelay } from "../../gap-curve/delay.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { type LoadReadingsSource, loadReadingsOf } from "../../sizes/load-readings-source.ts";
import { type LatencySource, StartLatencies } from "../../units/start-latency.ts";

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

/** Of a compute under its current delay. */
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
