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
  /** By how much throttling lengthens requests; see `CountedWaits`. */
  readonly addedWaits: WaitHistogram;
  /** The requests that an SLO is about; undefined: all. */
  readonly judged?: JudgedRequests | undefined;
  /** By UTC day, for margins; undefined where they are not needed. */
  readonly days?: ScalingDays | undefined;
} & CountedWaits;

/** Which waits count in addition to those of throttled requests, and which do not. */
export type CountedWaits = {
  /** Whether waits for a start count, too. */
  readonly hasStartWaits?: boolean | undefined;
  /** Sources that nobody waits for. */
  readonly ignored?: IgnoredSources | undefined;
};

/** The requests of one source, and by how much throttling lengthens them. */
type JudgedRequests = {
  readonly source: number;
  requests: number;
  readonly addedWaits: WaitHistogram;
};

/** `judgedSource`: of an SLO; undefined: all requests count. */
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
