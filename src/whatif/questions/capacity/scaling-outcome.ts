import type { DurationMs } from "../../../kernel/time.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
import type { IgnoredSources } from "../../trace/ignored-waits.ts";
import type { ScalingDays } from "./scaling-days.ts";

export type ScalingOutcome = {
  /** Metered time × size. */
  cuMs: number;
  activeMs: DurationMs;
  /** Active time in which running requests need more vCPUs than the compute has. */
  throttledMs: DurationMs;
  scaleEvents: number;
  starts: number;
  requests: number;
  /** Time that throttling adds to requests; see `CountedWaits`. */
  readonly addedWaits: WaitHistogram;
  /** Requests that an SLO applies to; undefined: all requests. */
  readonly judged?: JudgedRequests | undefined;
  /** Totals by UTC day, for margins; undefined if not requested. */
  readonly days?: ScalingDays | undefined;
} & CountedWaits;

/** Options for the waits that count. */
export type CountedWaits = {
  /** Whether waits for a start count in addition to throttling. */
  readonly hasStartWaits?: boolean | undefined;
  /** Sources for whose requests nobody waits. */
  readonly ignored?: IgnoredSources | undefined;
};

/** Requests of one source, and the time that throttling adds to them. */
type JudgedRequests = {
  readonly source: number;
  requests: number;
  readonly addedWaits: WaitHistogram;
};

/** `judgedSource`: source that an SLO applies to; undefined: all requests. */
export function emptyScalingOutcome(
  days?: ScalingDays,
  judgedSource?: number,
  waits: CountedWaits = {},
): ScalingOutcome {
  return {
    ...waits,
    days,
    judged:
      judgedSource === undefined
        ? undefined
        : { source: judgedSource, requests: 0, addedWaits: new WaitHistogram() },
    cuMs: 0,
    activeMs: 0,
    throttledMs: 0,
    scaleEvents: 0,
    starts: 0,
    requests: 0,
    addedWaits: new WaitHistogram(),
  };
}
