import { SECOND, type SimTime } from "../../kernel/time.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import type { PeriodColumns } from "./period-columns.ts";

/** Metered active time of a project in one hour or another timeframe. */
export type MeteredFrame = {
  readonly project: string;
  readonly startAt: SimTime;
  readonly endAt: SimTime;
  readonly activeS: number;
};

type FrameDifference = MeteredFrame & { readonly byOperationsS: number };

/** `frames`: number of compared frames. */
type ReconciledTime = { readonly frames: number; readonly meteredS: number; readonly byOperationsS: number };

type ReconciledProject = ReconciledTime & { readonly project: string; readonly different: number };

export type Reconciliation = ReconciledTime & {
  /** Projects in the order of the frames. */
  readonly projects: readonly ReconciledProject[];
  /** Frames that differ by more than the resolution explains, the largest difference first. */
  readonly different: readonly FrameDifference[];
};

/**
 * Compares active time by operations with what was metered. Each start and suspend within a frame is known to a second,
 * and metered time is rounded to a second. `startAt`: frames that begin earlier are ignored, because operations before
 * the oldest one are not known.
 */
export function reconcile(
  metered: Iterable<MeteredFrame>,
  periodsOf: (project: string) => readonly PeriodColumns[],
  endAt: SimTime,
  startAt: SimTime = 0,
): Reconciliation {
  let [frames, meteredS, byOperationsS] = [0, 0, 0];
  const different: FrameDifference[] = [];
  const projects = new Map<string, Writable<ReconciledProject>>();
  for (const frame of metered) {
    if (frame.startAt < startAt) continue;
    frames += 1;
    let [activeMs, edges] = [0, 0];
    for (const periods of periodsOf(frame.project)) {
      const shown = activityWithin(frame, periods, endAt);
      activeMs += shown.activeMs;
      edges += shown.edges;
    }
    const own = activeMs / SECOND;
    meteredS += frame.activeS;
    byOperationsS += own;
    const sums = sumsOf(projects, frame.project);
    sums.frames += 1;
    sums.meteredS += frame.activeS;
    sums.byOperationsS += own;
    const toleranceS = (edges * RESOLUTION_MS) / SECOND + 1;
    if (Math.abs(own - frame.activeS) <= toleranceS) continue;
    sums.different += 1;
    different.push({ ...frame, byOperationsS: own });
  }
  different.sort((a, b) => Math.abs(b.byOperationsS - b.activeS) - Math.abs(a.byOperationsS - a.activeS));
  return { frames, meteredS, byOperationsS, projects: [...projects.values()], different };
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function sumsOf(projects: Map<string, Writable<ReconciledProject>>, project: string) {
  let sums = projects.get(project);
  if (sums === undefined) {
    sums = { project, frames: 0, meteredS: 0, byOperationsS: 0, different: 0 };
    projects.set(project, sums);
  }
  return sums;
}

/** Active time within a frame, and the starts and suspends that may be in it. */
function activityWithin(frame: MeteredFrame, periods: PeriodColumns, endAt: SimTime) {
  const [earliest, latest] = [frame.startAt - SECOND, frame.endAt];
  const mayBeWithin = (at: SimTime) => at >= earliest && at <= latest;
  let [activeMs, edges] = [0, 0];
  for (let index = firstEndingAfter(periods, earliest - RESOLUTION_MS); index < periods.length; index += 1) {
    if ((periods.requestedAt[index] as number) > latest) break;
    const [from, to] = [periods.activeAt(index), periods.lastActiveAt(index, endAt)];
    activeMs += Math.max(0, Math.min(to, frame.endAt) - Math.max(from, frame.startAt));
    if (mayBeWithin(from)) edges += 1;
    if (mayBeWithin(to)) edges += 1;
    for (const at of periods.restartedAt(index)) {
      if (mayBeWithin(at)) edges += 1;
      if (mayBeWithin(at + RESOLUTION_MS)) edges += 1;
    }
  }
  return { activeMs, edges };
}

/** The first period that lasts until this instant or longer. */
function firstEndingAfter(periods: PeriodColumns, at: SimTime): number {
  let [low, high] = [0, periods.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((periods.suspendedAt[middle] as number) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
