import { type DurationMs, HOUR, SECOND } from "../../platform/core/time.ts";
import type { CurvePoint, WithCuMs } from "./curve.ts";

/** What active time costs, and what a cold start is held to be worth. */
export type Costs = {
  /** Size of the computes while they are active; by compute where they differ in it. */
  readonly cu: number | readonly number[];
  /** Absent where nobody has published one; then there is no cost in dollars. */
  readonly pricePerCuHour?: number | undefined;
  /** What a cold start is worth, in whole seconds of active time: 60 says that one would pay for a minute to avoid one. */
  readonly coldStartS: number;
};

export type Bill = { readonly cuHours: number; readonly cost?: number };

export function billOf(
  { activeMs, cuMs }: WithCuMs<{ readonly activeMs: DurationMs }>,
  { cu, pricePerCuHour }: Costs,
): Bill {
  const cuHours = typeof cu === "number" ? (activeMs / HOUR) * cu : sizedMs(cuMs) / HOUR;
  return pricePerCuHour === undefined ? { cuHours } : { cuHours, cost: cuHours * pricePerCuHour };
}

/** Of one compute. */
export function sizeOf({ cu }: Costs, compute: number): number {
  return typeof cu === "number" ? cu : (cu[compute] as number);
}

function sizedMs(cuMs: number | undefined): number {
  if (cuMs === undefined) throw new Error("computes of different sizes have a bill by their sizes alone");
  return cuMs;
}

/** What policies are compared by: active time, with each cold start at its worth, in milliseconds of active time. */
export function weightedCostMs(
  { activeMs, coldStarts }: Pick<CurvePoint, "activeMs" | "coldStarts">,
  coldStartS: number,
): DurationMs {
  return activeMs + coldStarts * coldStartS * SECOND;
}
