import { weekdayOf } from "../../kernel/calendar.ts";
import { DAY, type DurationMs, HOUR, type SimTime } from "../../kernel/time.ts";
import type { Policy, PolicyContext, PolicyState, SleepSchedule } from "./policy.ts";
import { ScheduleState } from "./schedule.ts";
import type { Windows } from "./week-windows.ts";

export type TrainedOptions = {
  /** End of the training days: an instant, or a time after the first request of the compute. */
  readonly until: { readonly at: SimTime } | { readonly afterMs: DurationMs };
  /** Delay outside of the windows, and on the training days. */
  readonly delayMs: DurationMs;
};

/**
 * Learns a schedule for each compute from its training days, then applies it unchanged. An hour of workdays or weekend
 * days (UTC) is active if that would have cost less than the plain delay, over all training days together.
 */
export function trainedSchedule(options: TrainedOptions, name = "schedule:trained"): Policy {
  return {
    name,
    knows: "past",
    isRandom: false,
    resumes: true,
    createState: (context) => new TrainedState(options, context),
  };
}

class TrainedState implements PolicyState {
  readonly #options: TrainedOptions;
  readonly #hours = new LearntHours();
  readonly #scheduled: ScheduleState;
  #trainedUntil: SimTime | undefined;

  constructor(options: TrainedOptions, { latencies }: Pick<PolicyContext, "latencies">) {
    this.#options = options;
    this.#scheduled = new ScheduleState(this.#hours, options.delayMs, latencies);
  }

  schedule(idleSince: SimTime, schedule: SleepSchedule): void {
    const { until, delayMs } = this.#options;
    this.#trainedUntil ??= "at" in until ? until.at : idleSince + until.afterMs;
    if (idleSince >= this.#trainedUntil) {
      this.#scheduled.schedule(idleSince, schedule);
      return;
    }
    schedule.sleepAt = idleSince + delayMs;
    // Resumes at the first window after the training, if no request arrives before. A start exactly at the end of the
    // training counts as after it.
    this.#scheduled.resumeAfter(Math.max(schedule.sleepAt, this.#trainedUntil - 1), schedule);
  }

  scheduleNext(suspendedAt: SimTime, schedule: SleepSchedule): void {
    this.#scheduled.scheduleNext(suspendedAt, schedule);
  }

  learn(idleMs: DurationMs, at: SimTime): void {
    const { delayMs } = this.#options;
    const trainedUntil = this.#trainedUntil ?? at;
    if (idleMs <= delayMs || at - idleMs >= trainedUntil) return;
    this.#hours.addSuspended(at - idleMs + delayMs, Math.min(at, trainedUntil));
  }

  learnStart(worthMs: DurationMs, idleMs: DurationMs, at: SimTime): void {
    if (idleMs > this.#options.delayMs && at < (this.#trainedUntil ?? at))
      this.#hours.addColdStart(at, worthMs);
  }
}

const HOURS_PER_DAY = 24;
const HOURS_PER_WEEK = 7 * HOURS_PER_DAY;
const LAST_WORKDAY = 5;

/** Hours of workdays and of weekend days (UTC), under the plain delay. */
class LearntHours implements Windows {
  /** By hour of workdays, then of weekend days. */
  readonly #suspendedMs = new Float64Array(2 * HOURS_PER_DAY);
  /** Worth of the cold starts by hour. */
  readonly #worthMs = new Float64Array(2 * HOURS_PER_DAY);

  addColdStart(at: SimTime, worthMs: DurationMs): void {
    const slot = slotOf(Math.floor(at / HOUR));
    this.#worthMs[slot] = (this.#worthMs[slot] as number) + worthMs;
  }

  addSuspended(since: SimTime, until: SimTime): void {
    for (let from = since; from < until; ) {
      const hour = Math.floor(from / HOUR);
      const to = Math.min(until, (hour + 1) * HOUR);
      const slot = slotOf(hour);
      this.#suspendedMs[slot] = (this.#suspendedMs[slot] as number) + to - from;
      from = to;
    }
  }

  endAt(at: SimTime): SimTime {
    const first = Math.floor(at / HOUR);
    if (!this.#isActive(first)) return at;
    for (let hour = first + 1; hour < first + HOURS_PER_WEEK; hour += 1)
      if (!this.#isActive(hour)) return hour * HOUR;
    return Number.POSITIVE_INFINITY;
  }

  nextStart(at: SimTime): SimTime {
    const first = Math.floor(at / HOUR) + 1;
    for (let hour = first; hour < first + HOURS_PER_WEEK; hour += 1)
      if (this.#isActive(hour)) return hour * HOUR;
    return Number.POSITIVE_INFINITY;
  }

  #isActive(hour: number): boolean {
    const slot = slotOf(hour);
    return (this.#worthMs[slot] as number) > (this.#suspendedMs[slot] as number);
  }
}

/** Index of an hour: its hour of the day, plus `HOURS_PER_DAY` on weekend days. `hour`: hours since the epoch. */
function slotOf(hour: number): number {
  const day = Math.floor(hour / HOURS_PER_DAY);
  return (weekdayOf(day * DAY) > LAST_WORKDAY ? HOURS_PER_DAY : 0) + hour - day * HOURS_PER_DAY;
}
