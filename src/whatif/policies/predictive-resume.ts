import { type DurationMs, HOUR, type SimTime, WEEK } from "../../kernel/time.ts";
import type { Policy, PolicyState, SleepSchedule } from "./policy.ts";

export type PredictiveOptions = {
  /** Suspend delay, also after an unused resume. */
  readonly delayMs: DurationMs;
  /** How long before an expected request it resumes. */
  readonly leadMs: DurationMs;
  /** An hour of the week is predicted to be busy if it was busy in at least this share of the weeks so far. */
  readonly share: number;
};

const HOURS_PER_WEEK = WEEK / HOUR;

/**
 * Resumes ahead of the hours of the week (UTC) that are usually busy: `leadMs` before the earliest arrival
 * seen in such an hour. The idea is from Moneyball (VLDB'22) and ProRP (SIGMOD'24), with hours of the week
 * instead of their forecasts.
 */
export function predictiveResume(options: PredictiveOptions, name = "predictive"): Policy {
  return {
    name,
    knows: "past",
    isRandom: false,
    resumes: true,
    createState: () => new PredictiveState(options),
  };
}

class PredictiveState implements PolicyState {
  readonly #options: PredictiveOptions;
  /**
   * By hour of the week: the number of weeks with an arrival, the last of them, and the earliest instant
   * within the hour.
   */
  readonly #weeks = new Uint32Array(HOURS_PER_WEEK);
  readonly #lastWeek = new Float64Array(HOURS_PER_WEEK).fill(-1);
  readonly #earliestMs = new Float64Array(HOURS_PER_WEEK).fill(HOUR);
  #firstHour: number | undefined;

  constructor(options: PredictiveOptions) {
    this.#options = options;
  }

  learn(_idleMs: DurationMs, at: SimTime): void {
    const hour = Math.floor(at / HOUR);
    const [slot, week] = [hour % HOURS_PER_WEEK, Math.floor(hour / HOURS_PER_WEEK)];
    this.#firstHour ??= hour;
    this.#earliestMs[slot] = Math.min(this.#earliestMs[slot] as number, at - hour * HOUR);
    if (this.#lastWeek[slot] === week) return;
    this.#lastWeek[slot] = week;
    this.#weeks[slot] = (this.#weeks[slot] as number) + 1;
  }

  schedule(idleSince: SimTime, schedule: SleepSchedule): void {
    schedule.sleepAt = idleSince + this.#options.delayMs;
    this.#resumeAfter(schedule.sleepAt, schedule);
  }

  scheduleNext(suspendedAt: SimTime, schedule: SleepSchedule): void {
    this.#resumeAfter(suspendedAt, schedule);
  }

  /** Schedules a resume for the first busy hour within the next week whose lead has not begun. */
  #resumeAfter(suspendedAt: SimTime, schedule: SleepSchedule): void {
    const { delayMs, leadMs } = this.#options;
    schedule.holdMs = leadMs + delayMs;
    const from = Math.floor(suspendedAt / HOUR);
    for (let hour = from; hour <= from + HOURS_PER_WEEK; hour += 1) {
      const resumeAt = hour * HOUR + (this.#earliestMs[hour % HOURS_PER_WEEK] as number) - leadMs;
      if (resumeAt > suspendedAt && this.#isExpected(hour)) {
        schedule.resumeAt = resumeAt;
        return;
      }
    }
    schedule.resumeAt = Number.POSITIVE_INFINITY;
  }

  #isExpected(hour: number): boolean {
    const hoursSeen = hour - (this.#firstHour ?? hour);
    // Number of times that this hour of the week has passed since the first arrival.
    const weeksSeen = Math.ceil(hoursSeen / HOURS_PER_WEEK);
    return weeksSeen > 0 && (this.#weeks[hour % HOURS_PER_WEEK] as number) >= this.#options.share * weeksSeen;
  }
}
