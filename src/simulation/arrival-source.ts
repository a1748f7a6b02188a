import type { Activity } from "../platform/compute/activity.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Refusal } from "../platform/refusals.ts";

/**
 * What arrives from outside while time goes on, in order of time. At one instant operations end first, then activity arrives that
 * was told ahead, then what a feed brings, and only then computes change their size or go to sleep.
 */
export interface ArrivalSource {
  /** When the next activity arrives; `Infinity` when nothing comes any more. What should have come already arrives at once. */
  readonly at: SimTime;
  /** Gives the activity that arrives then, and moves on. */
  take(): Activity;
  /**
   * Told of everything that happens, in order, when the decision that it belongs to is folded in: what reacts to it may make its `at`
   * earlier, never before the event's.
   */
  observe(event: RecordedEvent): void;
  /** An arrival that was refused (too many connections, disabled, quota …): history does not know of it. */
  observeRefusal(activity: Activity, refusal: Refusal, at: SimTime): void;
}

/** Nothing arrives, and nobody looks. */
export const NO_ARRIVALS: ArrivalSource = {
  at: Number.POSITIVE_INFINITY,
  take() {
    throw new Error("nothing arrives here");
  },
  observe: () => undefined,
  observeRefusal: () => undefined,
};
