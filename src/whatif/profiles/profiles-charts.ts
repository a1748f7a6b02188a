import { barChart } from "../report/bar-chart.ts";
import type { Chart } from "../report/page-layout.ts";
import { INK } from "../report/svg.ts";
import type { ProfileRow, ProfilesReport } from "./profiles-report.ts";

/** Cost and waits. */
export function profilesCharts({ profiles }: ProfilesReport): Chart[] {
  const layout = { height: 80 + profiles.length * 36, marginLeft: 140, inset: 5 };
  const bars = (figureOf: (figures: ProfileRow["figures"]) => number) =>
    profiles.map(({ profile, figures }) => ({ name: profile, value: figureOf(figures) }));
  return [
    barChart({
      ...layout,
      name: "cost",
      title: "Cost",
      caption: "Metered from the end of each start.",
      label: "dollars →",
      fill: INK.accent,
      bars: bars(({ cost }) => cost),
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
