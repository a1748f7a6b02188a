import type { Random } from "../../../kernel/random-port.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import { computeResources, maxConnections } from "../../../platform/catalog/sizes.ts";
import { type ComputeArrivals, collectParts } from "../../../traffic/recorded/trace/trace.ts";
import { type Costs, sizeOf, startWorth } from "../../gap-curve/costs.ts";
import { type Curve, curveOf } from "../../gap-curve/curve.ts";
import type { DelayChoice, SuspendDelay } from "../../gap-curve/delay.ts";
import { bestDelay } from "../../gap-curve/optimum.ts";
import { type DrawnOutcome, OutcomeMargins } from "../../held-out/outcome-margins.ts";
import { commonValue, DEFAULTS, delaysUnder, effectiveCu, type WorldDefaults } from "../../input/question.ts";
import { latencyText, sizeSentence } from "../../input/question-summary.ts";
import type { ReportLimits } from "../../page/page-layout.ts";
import { type OutcomeFigures, outcomeFigures } from "../../replay/figures.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcomeByDay } from "../../replay/replay-outcome.ts";
import { loadSizesOf, type ScalingComputes } from "../../sizes/scaling-computes.ts";
import { GapReader } from "../../trace/gaps.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { AFTER_TRACE_END, type TrafficSummary, trafficSummary } from "../../trace/traffic-summary.ts";
import {
  type NamedProfile,
  type PriceInput,
  type PriceSummary,
  priceSummary,
  type UsedPrice,
  usedPrice,
} from "../../units/prices.ts";
import { StartLatencies, type StartLatency } from "../../units/start-latency.ts";
import { directConnections, directLimit } from "../capacity/pool-connections.ts";

export type ProfilesQuestion = Pick<PriceInput, "prices" | "pricePlan"> & {
  /** Profiles. The first one is the base of comparison. */
  readonly profiles: readonly NamedProfile[];
  /** Delay of all computes; `undefined`: the delays of the world, otherwise the default of each profile. */
  readonly delay: SuspendDelay | undefined;
  /** Size of all computes; `undefined`: the sizes of the world, otherwise the default. */
  readonly cu: number | undefined;
  readonly world?: WorldDefaults | undefined;
  readonly coldStartS: number;
  /** Connections of `max_connections` that the platform reserves. */
  readonly reserved: number;
  readonly seed: number;
};

/** The published values of a profile, and the figures of the traffic under it. */
export type ProfileRow = PriceSummary & {
  readonly profile: string;
  readonly start_latency: string;
  readonly default_delay_s: number;
  readonly minimum_delay_s: number;
  readonly maximum_delay_s: number;
  /** This and the next two are for the size of all computes; null if sizes differ. */
  readonly ram_gb: number | null;
  readonly file_cache_gb: number | null;
  readonly max_connections: number | null;
  readonly pooled_connections: number;
  readonly largest_autoscaled_cu: number;
  readonly largest_cu: number;
  readonly delay_s: DelayChoice;
  readonly best_delay_s: SuspendDelay;
  /** Connections that arrive while all unreserved ones are in use. */
  readonly direct_refused: number;
  readonly figures: OutcomeFigures;
  /** Difference to the first profile. */
  readonly difference: OutcomeFigures;
  /** Half the width of the 95 % interval of each, for these computes on other days; null without intervals. */
  readonly margin_95: ProfileMargins | null;
};

type ProfileMargins = Pick<OutcomeFigures, "cost" | "cold_starts_per_day" | "wait_mean_ms"> & {
  /** Margins of the differences to the first profile. */
  readonly difference: Pick<OutcomeFigures, "cost" | "cold_starts_per_day" | "wait_mean_ms">;
  /** Margin of the change of the cost in percent; null if the cost of the first profile is 0 on some days. */
  readonly cost_percent: number | null;
};

export type ProfilesQuestionSummary = {
  readonly profiles: readonly string[];
  /** Delay of all computes. Null: the default of each profile. "own": the delay of each compute. */
  readonly delay_s: DelayChoice | null;
  readonly cu: number | "own";
  readonly cold_start_worth_s: number;
  readonly reserved: number;
  readonly seed: number;
  /** The fields that come from the world's settings. */
  readonly from_world: readonly ("delay" | "cu")[];
};

export type ProfilesReport = {
  readonly question: ProfilesQuestionSummary;
  readonly traffic: TrafficSummary;
  /** Why there are no intervals; null if there are. */
  readonly no_margins: string | null;
  readonly profiles: readonly ProfileRow[];
  readonly limits: ReportLimits;
};

