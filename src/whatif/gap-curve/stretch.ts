import type { Curve } from "./curve.ts";

/** Length of a stretched gap in percent of the recorded one: a check every 240 s may come every 252 s. */
const STRETCH_PERCENT = 105;

/** The curve if all gaps get longer. Its active time is that of the recorded gaps. */
export function stretchedCurve(curve: Curve): Curve {
  const coldStarts = new Float64Array(curve.coldStarts.length);
  for (let delay = 0; delay < coldStarts.length; delay += 1)
    coldStarts[delay] = curve.coldStarts[beforeStretch(delay)] as number;
  return { ...curve, coldStarts };
}

/** The delay that has as many cold starts now as `delayS` has if all gaps get longer. In whole seconds. */
export function beforeStretch(delayS: number): number {
  return Math.floor((delayS * 100) / STRETCH_PERCENT);
}

/** The delay that has as few cold starts if all gaps get longer as `delayS` has now. In whole seconds. */
export function afterStretch(delayS: number): number {
  return Math.ceil((delayS * STRETCH_PERCENT) / 100);
}
