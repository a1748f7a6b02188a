import type { DurationMs } from "../../../kernel/time.ts";
import { WaitHistogram } from "../../replay/wait-histogram.ts";
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
  /** By how much throttling lengthens requests. */
  readonly addedWaits: WaitHistogram;
  /** By UTC day, for margins; undefined where they are not needed. */
  readonly days?: ScalingDays | undefined;
};

export function emptyScalingOutcome(days?: ScalingDays): ScalingOutcome {
  return {
    days,
    cuMs: 0,
    activeMs: 0,
    throttledMs: 0,
    scaleEvents: 0,
    starts: 0,
    requests: 0,
    addedWaits: new WaitHistogram(),
  };
}
