import { type DurationMs, HOUR, SECOND } from "../../kernel/time.ts";
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

/** For a month of 730 hours. */
export function perMonth(value: number, periodMs: DurationMs): number {
  return (value / periodMs) * MONTH_MS;
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
 * What a cold start of this traffic is worth, in whole seconds: proportionally more if the requests wait
 * longer for it, in total, than one request for an ordinary start. Dollars are converted by the price of active
 * time: to CU-seconds if sizes differ.
 */
export function startWorthS(
  { coldStartS, ordinaryStartMs = 0, dollars, cu = 1, pricePerCuHour = 0 }: WorthCosts,
  { starts, startWaitMs }: StartWaits,
): number {
  if (dollars !== undefined) {
    const perHour = pricePerCuHour * (typeof cu === "number" ? cu : 1);
    return Math.round((startDollars(dollars, { starts, startWaitMs }) / perHour) * (HOUR / SECOND));
  }
  if (starts === 0 || ordinaryStartMs === 0) return coldStartS;
  return Math.round(coldStartS * Math.max(1, startWaitMs / starts / ordinaryStartMs));
}

type WorthCosts = Pick<Costs, "coldStartS" | "ordinaryStartMs" | "dollars"> & Partial<Costs>;
type StartWaits = { readonly starts: number; readonly startWaitMs: DurationMs };

function startDollars(worth: StartDollars, { starts, startWaitMs }: StartWaits): number {
  if (worth.per === "cold-start") return worth.dollars;
  return (worth.dollars * (starts === 0 ? worth.startMs : startWaitMs / starts)) / HOUR;
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
