import type { Random } from "../../../kernel/random-port.ts";
import { HOUR } from "../../../kernel/time.ts";
import { perMonth } from "../../gap-curve/costs.ts";
import type { CurveReading } from "../../gap-curve/curve-reading.ts";
import { effectiveDelay, type Question } from "../../input/question.ts";
import { type FleetScaledTime, scaledTime } from "../../replay/scaled-time.ts";
import type { Traffic } from "../../trace/traffic.ts";
import type { FleetCurve } from "./fleet-curve.ts";

/** Cost of the current setting if requests keep their vCPUs busy for half as long. */
export type SizeSensitivity = {
  readonly cpu_share: number;
  readonly cost_dollars_per_month: number;
};

/** Replays the computes that scale; undefined if there are none. */
export function scaledTimeOf(
  traffic: Traffic,
  { longGaps }: CurveReading,
  question: Question,
  random: Random,
): FleetScaledTime | undefined {
  const { scaling, latency, deletedAt, currentDelay } = question;
  if (scaling === undefined) return undefined;
  const delayOf = (compute: number) => effectiveDelay(question, currentDelay, compute);
  return scaledTime(traffic, { scaling, latency, deletedAt, delayOf }, random, longGaps);
}

/** Adds CU time above the smallest sizes under the current setting to the days of the reading. */
export function withScaledCells(reading: CurveReading, scaled: FleetScaledTime | undefined): CurveReading {
  const { longGaps } = reading;
  if (longGaps === undefined || scaled === undefined) return reading;
  const cuMs = longGaps.cuMs.map((own, cell) => own + (scaled.cells[cell] as number));
  return { ...reading, longGaps: { ...longGaps, cuMs } };
}

export function sizeSensitivity(
  traffic: Traffic,
  reading: CurveReading,
  question: Question,
  random: Random,
  fleet: FleetCurve,
): SizeSensitivity | undefined {
  const { scaling, costs, currentDelay } = question;
  if (scaling === undefined) return undefined;
  const cpuShare = scaling.cpuShare / 2;
  const half = scaledTimeOf(traffic, reading, { ...question, scaling: { ...scaling, cpuShare } }, random);
  let cuMs = 0;
  for (const [number, scaled] of half?.computes ?? []) {
    const delay = effectiveDelay(question, currentDelay, number);
    cuMs += scaled.at(delay) - fleet.scaledCuMs(number, delay);
  }
  const difference = perMonth((cuMs / HOUR) * costs.pricePerCuHour, fleet.curve.periodMs);
  return { cpu_share: cpuShare, cost_dollars_per_month: fleet.costPerMonth(currentDelay) + difference };
}
