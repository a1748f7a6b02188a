import { type DurationMs, HOUR, MINUTE, type SimTime } from "../../kernel/time.ts";
import type { LatencySource } from "../units/start-latency.ts";
import type { Policy, PolicyState, SleepSchedule } from "./policy.ts";
import { type WeekWindow, WeekWindows, type Windows } from "./week-windows.ts";

export type ScheduleOptions = {
  readonly windows: readonly WeekWindow[];
  readonly zone: string;
  /** Delay outside of the windows. */
  readonly delayMs: DurationMs;
};

/** Starts the compute at the start of each window and keeps it active until its end. */
export function weekSchedule({ windows, zone, delayMs }: ScheduleOptions, name: string): Policy {
  const week = new WeekWindows(windows, zone);
  return {
    name,
    knows: "past",
    isRandom: false,
    resumes: true,
    createState: ({ latencies }) => new ScheduleState(week, delayMs, latencies),
  };
}

/** The schedule of one compute, from its first request on. */
export class ScheduleState implements PolicyState {
  readonly #windows: Windows;
  readonly #delayMs: DurationMs;
  readonly #latencies: LatencySource;

  constructor(windows: Windows, delayMs: DurationMs, latencies: LatencySource) {
    this.#windows = windows;
    this.#delayMs = delayMs;
    this.#latencies = latencies;
  }

  /** A compute that would suspend in a window, or at its start, stays active until the window ends. */
  schedule(idleSince: SimTime, schedule: SleepSchedule): void {
    schedule.sleepAt = this.#windows.endAt(idleSince + this.#delayMs);
    this.resumeAfter(schedule.sleepAt, schedule);
  }

  scheduleNext(suspendedAt: SimTime, schedule: SleepSchedule): void {
    this.resumeAfter(suspendedAt, schedule);
  }

  resumeAfter(suspendedAt: SimTime, schedule: SleepSchedule): void {
    const start = this.#windows.nextStart(suspendedAt);
    schedule.resumeAt = start;
    if (start === Number.POSITIVE_INFINITY) schedule.holdMs = 0;
    else schedule.holdMs = Math.max(0, this.#windows.endAt(start) - start - this.#latencies.at(start));
  }
}

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

export const SCHEDULE_RULE =
  "expected days and local times, such as schedule:mon-fri@08:00-18:00; an end that is not after the start is on the next day";

/** Parses windows of a week; undefined for any other text. */
export function parseWeekWindows(text: string): readonly WeekWindow[] | undefined {
  const [, first = "", last = first, fromHour, fromMinute, toHour, toMinute] =
    /^([a-z]{3})(?:-([a-z]{3}))?@(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text) ?? [];
  const [from, to] = [timeOfDay(fromHour, fromMinute), timeOfDay(toHour, toMinute)];
  const [begin, end] = [WEEKDAYS.indexOf(first), WEEKDAYS.indexOf(last)];
  if (
    from === undefined ||
    to === undefined ||
    begin === -1 ||
    end === -1 ||
    from === to ||
    from === 24 * HOUR
  )
    return undefined;
  const days = ((end - begin + WEEKDAYS.length) % WEEKDAYS.length) + 1;
  return Array.from({ length: days }, (_, index) => ({
    weekday: ((begin + index) % WEEKDAYS.length) + 1,
    fromMs: from,
    toMs: to > from ? to : to + 24 * HOUR,
  }));
}

/** Time since midnight, at most 24:00; undefined for an invalid time. */
function timeOfDay(hours = "", minutes = ""): DurationMs | undefined {
  const ms = Number(hours) * HOUR + Number(minutes) * MINUTE;
  return hours !== "" && Number(minutes) < 60 && ms <= 24 * HOUR ? ms : undefined;
}