/** Yields the number of computes replayed so far, summed over all profiles. */
export function* profilesReport(
  traffic: Traffic,
  question: ProfilesQuestion,
  random: Random,
): Generator<number, ProfilesReport> {
  const { period } = traffic;
  const deletedAt = question.world?.deletedAt;
  const reader = new GapReader(period);
  const runs = question.profiles.map((named) => new ProfileRun(traffic, question, named, random));
  let done = 0;
  for (const number of traffic.computes.keys()) {
    const own = collectParts(traffic.arrivals(number));
    reader.add(own);
    reader.end(deletedAt?.[number]);
    for (const run of runs) {
      run.add(own, number);
      done += 1;
      yield done;
    }
  }
  const curve = curveOf(reader.gaps);
  const [first] = runs;
  const { profiles } = question;
  const margins = OutcomeMargins.of(period);
  const base = "missing" in margins ? undefined : first?.drawn(margins);
  return {
    question: profilesQuestionSummary(question),
    traffic: trafficSummary(traffic, reader.gaps.computes, reader.gaps.arrivals, curve.neverActiveMs),
    no_margins: "missing" in margins ? margins.missing : null,
    profiles: runs.map((run, index) => ({
      ...run.row(profiles[index]?.name ?? "", curve, first?.figures() ?? run.figures()),
      margin_95: "missing" in margins ? null : profileMargins(margins, run.drawn(margins), base),
    })),
    limits: profilesLimits(question),
  };
}

export function profilesQuestionSummary(question: ProfilesQuestion): ProfilesQuestionSummary {
  const { profiles, delay, world, coldStartS: cold_start_worth_s, reserved, seed } = question;
  const cu = effectiveCu(question.cu, world);
  const own = world === undefined ? "preset" : (commonValue(world.delays) ?? "own");
  const fromWorld = [delay === undefined && ("delay" as const), question.cu === undefined && ("cu" as const)];
  return {
    profiles: profiles.map(({ name }) => name),
    delay_s: delay ?? (own === "preset" ? null : own),
    cu: typeof cu === "number" ? cu : "own",
    cold_start_worth_s,
    reserved,
    seed,
    from_world: world === undefined ? [] : fromWorld.filter((field) => field !== false),
  };
}

class ProfileRun {
  readonly #profile: Profile;
  readonly #price: UsedPrice;
  readonly #costs: Costs;
  readonly #delay: DelayChoice;
  /** Delays by compute of a world; undefined for a trace. */
  readonly #ownDelays: readonly SuspendDelay[] | undefined;
  readonly #deletedAt: WorldDefaults["deletedAt"] | undefined;
  readonly #scaling: ScalingComputes | undefined;
  readonly #latency: StartLatency;
  readonly #replay: FixedReplay;
  readonly #random: Random;
  readonly #periodMs: number;
  readonly #reserved: number;
  #refused = 0;

