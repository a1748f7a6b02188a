import * as Plot from "@observablehq/plot";
import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { drawChart } from "../../page/svg.ts";
import { timelineChart } from "../../page/timeline-chart.ts";
import { threeDigitMoney, threeDigits } from "../../units/number-format.ts";
import type { Comparison } from "./comparison.ts";
import { bestPolicy } from "./comparison-page.ts";

type PolicyMarker = {
  readonly policy: string;
  readonly cost: number;
  readonly starts: number;
  readonly costHalfWidth: number;
  readonly startsHalfWidth: number;
  readonly ink: string;
};

export function comparisonCharts(comparison: Comparison): Chart[] {
  return [policyTradeOff(comparison), ...policyTimeline(comparison)];
}

function policyTradeOff(comparison: Comparison): Chart {
  const markers = mergeOverlapping(policyMarkers(comparison));
  const hasIntervals = markers.some(
    ({ costHalfWidth, startsHalfWidth }) => costHalfWidth > 0 || startsHalfWidth > 0,
  );
  return drawChart({
    name: "policies",
    title: "Cost against cold starts",
    caption: `Lower left is better. Costs are for a month of 730 hours with this traffic.${hasIntervals ? " Lines through a mark are 95 % intervals." : ""}`,
    legend: [
      { name: "current", ink: INK.current, sample: "dot" },
      ...(markers.some(({ ink }) => ink === INK.best)
        ? [{ name: "achievable", ink: INK.best, sample: "dot" } as const]
        : []),
      ...(markers.some(({ ink }) => ink === INK.bound)
        ? [{ name: "bound, knows the future", ink: INK.bound, sample: "dot" } as const]
        : []),
    ],
    labels: markers.map(({ cost, starts, policy, ink }) => ({ x: cost, y: starts, text: policy, ink })),
    plot: (frame) => ({
      height: 420,
      x: {
        label: "cost, $ a month →",
        grid: true,
        nice: true,
        inset: 16,
        ticks: frame.isNarrow ? 4 : 8,
        tickFormat: threeDigitMoney,
      },
      y: { label: "↑ cold starts a day", grid: true, nice: true, inset: 16, tickFormat: threeDigits },
      marks: plotMarks(markers),
      color: { type: "identity" },
    }),
  });
}

function policyMarkers({ policies, traffic }: Comparison): PolicyMarker[] {
  const monthlyCost = (cost = 0) => perMonth(cost, traffic.month_base_days * DAY);
  return policies.map((policy, index): PolicyMarker => {
    const [cost, starts] = [policy.figures.cost, policy.figures.cold_starts_per_day];
    return {
      policy: policy.policy,
      cost: monthlyCost(cost?.value),
      starts: starts?.value ?? 0,
      costHalfWidth: monthlyCost(cost?.margin_95 ?? cost?.plus_minus),
      startsHalfWidth: starts?.margin_95 ?? starts?.plus_minus ?? 0,
      ink: index === 0 ? INK.current : policy.knows === "future" ? INK.bound : INK.best,
    };
  });
}

function plotMarks(markers: readonly PolicyMarker[]): Plot.Markish[] {
  const title = ({ policy, cost, starts }: PolicyMarker) =>
    `${policy}: ${threeDigitMoney(cost)} a month, ${threeDigits(starts)} cold starts a day`;
  const intervalTitle = ({ policy }: PolicyMarker) => `${policy}: 95 % interval`;
  return [
    Plot.link(
      markers.filter(({ costHalfWidth }) => costHalfWidth > 0),
      {
        x1: (marker: PolicyMarker) => marker.cost - marker.costHalfWidth,
        x2: (marker: PolicyMarker) => marker.cost + marker.costHalfWidth,
        y: "starts",
        stroke: INK.faint,
        title: intervalTitle,
      },
    ),
    Plot.link(
      markers.filter(({ startsHalfWidth }) => startsHalfWidth > 0),
      {
        y1: (marker: PolicyMarker) => marker.starts - marker.startsHalfWidth,
        y2: (marker: PolicyMarker) => marker.starts + marker.startsHalfWidth,
        x: "cost",
        stroke: INK.faint,
        title: intervalTitle,
      },
    ),
    Plot.dot(markers, {
      x: "cost",
      y: "starts",
      r: 6,
      fill: (marker: PolicyMarker) => marker.ink,
      stroke: INK.paper,
      strokeWidth: 2,
      title,
    }),
  ];
}

/** Policies at the same position share one marker, labelled with all their names. */
function mergeOverlapping(markers: readonly PolicyMarker[]): PolicyMarker[] {
  const byPosition = new Map<string, PolicyMarker>();
  for (const marker of markers) {
    const position = `${marker.cost} ${marker.starts}`;
    const existing = byPosition.get(position);
    byPosition.set(
      position,
      existing === undefined ? marker : { ...existing, policy: `${existing.policy}, ${marker.policy}` },
    );
  }
  return [...byPosition.values()];
}

/** Active time by day under the current setting and the best policy. */
function policyTimeline({ policies, traffic }: Comparison): Chart[] {
  const [current] = policies;
  const best = bestPolicy(policies);
  if (current === undefined) return [];
  const drawn =
    best === current
      ? [{ policy: current, ink: INK.best }]
      : [
          { policy: current, ink: INK.current },
          { policy: best, ink: INK.best },
        ];
  return timelineChart(
    drawn.map(({ policy, ink }) => ({ name: policy.policy, ink, activeSeconds: policy.active_s_by_day })),
    traffic,
  );
}
