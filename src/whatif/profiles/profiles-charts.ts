import * as Plot from "@observablehq/plot";
import { amount } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import type { ProfilesReport } from "./profiles-report.ts";

/** Cost, or CU-hours if a profile has no price, and waits. */
export function profilesCharts({ profiles }: ProfilesReport): Chart[] {
  const isPriced = profiles.every(({ figures }) => figures.cost !== null);
  const rows = profiles.map(({ profile, figures }) => ({
    profile,
    spent: figures.cost !== null && isPriced ? figures.cost : figures.cu_hours,
    wait: figures.wait_mean_ms,
  }));
  const bars = (
    name: string,
    title: string,
    caption: string,
    x: "spent" | "wait",
    label: string,
    fill: string,
  ): Chart =>
    drawChart({
      name,
      title,
      caption,
      plot: {
        height: 80 + rows.length * 36,
        marginLeft: 140,
        marginRight: 80,
        x: { label, grid: true, nice: true, zero: true, tickFormat: amount },
        y: { label: null, domain: rows.map(({ profile }) => profile), tickSize: 0 },
        marks: [
          Plot.barX(rows, { x, y: "profile", fill, insetTop: 5, insetBottom: 5, rx: 2 }),
          Plot.text(rows, {
            x,
            y: "profile",
            text: (row: (typeof rows)[number]) => amount(row[x]),
            dx: 6,
            textAnchor: "start",
            fill: INK.faint,
          }),
        ],
      },
    });
  return [
    isPriced
      ? bars(
          "cost",
          "Cost",
          "At the price of each profile, metered from the end of each start.",
          "spent",
          "dollars →",
          INK.accent,
        )
      : bars("cost", "CU-hours", "Not every profile has a price.", "spent", "CU-hours →", INK.accent),
    bars(
      "wait",
      "Mean added wait",
      "Time that requests wait for starts, averaged over all requests.",
      "wait",
      "ms →",
      INK.current,
    ),
  ];
}