  constructor(
    { period }: Traffic,
    { delay, cu, world, coldStartS, reserved, ...prices }: ProfilesQuestion,
    named: NamedProfile,
    random: Random,
  ) {
    const { profile } = named;
    const preset = profile.suspendTimeout.defaultS;
    this.#profile = profile;
    this.#price = usedPrice(prices, named);
    this.#costs = { cu: effectiveCu(cu, world), coldStartS, pricePerCuHour: this.#price.pricePerCuHour };
    this.#ownDelays = delay === undefined && world !== undefined ? delaysUnder(profile, world) : undefined;
    this.#deletedAt = world?.deletedAt;
    if (cu === undefined && world?.scaling !== undefined)
      this.#scaling = { ...world.scaling, ramGbPerCu: profile.ramGbPerCu, cpuShare: DEFAULTS.cpuShare };
    this.#delay = delay ?? (this.#ownDelays === undefined ? preset : (commonValue(this.#ownDelays) ?? "own"));
    this.#latency = profile.durations.start_compute;
    this.#replay = new FixedReplay(
      period,
      this.#delay === "own" ? preset : this.#delay,
      emptyOutcomeByDay(period),
    );
    this.#random = random;
    this.#periodMs = period.endAt - period.startAt;
    this.#reserved = reserved;
  }

  add(arrivals: ComputeArrivals, number: number): void {
    const cu = sizeOf(this.#costs, number);
    const own = {
      cu,
      delay: this.#ownDelays?.[number],
      deletedAt: this.#deletedAt?.[number],
      startWorth: startWorth(this.#costs, cu),
      sizes: loadSizesOf(this.#scaling, number, this.#random),
    };
    this.#replay.begin(new StartLatencies(this.#latency, this.#random, number), own);
    this.#replay.add(arrivals);
    this.#replay.end();
    this.#refused += directConnections(
      arrivals,
      directLimit(this.#profile, { minCu: cu, maxCu: cu }, this.#reserved),
    ).refused;
  }

  figures(): OutcomeFigures {
    return outcomeFigures(this.#replay.outcome, this.#periodMs, this.#costs);
  }

  /** Samples for margins; undefined without totals by day. */
  drawn(margins: OutcomeMargins): DrawnOutcome | undefined {
    const { days } = this.#replay.outcome;
    return days === undefined ? undefined : margins.drawn([days], this.#costs);
  }

  row(name: string, curve: Curve, base: OutcomeFigures): Omit<ProfileRow, "margin_95"> {
    const { cu, coldStartS } = this.#costs;
    const { suspendTimeout, sizes, pooledConnections } = this.#profile;
    const figures = this.figures();
    const { ramGb, fileCacheGb, connections } =
      typeof cu === "number"
        ? {
            ...computeResources(this.#profile, cu),
            connections: maxConnections(this.#profile, { minCu: cu, maxCu: cu }),
          }
        : { ramGb: null, fileCacheGb: null, connections: null };
    return {
      profile: name,
      ...priceSummary(this.#price),
      start_latency: latencyText(this.#latency),
      default_delay_s: suspendTimeout.defaultS,
      minimum_delay_s: suspendTimeout.minimumS,
      maximum_delay_s: suspendTimeout.maximumS,
      ram_gb: ramGb,
      file_cache_gb: fileCacheGb,
      max_connections: connections,
      pooled_connections: pooledConnections,
      largest_autoscaled_cu: sizes.autoscaled.at(-1) ?? 0,
      largest_cu: sizes.fixedOnly.at(-1) ?? sizes.autoscaled.at(-1) ?? 0,
      delay_s: this.#delay,
      best_delay_s: bestDelay(curve, coldStartS, suspendTimeout.minimumS, suspendTimeout.maximumS).delay,
      direct_refused: this.#refused,
      figures,
      difference: figureDifference(figures, base),
    };
  }
}

function profileMargins(
  margins: OutcomeMargins,
  own: DrawnOutcome | undefined,
  base: DrawnOutcome | undefined,
): ProfileMargins | null {
  if (own === undefined || base === undefined) return null;
  const difference = (name: "cost" | "cold_starts_per_day" | "wait_mean_ms") =>
    margins.difference(own[name], base[name]);
  return {
    cost: margins.margin(own.cost),
    cold_starts_per_day: margins.margin(own.cold_starts_per_day),
    wait_mean_ms: margins.margin(own.wait_mean_ms),
    difference: {
      cost: difference("cost"),
      cold_starts_per_day: difference("cold_starts_per_day"),
      wait_mean_ms: difference("wait_mean_ms"),
    },
    cost_percent: margins.percent(own.cost, base.cost),
  };
}

function figureDifference(figures: OutcomeFigures, base: OutcomeFigures): ProfileRow["difference"] {
  const names = Object.keys(figures) as (keyof OutcomeFigures)[];
  const entries = names.map((name) => [name, figures[name] - base[name]] as const);
  return Object.fromEntries(entries) as ProfileRow["difference"];
}

function profilesLimits({ cu, world }: ProfilesQuestion): ReportLimits {
  return {
    exact: [
      "Every request is replayed under each profile, with its delay, start latency and price. A request holds one connection from its arrival to its end. If no connection is free, it is rejected and not retried.",
    ],
    simulated: [
      "If the start latency is a distribution, the draw depends on the instant of the start: profiles with the same distribution that start a compute at the same instant draw the same value.",
    ],
    left_out: [
      "Profiles contain published numbers, or those of your file. Other dates, plans and regions may differ.",
      `${sizeSentence({ cu: effectiveCu(cu, world) })} Storage, history, transfer and free allowances are not included in the cost.`,
      "Clients that retry after a wait or a rejection.",
      "The best delay has the lowest weighted cost of active time and cold starts within the limits of the profile, if starts take no time.",
      AFTER_TRACE_END,
    ],
  };
}
