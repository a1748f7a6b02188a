import type { DelayChoice } from "../../whatif/gap-curve/delay.ts";
import type { CurveAnswer } from "../../whatif/questions/curve/curve-answer.ts";
import type { CurveSummary } from "../../whatif/questions/curve/curve-summary.ts";
import { LONGEST_DELAY_S } from "../../whatif/trace/gap-histogram.ts";
import { recordsCsv } from "./csv-output.ts";

const MIN_DELAY_S = 60;

/** The files of a curve in addition to its tables. */
export function curveFiles(answer: CurveAnswer, summary: CurveSummary) {
  return { "curve.csv": curveCsv(answer, summary), "curve-by-compute.csv": computesCsv(summary) };
}

function computesCsv({ computes = [] }: CurveSummary): string {
  return recordsCsv(
    computes.flatMap(({ compute, cu, requests, curve: points, clairvoyant }) =>
      [...points, { delay_s: "clairvoyant", ...clairvoyant }].map((point) => ({
        compute,
        cu,
        requests,
        ...point,
      })),
    ),
  );
}

/**
 * The corners of the curve: between two of them, cold starts are constant and active time is linear. Then the
 * choices that are not points of the curve.
 */
function curveCsv(
  answer: CurveAnswer,
  { present, best, cheapest_within: within, clairvoyant }: CurveSummary,
): string {
  const { coldStarts, activeMs } = answer.curve;
  const { margin_95: _, margin_95_other_computes: __, ...bound } = clairvoyant;
  const named = new Map<DelayChoice, string>([
    ...(within === undefined || within === null ? [] : [[within.delay_s, "cheapest_within"] as const]),
    [present.delay_s, "present"],
    [best.delay_s, best.delay_s === present.delay_s ? "present, best" : "best"],
  ]);
  const row = (delay: DelayChoice) => ({ ...answer.figuresAt(delay), mark: named.get(delay) ?? "" });
  const corners: DelayChoice[] = [];
  for (let s = MIN_DELAY_S; s <= LONGEST_DELAY_S; s += 1) {
    const isEnd = s === MIN_DELAY_S || s === LONGEST_DELAY_S;
    const active = activeMs[s] as number;
    const isStraight =
      coldStarts[s] === coldStarts[s - 1] &&
      (activeMs[s + 1] as number) - active === active - (activeMs[s - 1] as number);
    if (isEnd || !isStraight || named.has(s)) corners.push(s);
  }
  const own: DelayChoice[] = present.delay_s === "own" ? ["own"] : [];
  return recordsCsv([
    ...[...corners, "never" as const, ...own].map(row),
    { delay_s: "clairvoyant", ...bound, mark: "bound" },
  ]);
}
