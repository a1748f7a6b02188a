import { normal, type Random } from "../../../kernel/random-port.ts";
import { DAY, type SimTime } from "../../../kernel/time.ts";
import type { Period } from "../../../traffic/recorded/trace/trace.ts";
import {
  type BootstrapBlock,
  bootstrapBlocks,
  bootstrapWidening,
  daysByKind,
  recordedDays,
} from "../../units/bootstrap.ts";
import { type DayEffects, dependenceFactor } from "../../units/day-dependence.ts";
import { type SilentDays, silentDays } from "../../units/silent-days.ts";
import { changeOf, changeRemoved, type TrafficChange } from "../../units/traffic-change.ts";
import type { UseProfile } from "./use-profile.ts";

/** Assumptions about the use of a project after the record. */
export type UseOutlook = {
  /** The use does not change. */
  readonly stays: Repetition;
  /** The use continues to change as in the record; undefined if it did not change. */
  readonly changes: (Repetition & { readonly change: TrafficChange }) | undefined;
  /** Days without data, which are not repeated. */
  readonly silent: SilentDays | undefined;
};

/** Later days repeat recorded ones. */
type Repetition = {
  readonly days: readonly SimTime[];
  /**
   * Factor by which intervals are wider than the spread of replications, because the days are few and not independent.
   */
  readonly widening: number;
};

/** Days after a step from which only these days are repeated. */
const MIN_DAYS = 7;
/** Minimum number of workdays, and of weekend days. */
const MIN_DAYS_OF_KIND = 2;
/** A 95 % interval of a normal distribution, in standard deviations. */
const WIDTH_95 = 2 * 1.96;

/** `silenceIsIdle`: days without requests are known to be idle time. */
export function useOutlook(profile: UseProfile, period: Period, silenceIsIdle = false): UseOutlook {
  const recorded = recordedDays(period);
  const requests = recorded.map((day) => profile.requestsBetween(day, day + DAY));
  const silent = silenceIsIdle ? undefined : silentDays(recorded, requests);
  const isHeard = (day: SimTime) => silent === undefined || day < silent.from || day >= silent.to;
  const heard = recorded.filter(isHeard);
  const days = isEnough(heard) ? heard : recorded;
  const use = days.map((day) => profile.cuMsBetween(day, day + DAY));
  const change = changeOf(days, use);
  const stays = repetition(days, use, change);
  if (change === undefined) return { stays, changes: undefined, silent };
  const since = change.kind === "step" ? change.since : Number.NEGATIVE_INFINITY;
  const later = days.filter((day) => day >= since);
  const changed = isEnough(later) ? later : days;
  const changedUse = changed.map((day) => profile.cuMsBetween(day, day + DAY));
  return { stays, changes: { ...repetition(changed, changedUse, change), change }, silent };
}

/** Blocks of recorded time after its end until `until`, for one replication. */
export function staysBlocks(
  period: Period,
  until: SimTime,
  { stays }: UseOutlook,
  random: Random,
): BootstrapBlock[] {
  return bootstrapBlocks(period, until, random, stays.days);
}

/**
 * Repeats the days of `staysBlocks` with changed use; no compute uses more than its size. `mostCu`: size of all
 * computes together.
 */
export function changedBlocks(
  period: Period,
  until: SimTime,
  { days, change }: NonNullable<UseOutlook["changes"]>,
  profile: UseProfile,
  mostCu: number,
  random: Random,
): BootstrapBlock[] {
  const growth = growthOf(change, normal(random.stream("whatif-trend", 0)));
  return bootstrapBlocks(period, until, random, days).map((block) => {
    const { from, to, offsetMs } = block;
    const usedCuMs = profile.cuMsBetween(from, to);
    const most = usedCuMs === 0 ? 1 : (mostCu * (to - from)) / usedCuMs;
    return { ...block, growth: Math.min(most, growth(from, from + offsetMs)) };
  });
}

/**
 * Factor of the use at a later instant compared with a recorded one. `deviation`: deviation of the slope, in standard
 * deviations.
 */
function growthOf(change: TrafficChange, deviation: number): (recorded: SimTime, later: SimTime) => number {
  if (change.kind === "step") {
    const { since, step } = change;
    return (recorded) => (recorded < since ? Math.exp(step) : 1);
  }
  const slope = change.slope + (deviation * (change.slopeHigh - change.slopeLow)) / WIDTH_95;
  return (recorded, later) => Math.exp((slope * (later - recorded)) / DAY);
}

function repetition(
  days: readonly SimTime[],
  use: readonly number[],
  change: TrafficChange | undefined,
): Repetition {
  const [, weekends = []] = daysByKind(days);
  const effects: DayEffects = {
    days: days.map((day) => day / DAY),
    kinds: days.map((day) => (weekends.includes(day) ? 1 : 0)),
    effects: Float64Array.from(use),
  };
  const unexplained = change === undefined ? effects : changeRemoved(effects, days, change);
  return { days, widening: bootstrapWidening(days) * dependenceFactor(unexplained) };
}

function isEnough(days: readonly SimTime[]): boolean {
  return days.length >= MIN_DAYS && daysByKind(days).every(({ length }) => length >= MIN_DAYS_OF_KIND);
}
