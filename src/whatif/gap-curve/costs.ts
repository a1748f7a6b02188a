import { DAY, type DurationMs, HOUR, SECOND } from "../../kernel/time.ts";
import type { CurvePoint, WithCuMs } from "./curve.ts";

/** What active time costs, and the assumed worth of a cold start. */
export type Costs = {
  /** Size of the computes while they are active; by compute if they differ. */
  readonly cu: number | readonly number[];
  readonly pricePerCuHour: number;
  /** Whole seconds of active time: 60 means paying for a minute to avoid one cold start. */
  readonly coldStartS: number;
  /** The start that this worth is meant for: one request waits for it, for this mean time. */
  readonly ordinaryStartMs?: DurationMs | undefined;
  /** The worth of a cold start in dollars; `coldStartS` does not apply then. */
  readonly dollars?: StartDollars | undefined;
};

/** What a cold start costs, or what an hour costs in which one request waits for a start of `startMs` on average. */
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

/** For a month of 730 hours. A period shorter than an hour counts as an hour without further requests. */
export function perMonth(value: number, periodMs: DurationMs): number {
  return (value / Math.max(periodMs, SHORTEST_FOR_MONTH_MS)) * MONTH_MS;
}

/**
 * The rule of three: what has not happened in a period happens with 95 % confidence at most this often a day, as 3 times
 * in a period has a chance of 5 % not to happen.
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

/**
 * What a cold start is worth, by how long requests wait for it in total: milliseconds of active time of its compute.
 */
export type StartWorth = (waitMs: DurationMs) => DurationMs;

/**
 * The worth of each cold start of a compute of this size, in whole milliseconds. Policies decide by it, and weighted
 * costs count it. It is proportionally more if the requests wait longer for the start, in total, than one request for
 * an ordinary start, and never less. Dollars are converted by the price of active time.
 */
export function startWorth(costs: WorthCosts, cu = 1): StartWorth {
  // Most starts are waited for as long as the one before.
  let [lastWaitMs, lastWorthMs] = [Number.NaN, 0];
  return (waitMs) => {
    if (waitMs !== lastWaitMs)
      [lastWaitMs, lastWorthMs] = [waitMs, Math.round(exactWorthMs(costs, cu, waitMs))];
    return lastWorthMs;
  };
}

/**
 * What the cold starts of this traffic are worth on average, in whole seconds, where the waits for each are not known.
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
