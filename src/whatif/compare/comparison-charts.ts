import * as Plot from "@observablehq/plot";
import { amount, tickMoney } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { draw, INK } from "../report/svg.ts";
import { timelineChart } from "../report/timeline-chart.ts";
import type { Comparison } from "./comparison.ts";
import { bestOf } from "./comparison-page.ts";

type Spot = {
  readonly policy: string;
  readonly cost: number;
  readonly starts: number;
  readonly wide: number;
  readonly high: number;
  readonly ink: string;
};

/** Cost against cold starts of every policy, and the active hours of the days. */
export function comparisonCharts(comparison: Comparison): Chart[] {
  return [tradeOff(comparison), ...timeline(comparison)];
}

function tradeOff({ policies, question }: Comparison): Chart {
  const hasPrice = question.price_per_cu_hour !== null;
  const metric = hasPrice ? "cost" : "cu_hours";
  const each = policies.map((policy, index): Spot => {
    const [cost, starts] = [policy.figures[metric], policy.figures.cold_starts_per_day];
    return {
      policy: policy.policy,
      cost: cost?.value ?? 0,
      starts: starts?.value ?? 0,
      wide: cost?.plus_minus ?? 0,
      high: starts?.plus_minus ?? 0,
      ink: index === 0 ? INK.present : policy.knows === "past" ? INK.best : INK.bound,
    };
  });
  const spots = together(each);
  const left = (spot: Spot) => spot.cost <= (Math.min(...spots.map(({ cost }) => cost)) + Math.max(...spots.map(({ cost }) => cost))) / 2;
  return draw({
    name: "policies",
    title: "Cost against cold starts",
    caption:
      "To the lower left is better. What knows of the future (violet) is a measure for the others; bars are 95 % intervals where chance is involved.",
    plot: {
      height: 420,
      x: {
        label: hasPrice ? "cost →" : "CU-hours →",
        grid: true,
        nice: true,
        inset: 16,
        tickFormat: hasPrice ? tickMoney : amount,
      },
      y: { label: "↑ cold starts a day", grid: true, nice: true, inset: 16, tickFormat: amount },
      marks: [
        Plot.link(spots, {
          x1: (spot: Spot) => spot.cost - spot.wide,
          x2: (spot: Spot) => spot.cost + spot.wide,
          y: "starts",
          stroke: INK.faint,
        }),
        Plot.link(spots, {
          y1: (spot: Spot) => spot.starts - spot.high,
          y2: (spot: Spot) => spot.starts + spot.high,
          x: "cost",
          stroke: INK.faint,
        }),
        Plot.dot(spots, { x: "cost", y: "starts", r: 6, fill: (spot: Spot) => spot.ink, stroke: "var(--paper)", strokeWidth: 2 }),
        ...[true, false].map((isLeft) =>
          Plot.text(
            spots.filter((spot) => left(spot) === isLeft),
            {
              x: "cost",
              y: "starts",
              text: "policy",
              dx: isLeft ? 10 : -10,
              textAnchor: isLeft ? "start" : "end",
              fill: (spot: Spot) => spot.ink,
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

/** What lies at one place has one spot, with all names. */
function together(spots: readonly Spot[]): Spot[] {
  const places = new Map<string, Spot>();
  for (const spot of spots) {
    const place = `${spot.cost} ${spot.starts}`;
    const there = places.get(place);
    places.set(place, there === undefined ? spot : { ...there, policy: `${there.policy}, ${spot.policy}` });
  }
  return [...places.values()];
}

/** The present setting and the best of those that can be had. */
function timeline({ policies, traffic }: Comparison): Chart[] {
  const [present] = policies;
  const best = bestOf(policies);
  if (present === undefined) return [];
  const drawn =
    best === present
      ? [{ policy: present, ink: INK.best }]
      : [
          { policy: present, ink: INK.present },
          { policy: best, ink: INK.best },
        ];
  return timelineChart(
    drawn.map(({ policy, ink }) => ({ name: policy.policy, ink, activeSeconds: policy.active_s_by_day })),
    traffic.from,
  );
}
