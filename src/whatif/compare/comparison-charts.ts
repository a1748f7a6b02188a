import * as Plot from "@observablehq/plot";
import { amount, tickMoney } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import { timelineChart } from "../report/timeline-chart.ts";
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

function policyTradeOff({ policies }: Comparison): Chart {
  const policyMarkers = policies.map((policy, index): PolicyMarker => {
    const [cost, starts] = [policy.figures.cost, policy.figures.cold_starts_per_day];
    return {
      policy: policy.policy,
      cost: cost?.value ?? 0,
      starts: starts?.value ?? 0,
      costHalfWidth: cost?.plus_minus ?? 0,
      startsHalfWidth: starts?.plus_minus ?? 0,
      ink: index === 0 ? INK.current : policy.knows === "future" ? INK.bound : INK.best,
    };
  });
  const markers = mergeOverlapping(policyMarkers);
  const isInLeftHalf = (marker: PolicyMarker) =>
    marker.cost <=
    (Math.min(...markers.map(({ cost }) => cost)) + Math.max(...markers.map(({ cost }) => cost))) / 2;
  return drawChart({
    name: "policies",
    title: "Cost against cold starts",
    caption:
      "Lower left is better. Policies that know the future (violet) are bounds for the others. Bars are 95 % intervals, if randomness is involved.",
    plot: {
      height: 420,
      x: {
        label: "cost →",
        grid: true,
        nice: true,
        inset: 16,
        tickFormat: tickMoney,
      },
      y: { label: "↑ cold starts per day", grid: true, nice: true, inset: 16, tickFormat: amount },
      marks: [
        Plot.link(markers, {
          x1: (marker: PolicyMarker) => marker.cost - marker.costHalfWidth,
          x2: (marker: PolicyMarker) => marker.cost + marker.costHalfWidth,
          y: "starts",
          stroke: INK.faint,
        }),
        Plot.link(markers, {
          y1: (marker: PolicyMarker) => marker.starts - marker.startsHalfWidth,
          y2: (marker: PolicyMarker) => marker.starts + marker.startsHalfWidth,
          x: "cost",
          stroke: INK.faint,
        }),
        Plot.dot(markers, {
          x: "cost",
          y: "starts",
          r: 6,
          fill: (marker: PolicyMarker) => marker.ink,
          stroke: "var(--paper)",
          strokeWidth: 2,
        }),
        ...[true, false].map((isLeft) =>
          Plot.text(
            markers.filter((marker) => isInLeftHalf(marker) === isLeft),
            {
              x: "cost",
              y: "starts",
              text: "policy",
              dx: isLeft ? 10 : -10,
              textAnchor: isLeft ? "start" : "end",
              fill: (marker: PolicyMarker) => marker.ink,
              fontWeight: 600,
              stroke: "var(--paper)",
              strokeWidth: 4,
            },
          ),
        ),
      ],
      color: { type: "identity" },
    },
  });
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

/** The current setting and the best policy. */
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
    traffic.from,
  );
}
