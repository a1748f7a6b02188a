import type { DurationDistribution } from "../../kernel/distribution.ts";
import { type DurationMs, MINUTE, SECOND } from "../../kernel/time.ts";
import type { OperationAction } from "./operation-actions.ts";

/** How long each operation runs. */
export type OperationDurations = Readonly<Record<OperationAction, DurationDistribution>>;

/**
 * A: public documents give only the start. One second is long enough to see a 423, and short enough to wait.
 */
export function constantDurations(startMs: DurationMs): OperationDurations {
  return {
    create_timeline: { kind: "fixed", ms: SECOND },
    create_branch: { kind: "fixed", ms: SECOND },
    start_compute: { kind: "fixed", ms: startMs },
    suspend_compute: { kind: "fixed", ms: SECOND },
    apply_config: { kind: "fixed", ms: SECOND },
    delete_timeline: { kind: "fixed", ms: SECOND },
  };
}

/**
 * A: the tail of an action without other evidence. Published durations of the same action differ by a factor
 * of about 2 (49 and 87 ms; 777 and 1,747 ms), which suggests a sigma of 0.5 to 0.7, and so a factor of
 * 3 to 5.
 */
const USUAL_TAIL = 4;

/**
 * Log-normal durations. Medians are the published durations of finished operations (D: the lists of operations
 * in the vendor's documentation, 2025), from which those of a preceding operation are subtracted. The profiles
 * state the start.
 */
export function variedDurations(start: DurationDistribution): OperationDurations {
  return {
    create_timeline: lognormalWithP99(3_096, USUAL_TAIL * 3_096), // D; p99 A
    create_branch: lognormalWithP99(136, USUAL_TAIL * 136), // D; p99 A
    start_compute: start,
    suspend_compute: lognormalWithP99(SECOND, USUAL_TAIL * SECOND), // A: none is published
    apply_config: lognormalWithP99(87, 2 * SECOND), // D: 49, 87 and 1,438 ms; p99 A
    delete_timeline: lognormalWithP99(SECOND, USUAL_TAIL * SECOND), // A: none is published
  };
}

/** The 99th percentile of the standard normal distribution. */
const NORMAL_P99 = 2.326_348;

/** A: an operation that runs longer would have failed. */
const LONGEST: DurationMs = MINUTE;

/** A log-normal distribution by its median and its 99th percentile. */
export function lognormalWithP99(medianMs: DurationMs, p99Ms: DurationMs): DurationDistribution {
  return {
    kind: "lognormal",
    medianMs,
    sigma: Math.log(p99Ms / medianMs) / NORMAL_P99,
    maxMs: LONGEST,
  };
}
