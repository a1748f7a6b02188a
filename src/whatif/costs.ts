import { type DurationMs, HOUR, SECOND } from "../platform/time.ts";
import type { CurvePoint } from "./curve.ts";

/** What active time costs, and what a cold start is held to be worth. */
export type Costs = {
  /** Size of the compute while it is active. */
  readonly cu: number;
  /** Absent where nobody has published one; then there is no cost in dollars. */
  readonly pricePerCuHour?: number | undefined;
  /** What a cold start is worth, in whole seconds of active time: 60 says that one would pay for a minute to avoid one. */
  readonly coldStartS: number;
};

export type Bill = { readonly cuHours: number; readonly cost?: number };

export function billOf(activeMs: DurationMs, { cu, pricePerCuHour }: Costs): Bill {
  const cuHours = (activeMs / HOUR) * cu;
  return pricePerCuHour === undefined ? { cuHours } : { cuHours, cost: cuHours * pricePerCuHour };
}

/** What policies are compared by: active time, with each cold start at its worth, in milliseconds of active time. */
export function burdenMs({ activeMs, coldStarts }: Pick<CurvePoint, "activeMs" | "coldStarts">, coldStartS: number): DurationMs {
  return activeMs + coldStarts * coldStartS * SECOND;
}
