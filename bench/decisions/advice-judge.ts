import { HOUR, SECOND } from "../../src/kernel/time.ts";
import { newestPriceList } from "../../src/platform/catalog/price-lists.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import type { Proposal } from "../../src/whatif/questions/advice/proposal.ts";
import type { Coverage } from "./judge.ts";
import { MONTH_DAYS, RECORDED_DAYS } from "./known-truth.ts";
import { type FleetSettings, OtherDays, type StartDollars } from "./other-days.ts";
import { ADVISED_PLANS, computeName, type RecordedAdvice, recordedAdvice } from "./recorded-advice.ts";
import { CURRENT_DELAY_S, daysFrom, TrafficReader } from "./recorded-answer.ts";
import { arrivalsOfKind, collectedArrivals, FIRST_DAY, type TrafficKind } from "./traffic-kinds.ts";

/** Results of the advice for one kind of traffic and users of one plan. */
export type AdviceVerdict = {
  readonly kind: string;
  readonly plan: string;
  readonly replications: number;
  /** Coverage of the intervals of the savings of proposals. */
  readonly savings: Coverage;
  /** Replications with a decision to change something, by what it changes. */
  readonly decisions: ReadonlyMap<Proposal["kind"], number>;
  /** Replications whose advice says that too little is known to recommend a delay. */
  readonly notKnown: number;
  /**
   * Saving of decisions on the bill in percent, minus the saving on later days, in percentage points; mean. Undefined
   * without decisions.
   */
  readonly promisedMinusHeldOut: number | undefined;
  /**
   * Weighted cost after the advice on later days, above that of the best change in hindsight; mean, in percent.
   * Undefined if too little is known for any advice.
   */
  readonly regretPercent: number | undefined;
  /** Decisions after which later days have a higher weighted cost than before, and by how much at most. */
  readonly losses: number;
  readonly worstLossPercent: number;
};

export type JudgedExtent = { readonly replications: number; readonly truths: number };

/** One verdict for each plan. Calls `onDone` after each replication. */
export function judgeAdvice(
  kind: TrafficKind,
  { replications, truths }: JudgedExtent,
  onDone: (replications: number) => void = () => {},
): readonly AdviceVerdict[] {
  const reader = new TrafficReader(daysFrom(FIRST_DAY, RECORDED_DAYS));
  const truth = expectedDays(kind, truths, reader);
  const tallies = new Map(ADVISED_PLANS.map(({ name }) => [name, new AdviceTally()]));
  for (let replication = 0; replication < replications; replication += 1) {
    const all = arrivalsOfKind(kind, RECORDED_DAYS + MONTH_DAYS, randomFrom(1 + replication));
    const period = daysFrom(FIRST_DAY, RECORDED_DAYS);
    const collected = all.map((arrivals) => collectedArrivals(kind, arrivals, period.endAt));
    const later = new OtherDays(all, daysFrom(period.endAt, RECORDED_DAYS), reader);
    for (const recorded of recordedAdvice(collected, period))
      tallies.get(recorded.advised.name)?.add(recorded, truth, later);
    onDone(replication + 1);
  }
  return [...tallies].map(([plan, tally]) => ({ kind: kind.name, plan, ...tally.verdict() }));
}

/** Days of replications that are not judged, to calculate expected figures. */
type ExpectedDays = { readonly recorded: readonly OtherDays[]; readonly later: readonly OtherDays[] };

function expectedDays(kind: TrafficKind, truths: number, reader: TrafficReader): ExpectedDays {
  const [recorded, later]: [OtherDays[], OtherDays[]] = [[], []];
  for (let replication = 0; replication < truths; replication += 1) {
    const all = arrivalsOfKind(kind, RECORDED_DAYS + MONTH_DAYS, randomFrom(-1 - replication));
    const period = daysFrom(FIRST_DAY, RECORDED_DAYS);
    recorded.push(new OtherDays(all, period, reader));
    later.push(new OtherDays(all, daysFrom(period.endAt, RECORDED_DAYS), reader));
  }
  return { recorded, later };
}

