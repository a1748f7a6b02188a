import { DAY, type DurationMs, HOUR, SECOND } from "../../kernel/time.ts";
import type { CurvePoint, WithCuMs } from "./curve.ts";

/** Price of active time, and assumed worth of a cold start. */
export type Costs = {
  /** Size of the computes while they are active, in CU; by compute if sizes differ. */
  readonly cu: number | readonly number[];
  readonly pricePerCuHour: number;
  /** Worth of a cold start in whole seconds of active time: 60 means paying for a minute to avoid one cold start. */
  readonly coldStartS: number;
  /** Mean wait of one request for the start that `coldStartS` is the worth of. */
  readonly ordinaryStartMs?: DurationMs | undefined;
  /** Worth of a cold start in dollars; replaces `coldStartS`. */
  readonly dollars?: StartDollars | undefined;
};

/** Price of a cold start, or of an hour in which one request waits for a start. `startMs`: mean length of a start. */
type StartDollars =
  | { readonly per: "cold-start"; readonly dollars: number }
  | { readonly per: "waiting-hour"; readonly dollars: number; readonly startMs: DurationMs };

export type Bill = { readonly cuHours: number; readonly cost: number };

export function billOf(
  { activeMs, cuMs }: WithCuMs<{ readonly activeMs: DurationMs }>,
  { cu, pricePerCuHour }: Costs,
): Bill {
  const cuHours = typeof cu === "number" ? (activeMs / HOUR) * cu : sizedMs(cuMs) / HOUR;
  return { cuHours, cost: cuHours * pricePerCuHour };
}

const MONTH_MS: DurationMs = 730 * HOUR;
export const SHORTEST_FOR_MONTH_MS: DurationMs = HOUR;

/** Scales a value of the period to a month of 730 hours. A period shorter than an hour is scaled as one hour. */
export function perMonth(value: number, periodMs: DurationMs): number {
  return (value / Math.max(periodMs, SHORTEST_FOR_MONTH_MS)) * MONTH_MS;
}

/**
 * Upper limit (95 % confidence) of the number per day of an event that did not happen in the period. By the rule of
 * three, an event expected 3 times in a period fails to happen with a probability of 5 %.
 */
export function rarestPerDay(periodMs: DurationMs): number {
  return (3 * DAY) / periodMs;
}

export function sizeOf({ cu }: Costs, compute: number): number {
  return typeof cu === "number" ? cu : (cu[compute] as number);
}

function sizedMs(cuMs: number | undefined): number {
  if (cuMs === undefined)
    throw new Error("computes of different sizes cannot be billed without their CU time (cuMs)");
  return cuMs;
}

/** Worth of a cold start by the total time that requests wait for it, in milliseconds of active time of its compute. */
export type StartWorth = (waitMs: DurationMs) => DurationMs;

/**
 * The worth of each cold start of a compute of this size, in whole milliseconds. Policies decide by it, and weighted
 * costs include it. It is never below the given worth, and grows in proportion if requests wait longer in total than
 * one request waits for an ordinary start. Dollars are converted by the price of active time.
 */
export function startWorth(costs: WorthCosts, cu = 1): StartWorth {
  // Caches the last result, because consecutive starts usually have the same wait.
  let [lastWaitMs, lastWorthMs] = [Number.NaN, 0];
  return (waitMs) => {
    if (waitMs !== lastWaitMs)
      [lastWaitMs, lastWorthMs] = [waitMs, Math.round(exactWorthMs(costs, cu, waitMs))];
    return lastWorthMs;
  };
}

/**
 * Mean worth of the cold starts of this traffic in whole seconds, for use where the waits of single starts are unknown.
 * Dollars are converted to CU-seconds if sizes differ.
 */
export function startWorthS(costs: WorthCosts, { starts, startWaitMs }: StartWaits): number {
  const { cu, dollars } = costs;
  const unknownMs = dollars?.per === "waiting-hour" ? dollars.startMs : 0;
  const waitMs = starts === 0 ? unknownMs : startWaitMs / starts;
  return Math.round(exactWorthMs(costs, typeof cu === "number" ? cu : 1, waitMs) / SECOND);
}

export type WorthCosts = Pick<Costs, "coldStartS" | "ordinaryStartMs" | "dollars"> & Partial<Costs>;
type StartWaits = { readonly starts: number; readonly startWaitMs: DurationMs };

function exactWorthMs(
  { coldStartS, ordinaryStartMs = 0, dollars, pricePerCuHour = 0 }: WorthCosts,
  cu: number,
  waitMs: DurationMs,
): DurationMs {
  if (dollars === undefined)
    return coldStartS * SECOND * (ordinaryStartMs === 0 ? 1 : Math.max(1, waitMs / ordinaryStartMs));
  const worth = dollars.per === "cold-start" ? dollars.dollars : (dollars.dollars * waitMs) / HOUR;
  return (worth / (pricePerCuHour * cu)) * HOUR;
}

/**
 * Active time plus each cold start at its worth, in milliseconds of active time. Policies are compared by it.
 */
export function weightedCostMs(
  { activeMs, coldStarts }: Pick<CurvePoint, "activeMs" | "coldStarts">,
  coldStartS: number,
): DurationMs {
  return activeMs + coldStarts * coldStartS * SECOND;
}
