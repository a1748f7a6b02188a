import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import type { SuspendDelay } from "../gap-curve/curve.ts";
import { type ActivePeriod, activeAt, RESOLUTION_MS } from "./active-periods.ts";
import { type KnownPeriod, ShortGapModel } from "./short-gaps.ts";

/** What each delay would have meant for a compute, by the model of short gaps where operations do not show it. */
type ComputeEstimate = {
  /** In the order of the delays. */
  readonly byDelay: readonly EstimatedTotals[];
  /** False if no last request is known, so that all periods count as they were. */
  readonly isModelled: boolean;
};

type EstimatedTotals = { readonly coldStarts: number; readonly activeMs: DurationMs };

type PeriodsOfDelay = { readonly delayS: number; readonly periods: KnownPeriod[] };

/** Periods whose last request is not known count as they were. */
export function estimateCompute(
  periods: readonly ActivePeriod[],
  endAt: SimTime,
  delays: readonly SuspendDelay[],
): ComputeEstimate {
  const { byDelay, others } = sorted(periods, endAt);
  const models = byDelay.map((group) => new ShortGapModel(group.periods, group.delayS * SECOND));
  const totals = delays.map((delay) => {
    let { coldStarts, activeMs } = others;
    for (const [index, group] of byDelay.entries()) {
      const sum =
        delay === "never" || delay >= group.delayS
          ? shown(group.periods, delay)
          : modelled(group, models[index] as ShortGapModel, delay);
      coldStarts += sum.coldStarts;
      activeMs += sum.activeMs;
    }
    return { coldStarts, activeMs };
  });
  return { byDelay: totals, isModelled: byDelay.length > 0 };
}

function sorted(periods: readonly ActivePeriod[], endAt: SimTime) {
  const byDelay = new Map<number, KnownPeriod[]>();
  const others = { coldStarts: 0, activeMs: 0 };
  for (const [index, period] of periods.entries()) {
    const next = periods[index + 1]?.requestedAt;
    const { delay, suspendedAt, end } = period;
    const activeMs = (suspendedAt ?? endAt) - activeAt(period);
    if (end !== "autosuspend" || suspendedAt === undefined || typeof delay !== "number") {
      if (next !== undefined) others.coldStarts += 1;
      others.activeMs += Math.max(0, activeMs);
      continue;
    }
    const windowMs = activeMs - delay * SECOND;
    // Started at its creation, and idle for one delay: most likely without a request.
    if (period.startedBy === "creation" && windowMs <= RESOLUTION_MS) continue;
    const lastEnd = suspendedAt - delay * SECOND;
    const known = {
      windowMs: Math.max(0, windowMs),
      ...{ gapMs: (next ?? endAt) - lastEnd, isOver: next !== undefined },
    };
    const group = byDelay.get(delay);
    if (group === undefined) byDelay.set(delay, [known]);
    else group.push(known);
  }
  return { byDelay: [...byDelay].map(([delayS, own]): PeriodsOfDelay => ({ delayS, periods: own })), others };
}

/** Of a delay that is not shorter than the one in force. */
function shown(periods: readonly KnownPeriod[], delay: SuspendDelay): EstimatedTotals {
  const limitMs = delay === "never" ? Number.POSITIVE_INFINITY : delay * SECOND;
  let [coldStarts, activeMs] = [0, 0];
  for (const { windowMs, gapMs, isOver } of periods) {
    if (isOver && gapMs > limitMs) coldStarts += 1;
    activeMs += windowMs + Math.min(gapMs, limitMs);
  }
  return { coldStarts, activeMs };
}

function modelled(
  { periods, delayS }: PeriodsOfDelay,
  model: ShortGapModel,
  shorterS: number,
): EstimatedTotals {
  const recorded = shown(periods, delayS);
  const added = model.estimate(shorterS);
  return {
    coldStarts: recorded.coldStarts + periods.length * added.coldStarts,
    activeMs: Math.max(0, recorded.activeMs - periods.length * added.savedMs),
  };
}
