import { SECOND, type SimTime } from "../../kernel/time.ts";
import { type ActivePeriod, activeAt, RESOLUTION_MS } from "./active-periods.ts";

/** One hour of a project, or another timeframe, as it was metered. */
export type MeteredFrame = {
  readonly project: string;
  readonly startAt: SimTime;
  readonly endAt: SimTime;
  readonly activeS: number;
};

type FrameDifference = MeteredFrame & { readonly byOperationsS: number };

export type Reconciliation = {
  readonly frames: number;
  readonly meteredS: number;
  readonly byOperationsS: number;
  /** Frames that differ by more than the resolution explains, the largest difference first. */
  readonly different: readonly FrameDifference[];
};

/**
 * Compares active time by operations with what was metered. Each start and suspend within a frame is known to a second, and
 * metered time is rounded to a second.
 */
export function reconcile(
  frames: readonly MeteredFrame[],
  periodsOf: (project: string) => readonly (readonly ActivePeriod[])[],
  endAt: SimTime,
): Reconciliation {
  let [meteredS, byOperationsS] = [0, 0];
  const different: FrameDifference[] = [];
  for (const frame of frames) {
    let [activeMs, edges] = [0, 0];
    for (const periods of periodsOf(frame.project)) {
      for (const period of periods) {
        const [from, to] = [activeAt(period), period.suspendedAt ?? endAt];
        activeMs += Math.max(0, Math.min(to, frame.endAt) - Math.max(from, frame.startAt));
        const restarts = period.restartedAt.flatMap((at) => [at, at + RESOLUTION_MS]);
        edges += [from, to, ...restarts].filter(
          (at) => at >= frame.startAt - SECOND && at <= frame.endAt,
        ).length;
      }
    }
    const own = activeMs / SECOND;
    meteredS += frame.activeS;
    byOperationsS += own;
    const toleranceS = (edges * RESOLUTION_MS) / SECOND + 1;
    if (Math.abs(own - frame.activeS) > toleranceS) different.push({ ...frame, byOperationsS: own });
  }
  different.sort((a, b) => Math.abs(b.byOperationsS - b.activeS) - Math.abs(a.byOperationsS - a.activeS));
  return { frames: frames.length, meteredS, byOperationsS, different };
}
