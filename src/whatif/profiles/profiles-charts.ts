import { barChart } from "../report/bar-chart.ts";
import type { Chart } from "../report/page-layout.ts";
import { INK } from "../report/svg.ts";
import type { ProfileRow, ProfilesReport } from "./profiles-report.ts";

/** Cost, or CU-hours if a profile has no price, and waits. */
export function profilesCharts({ profiles }: ProfilesReport): Chart[] {
  const isPriced = profiles.every(({ figures }) => figures.cost !== null);
  const layout = { height: 80 + profiles.length * 36, marginLeft: 140, inset: 5 };
  const bars = (figureOf: (figures: ProfileRow["figures"]) => number) =>
    profiles.map(({ profile, figures }) => ({ name: profile, value: figureOf(figures) }));
  const costTexts = isPriced
    ? {
        title: "Cost",
        caption: "At the price of each profile, metered from the end of each start.",
        label: "dollars →",
      }
    : { title: "CU-hours", caption: "Not every profile has a price.", label: "CU-hours →" };
  return [
    barChart({
      ...layout,
      ...costTexts,
      name: "cost",
      fill: INK.accent,
      bars: bars(({ cost, cu_hours }) => (isPriced ? (cost ?? 0) : cu_hours)),
    }),
    barChart({
      ...layout,
      name: "wait",
      title: "Mean added wait",
      caption: "Time that requests wait for starts, averaged over all requests.",
      label: "ms →",
      fill: INK.current,
      bars: bars(({ wait_mean_ms }) => wait_mean_ms),
    }),
  ];
}
