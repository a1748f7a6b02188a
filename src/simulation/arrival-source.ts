import type { SimTime } from "../kernel/time.ts";
import type { Refusal } from "../platform/catalog/refusal-codes.ts";
import type { Activity } from "../platform/model/activity.ts";
import type { RecordedEvent } from "../platform/model/events.ts";

/**
 * Activity that arrives from outside while time advances, in order of time. At one instant, operations end
 * first, then scheduled activity arrives, then activity of this source; computes are resized and suspended
 * last.
 */
export interface ArrivalSource {
  /** When the next activity arrives; `Infinity` when there is none. An instant in the past means now. */
  readonly at: SimTime;
  /** Returns the activity that arrives at `at`, and moves to the next one. */
  take(): Activity;
  /**
   * Called for every event, in order, after all events of its decision were applied. The source may respond
   * by making its `at` earlier, but not earlier than the event.
   */
  observe(event: RecordedEvent): void;
  /**
   * Called for a rejected arrival (too many connections, disabled, quota …). A rejection is not recorded in
   * history.
   */
  observeRefusal(activity: Activity, refusal: Refusal, at: SimTime): void;
}

/** A source without arrivals. */
export const NO_ARRIVALS: ArrivalSource = {
  at: Number.POSITIVE_INFINITY,
  take() {
    throw new Error("this source has no arrivals");
  },
  observe: () => undefined,
  observeRefusal: () => undefined,
};
