import type { Random } from "../../../kernel/random-port.ts";
import { SECOND } from "../../../kernel/time.ts";
import type { ClientForm } from "../../coupled/client-forms.ts";
import { simulateCoupled } from "../../coupled/coupled-simulation.ts";
import { loadArrivals } from "../../coupled/load-all.ts";
import type { DelayChoice } from "../../gap-curve/delay.ts";
import { meanSizes } from "../../input/mean-sizes.ts";
import { fleetSetting, type Question } from "../../input/question.ts";
import { type ChosenPoint, type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import type { Traffic } from "../../trace/traffic.ts";

/** Figures of a delay simulated with reactive clients, and their difference to the curve. */
export type SimulatedFigures = OutcomeFigures & {
  readonly delay_s: DelayChoice;
  /** Number of requests, including those of the clients. */
  readonly requests: number;
  /** Difference to the exact curve, which has neither clients nor start latency. */
  readonly difference: { readonly cold_starts: number; readonly active_s: number; readonly requests: number };
};

type ExactCurve = {
  readonly arrivals: number;
  pointAt(delay: DelayChoice): Pick<ChosenPoint, "coldStarts" | "activeMs">;
};

/** Simulates delays with one of each client for every compute with requests. Yields the number of delays done. */
export function* simulateDelays(
  traffic: Traffic,
  question: Question,
  exact: ExactCurve,
  { delays, clients }: { readonly delays: readonly DelayChoice[]; readonly clients: readonly ClientForm[] },
  random: Random,
): Generator<number, SimulatedFigures[]> {
  const { period } = traffic;
  const { latency, costs } = question;
  const arrivals = loadArrivals(traffic);
  const used = [...arrivals.keys()].filter((compute) => (arrivals[compute]?.at.length ?? 0) > 0);
  const simulated: SimulatedFigures[] = [];
  for (const delay of delays) {
    const outcome = simulateCoupled({
      period,
      ...fleetSetting(question, delay, [...traffic.computes.keys()]),
      cu: meanSizes(question, delay, [...traffic.computes.keys()], arrivals, period, random),
      arrivals,
      clients: used.flatMap((compute) => clients.map((client) => client.create(compute))),
      latency,
      starts: {},
      random,
    });
    const figures = outcomeFigures(outcome, period.endAt - period.startAt, costs);
    const point = exact.pointAt(delay);
    simulated.push({
      delay_s: delay,
      ...figures,
      requests: outcome.arrivals,
      difference: {
        cold_starts: figures.cold_starts - point.coldStarts,
        active_s: figures.active_s - point.activeMs / SECOND,
        requests: outcome.arrivals - exact.arrivals,
      },
    });
    yield simulated.length;
  }
  return simulated;
}