/** Rounding errors are no misses, and differences of less than a cent no losses. */
const TOLERANCE_DOLLARS = 0.01;

class AdviceTally {
  readonly #savings: Coverage = { covered: 0, missed: 0, unknown: 0 };
  readonly #decisions = new Map<Proposal["kind"], number>();
  readonly #differences: number[] = [];
  readonly #regrets: number[] = [];
  readonly #losses: number[] = [];
  #replications = 0;
  #notKnown = 0;

  add(recorded: RecordedAdvice, truth: ExpectedDays, later: OtherDays): void {
    const { advice, advised } = recorded;
    const worth = startDollars(recorded);
    const current = { plan: advised.plan, delayOf: () => CURRENT_DELAY_S };
    this.#replications += 1;
    // With the warning, the figures are said to be those of the recorded days.
    const expected = advice.traffic_change === null ? truth.later : truth.recorded;
    const billOf = (settings: FleetSettings) =>
      expected.reduce((sum, days) => sum + days.costs(settings, worth).bill, 0) / expected.length;
    const billNow = billOf(current);
    for (const proposal of advice.proposals) {
      const { margin_95: margin, saves_dollars_per_month: saves } = proposal;
      const error = Math.abs(saves - (billNow - billOf(settingsAfter(proposal, recorded))));
      const verdict =
        margin === null ? "unknown" : error <= margin + TOLERANCE_DOLLARS ? "covered" : "missed";
      this.#savings[verdict] += 1;
    }
    const { decision } = advice;
    if (decision === null && isNotKnown(recorded)) {
      this.#notKnown += 1;
      return;
    }
    const before = later.costs(current, worth);
    const after = decision === null ? before : later.costs(settingsAfter(decision, recorded), worth);
    this.#regrets.push((after.weighted / later.leastWeighted(advised, worth) - 1) * 100);
    if (decision === null) return;
    this.#decisions.set(decision.kind, (this.#decisions.get(decision.kind) ?? 0) + 1);
    const promised = decision.saves_dollars_per_month / advice.bill.dollars_per_month;
    this.#differences.push((promised - (1 - after.bill / before.bill)) * 100);
    if (after.weighted > before.weighted + TOLERANCE_DOLLARS)
      this.#losses.push((after.weighted / before.weighted - 1) * 100);
  }

  verdict(): Omit<AdviceVerdict, "kind" | "plan"> {
    return {
      replications: this.#replications,
      savings: this.#savings,
      decisions: this.#decisions,
      notKnown: this.#notKnown,
      promisedMinusHeldOut: meanOf(this.#differences),
      regretPercent: meanOf(this.#regrets),
      losses: this.#losses.length,
      worstLossPercent: Math.max(0, ...this.#losses),
    };
  }
}

function isNotKnown({ advice }: RecordedAdvice): boolean {
  return (
    advice.too_little.length > 0 ||
    advice.traffic_change !== null ||
    (advice.proposals.length > 0 && advice.proposals.every(({ margin_95 }) => margin_95 === null))
  );
}

function settingsAfter(
  { kind, delay_s, plan, source, every_s }: Proposal,
  { advised, advice }: RecordedAdvice,
): FleetSettings {
  if (plan === "free") throw new Error("the free plan needs storage and transfer, which are not stated");
  const own = new Map(advice.own_delays.map((one) => [one.compute, one.delay_s]));
  const delay = delay_s === undefined || delay_s === "own" ? CURRENT_DELAY_S : delay_s;
  return {
    plan: plan ?? advised.plan,
    delayOf:
      kind === "delays_by_compute"
        ? (compute) => own.get(computeName(compute)) ?? CURRENT_DELAY_S
        : () => delay,
    without: every_s === undefined ? source : undefined,
    slower: source === undefined || every_s === undefined ? undefined : { source, everyMs: every_s * SECOND },
  };
}

/** At the current price. */
function startDollars({ worthS, advised }: RecordedAdvice): StartDollars {
  return { dollarsPerStart: ((worthS * SECOND) / HOUR) * newestPriceList().perCuHour[advised.plan] };
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
