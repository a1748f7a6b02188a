import * as Plot from "@observablehq/plot";
import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { type DataLabel, drawChart } from "../../page/svg.ts";
import type { PointFigures } from "../../replay/figures.ts";
import { delayText, threeDigitMoney, threeDigits } from "../../units/number-format.ts";
import type { CurveSummary } from "./curve-summary.ts";

export const MONTH_CAPTION = "Costs are for a month of 730 hours with this traffic.";

/** Costs are dollars a month. */
export type DrawnPoint = {
  readonly delay: number;
  readonly cost: number;
  /** Includes cold starts at their worth, for a compute of average size. */
  readonly weightedCost: number;
  readonly starts: number;
};

type FrontPoint = {
  readonly name: string;
  readonly cost: number;
  readonly starts: number;
  /** Whether another mark already has its label. */
  readonly isNamed: boolean;
};

type CurveMarker = Pick<DrawnPoint, "cost" | "starts"> & {
  readonly label: string;
  readonly ink: string;
  /** The current setting is a ring: the best one stays visible within it. */
  readonly isRing: boolean;
};

/** Cost and cold starts of every delay, with the Pareto front. */
export function tradeOffChart(summary: CurveSummary, points: readonly DrawnPoint[]): Chart {
  const [markers, front] = [markersOf(summary), frontOf(summary)];
  return drawChart({
    name: "trade-off",
    title: "Cost against cold starts",
    caption: `Each point of the line is a delay, from 1 min to 7 d. Lower left is better. Dots on it are of the Pareto front: no other delay costs less with as few cold starts. The distance to perfect foresight is the cost of not knowing the future. ${MONTH_CAPTION}`,
    labels: labelsOf(markers, front),
    lines: points.map(({ cost, starts }) => ({ x: cost, y: starts })),
    plot: (frame) => ({
      height: 380,
      x: {
        label: "cost, $ a month →",
        grid: true,
        nice: true,
        ticks: frame.isNarrow ? 4 : 8,
        tickFormat: threeDigitMoney,
      },
      y: {
        label: "↑ cold starts a day (square-root scale)",
        grid: true,
        nice: true,
        type: "sqrt",
        ticks: 6,
        tickFormat: threeDigits,
      },
      marks: plotMarks(points, front, markers),
      color: { type: "identity" },
      r: { type: "identity" },
    }),
  });
}

function markersOf({ present, best, never, clairvoyant, traffic }: CurveSummary): readonly CurveMarker[] {
  const marker = (
    { cost, cold_starts_per_day: starts }: Pick<PointFigures, "cost" | "cold_starts_per_day">,
    label: string,
    ink: string,
    isRing = false,
  ): CurveMarker => ({ cost: perMonth(cost, traffic.month_base_days * DAY), starts, label, ink, isRing });
  return [
    ...(best.delay_s === present.delay_s
      ? [marker(best, `best and current, ${delayText(best.delay_s)}`, INK.best)]
      : [
          marker(best, `best, ${delayText(best.delay_s)}`, INK.best),
          marker(present, `current, ${delayText(present.delay_s)}`, INK.current, true),
        ]),
    marker(clairvoyant, "perfect foresight", INK.bound),
    ...([best.delay_s, present.delay_s].includes("never") ? [] : [marker(never, "always on", INK.faint)]),
  ];
}

function frontOf({ pareto, present, best }: CurveSummary): readonly FrontPoint[] {
  return pareto.points.map(
    (point): FrontPoint => ({
      name: delayText(point.delay_s),
      cost: point.cost_dollars_per_month,
      starts: point.cold_starts_per_day,
      isNamed:
        point.delay_s === best.delay_s || point.delay_s === present.delay_s || point.delay_s === "never",
    }),
  );
}

function labelsOf(markers: readonly CurveMarker[], front: readonly FrontPoint[]): readonly DataLabel[] {
  return [
    ...markers.map(({ cost, starts, label, ink }) => ({ x: cost, y: starts, text: label, ink })),
    ...front
      .filter(({ isNamed }) => !isNamed)
      .map(({ cost, starts, name }) => ({
        x: cost,
        y: starts,
        text: name,
        ink: INK.faint,
        radius: 3,
        isStrong: false,
        isOptional: true,
      })),
  ];
}

function plotMarks(
  points: readonly DrawnPoint[],
  front: readonly FrontPoint[],
  markers: readonly CurveMarker[],
): Plot.Markish[] {
  const figuresTitle = ({ cost, starts }: Pick<DrawnPoint, "cost" | "starts">) =>
    `${threeDigitMoney(cost)} a month, ${threeDigits(starts)} cold starts a day`;
  return [
    Plot.line(points, {
      x: "cost",
      y: "starts",
      stroke: INK.accent,
      strokeWidth: 2.5,
      title: () => "delays from 1 min to 7 d",
    }),
    Plot.dot(front, {
      x: "cost",
      y: "starts",
      r: 3,
      fill: INK.accent,
      title: (point: FrontPoint) => `${point.name}: ${figuresTitle(point)}`,
    }),
    Plot.dot(markers, {
      x: "cost",
      y: "starts",
      r: ({ isRing }: CurveMarker) => (isRing ? 9 : 6),
      fill: ({ isRing, ink }: CurveMarker) => (isRing ? "none" : ink),
      stroke: ({ isRing, ink }: CurveMarker) => (isRing ? ink : INK.paper),
      strokeWidth: 2,
      title: (each: CurveMarker) => `${each.label}: ${figuresTitle(each)}`,
    }),
  ];
}

export function drawnPoint(
  { traffic }: Pick<CurveSummary, "traffic">,
  delay: number,
  { cost, active_s, burden_s, cold_starts_per_day }: PointFigures,
): DrawnPoint {
  const monthlyCost = perMonth(cost, traffic.month_base_days * DAY);
  return {
    delay,
    cost: monthlyCost,
    weightedCost: active_s === 0 ? 0 : (monthlyCost * burden_s) / active_s,
    starts: cold_starts_per_day,
  };
}
