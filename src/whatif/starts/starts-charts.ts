import * as Plot from "@observablehq/plot";
import { DAY, MINUTE } from "../../platform/core/time.ts";
import type { Period } from "../../recordings/trace/trace.ts";
import { amount, tickMillis } from "../report/number-format.ts";
import type { Chart } from "../report/page-layout.ts";
import { drawChart, INK } from "../report/svg.ts";
import { startLimitName } from "./starts-page.ts";
import { type StartsAnswer, WAIT_SHARES } from "./starts-report.ts";

const TIME_SLICES = 300;
const INKS = [INK.accent, INK.current, INK.best, INK.bound, INK.faint];
const MINUTES_PER_DAY = DAY / MINUTE;
const MINUTES_PER_BAR = 15;

export function startsCharts({ report, series }: StartsAnswer, period: Period): Chart[] {
  const names = report.rows.map(startLimitName);
  const ink = (index: number) => INKS[index % INKS.length] as string;
  const days = (period.endAt - period.startAt) / DAY;
  const underWay = series.flatMap(({ times }, index) =>
    times.maxConcurrentPerSlice(period, TIME_SLICES).map((most, slice) => ({
      day: 1 + ((slice + 0.5) * days) / TIME_SLICES,
      most,
      name: names[index],
      ink: ink(index),
    })),
  );
  const waits = series.flatMap(({ waits: values }, index) =>
    values.map((ms, place) => ({
      ms: Math.max(1, ms),
      over: 100 * (1 - (WAIT_SHARES[place] as number)),
      name: names[index],
      ink: ink(index),
    })),
  );
  const legend = names.map((name, index) => ({ name, ink: ink(index) }));
  const legendText = legend
    .map(
      ({ name }, index) => `${["Blue", "Orange", "Green", "Violet", "Grey"][index % INKS.length]}: ${name}`,
    )
    .join("; ");
  return [
    drawChart({
      name: "under-way",
      title: "Concurrent starts",
      caption: `The maximum within each ${amount((days * 24) / TIME_SLICES)} h. Days count from ${report.traffic.from}. ${legendText}.`,
      plot: {
        x: { label: "day →", tickFormat: amount },
        y: { label: "↑ concurrent starts", grid: true, zero: true, nice: true, tickFormat: amount },
        color: { type: "identity" },
        marks: [
          Plot.ruleY([0], { stroke: INK.line }),
          Plot.lineY(underWay, {
            x: "day",
            y: "most",
            z: "name",
            stroke: "ink",
            strokeWidth: 1.5,
            curve: "step",
          }),
        ],
      },
    }),
    drawChart({
      name: "time-of-day",
      title: "Starts per minute, by time of day",
      caption: "The busiest minute of each quarter of an hour (UTC) over all days, without limits.",
      plot: {
        x: { label: "hour of day, UTC →", domain: [0, 24], ticks: 12, tickFormat: amount },
        y: { label: "↑ starts per minute", grid: true, zero: true, nice: true, tickFormat: amount },
        marks: [
          Plot.rectY(byTimeOfDay(series[0]?.perMinute ?? new Uint32Array(1), period), {
            x1: "from",
            x2: "to",
            y: "most",
            fill: INK.accent,
          }),
          Plot.ruleY([0], { stroke: INK.line }),
        ],
      },
    }),
    ...(report.rows.every(({ figures }) => figures.waited === 0)
      ? []
      : [
          drawChart({
            name: "waits",
            title: "Distribution of waits",
            caption: `Share of the waiting requests that wait longer. ${legendText}.`,
            plot: {
              x: { type: "log", label: "added wait →", grid: true, ticks: 6, tickFormat: tickMillis },
              y: { label: "↑ % that wait longer", grid: true, domain: [0, 100] },
              color: { type: "identity" },
              marks: [
                Plot.line(waits, {
                  x: "ms",
                  y: "over",
                  z: "name",
                  stroke: "ink",
                  strokeWidth: 2.5,
                  curve: "step-after",
                }),
              ],
            },
          }),
        ]),
  ];
}

function byTimeOfDay(
  perMinute: Uint32Array,
  { startAt }: Period,
): { from: number; to: number; most: number }[] {
  const most = new Array<number>(MINUTES_PER_DAY / MINUTES_PER_BAR).fill(0);
  for (const [minute, starts] of perMinute.entries()) {
    const place = Math.floor((Math.floor(startAt / MINUTE + minute) % MINUTES_PER_DAY) / MINUTES_PER_BAR);
    most[place] = Math.max(most[place] as number, starts);
  }
  const hours = MINUTES_PER_BAR / 60;
  return most.map((starts, place) => ({ from: place * hours, to: (place + 1) * hours, most: starts }));
}
