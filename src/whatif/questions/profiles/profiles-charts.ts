import { DAY } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import { barChart } from "../../page/bar-chart.ts";
import type { Chart } from "../../page/page-layout.ts";
import { INK } from "../../page/palette.ts";
import { threeDigitMoney, tickMillis } from "../../units/number-format.ts";
import type { ProfileRow, ProfilesReport } from "./profiles-report.ts";

/** Charts of cost and waits. */
export function profilesCharts({ profiles, traffic }: ProfilesReport): Chart[] {
  const bars = (figureOf: (figures: ProfileRow["figures"]) => number, show: (value: number) => string) =>
    profiles.map(({ profile, figures }) => {
      const value = figureOf(figures);
      return { name: profile, value, text: show(value) };
    });
  return [
    barChart({
      name: "cost",
      title: "Cost a month",
      caption: "A month of 730 hours with this traffic. Metered from the end of each start.",
      label: "cost, $ a month →",
      fill: INK.accent,
      tickFormat: threeDigitMoney,
      marginLeft: 140,
      bars: bars(({ cost }) => perMonth(cost, traffic.month_base_days * DAY), threeDigitMoney),
    }),
    barChart({
      name: "wait",
      title: "Mean added wait",
      caption: "Time that requests wait for starts, averaged over all requests.",
      label: "mean added wait, ms →",
      fill: INK.current,
      tickFormat: tickMillis,
      marginLeft: 140,
      bars: bars(({ wait_mean_ms }) => wait_mean_ms, tickMillis),
    }),
  ];
}
