import { DAY, type DurationMs, HOUR, SECOND } from "../../src/kernel/time.ts";
import { newestPriceList, type PricedPlan } from "../../src/platform/catalog/price-lists.ts";
import type { ComputeArrivals, Period } from "../../src/traffic/recorded/trace/trace.ts";
import { perMonth } from "../../src/whatif/gap-curve/costs.ts";
import type { SuspendDelay } from "../../src/whatif/gap-curve/delay.ts";
import { bestDelayOf } from "../../src/whatif/gap-curve/optimum.ts";
import { dayTotals } from "../../src/whatif/held-out/day-totals.ts";
import type { LongGaps } from "../../src/whatif/trace/long-gaps.ts";
import { periodicSources } from "../../src/whatif/trace/periodic-sources.ts";
import { spacedArrivals } from "../../src/whatif/trace/spaced-arrivals.ts";
import { trafficOf } from "../../src/whatif/trace/traffic.ts";
import type { AdvisedPlan } from "./recorded-advice.ts";
import { CURRENT_DELAY_S, type TrafficReader } from "./recorded-answer.ts";
import { SOURCES, selectedArrivals } from "./traffic-kinds.ts";

/** Settings of a fleet, and what it sends. */
export type FleetSettings = {
  readonly plan: PricedPlan;
  readonly delayOf: (compute: number) => SuspendDelay;
  /** The source that does not send requests any more. */
  readonly without?: string | undefined;
  /** The source that sends at this longer interval. */
  readonly slower?: { readonly source: string; readonly everyMs: DurationMs } | undefined;
};

/** A month like these days. The weighted cost has cold starts at their worth. */
export type MonthCosts = { readonly bill: number; readonly weighted: number };

/** `dollarsPerStart`: of a cold start, the same on each plan. */
export type StartDollars = { readonly dollarsPerStart: number };

/** Days that an advice was not made from, under any settings. */
export class OtherDays {
  readonly #days: number;
  readonly #all: LongGaps;
  readonly #without: ReadonlyMap<string, LongGaps>;
  /** The best delays of computes in hindsight, by the worth of a cold start. */
  readonly #bestOwn: (worthS: number) => readonly SuspendDelay[];
  readonly #bestOfAll: (worthS: number) => SuspendDelay;
  readonly #slower: (source: string, everyMs: DurationMs) => LongGaps;

  /** `reader`: of a period of this length. */
  constructor(arrivals: readonly ComputeArrivals[], period: Period, reader: TrafficReader) {
    this.#days = (period.endAt - period.startAt) / DAY;
    this.#all = reader.read(arrivals, period).longGaps;
    const sources = arrivals.some(({ source }) => source !== undefined) ? SOURCES : [];
    this.#without = new Map(
      sources.map((name, number) => {
        const others = arrivals.map((own) =>
          selectedArrivals(own, (index) => own.source?.[index] !== number),
        );
        return [name, reader.read(others, period).longGaps];
      }),
    );
    const periodic = periodicSources(
      trafficOf({
        period,
        sources,
        computes: arrivals.map((own, id) => ({ id: String(id), arrivals: own })),
      }),
    );
    const read = new Map<string, LongGaps>();
    this.#slower = (name, newEveryMs) => {
      const key = `${name} ${newEveryMs}`;
      const known = read.get(key);
      if (known !== undefined) return known;
      const everyMs = periodic.find(({ source }) => source === name)?.everyMs ?? newEveryMs;
      const spacing = { source: (SOURCES as readonly string[]).indexOf(name), everyMs, newEveryMs };
      const sent = arrivals.map((own) => spacedArrivals(own, spacing));
      const { longGaps } = reader.read(sent, period);
      read.set(key, longGaps);
      return longGaps;
    };
    this.#bestOwn = (worthS) => arrivals.map((own) => bestDelayOf(reader.read([own], period).gaps, worthS));
    this.#bestOfAll = (worthS) => bestDelayOf(reader.read(arrivals, period).gaps, worthS);
  }

  costs({ plan, delayOf, without, slower }: FleetSettings, { dollarsPerStart }: StartDollars): MonthCosts {
    const sent = without === undefined ? this.#all : (this.#without.get(without) as LongGaps);
    const gaps = slower === undefined ? sent : this.#slower(slower.source, slower.everyMs);
    const { activeMs, coldStarts } = dayTotals(gaps, delayOf, () => 1);
    const aMonth = (values: Float64Array) =>
      perMonth(
        values.reduce((sum, value) => sum + value, 0),
        this.#days * DAY,
      );
    const bill = (aMonth(activeMs) / HOUR) * newestPriceList().perCuHour[plan];
    return { bill, weighted: bill + aMonth(coldStarts) * dollarsPerStart };
  }

  /** The lowest weighted cost that one change leads to, if these days were known. */
  leastWeighted({ plan: own, plans }: AdvisedPlan, worth: StartDollars): number {
    const settings = plans.flatMap((plan) =>
      [...this.#delaysOn(plan, worth)].map((delayOf) => ({ plan, delayOf })),
    );
    const sources = [...this.#without.keys()].map((without) => ({
      plan: own,
      delayOf: () => CURRENT_DELAY_S,
      without,
    }));
    return Math.min(...[...settings, ...sources].map((one) => this.costs(one, worth).weighted));
  }

  *#delaysOn(plan: PricedPlan, { dollarsPerStart }: StartDollars): Generator<FleetSettings["delayOf"]> {
    yield () => CURRENT_DELAY_S;
    yield () => "never";
    if (plan !== "scale") return;
    const worthS = Math.round((dollarsPerStart / newestPriceList().perCuHour[plan]) * (HOUR / SECOND));
    const [all, own] = [this.#bestOfAll(worthS), this.#bestOwn(worthS)];
    yield () => all;
    yield (compute) => own[compute] as SuspendDelay;
  }
}
