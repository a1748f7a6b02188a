import type { Chance } from "../../platform/chance.ts";
import type { Profile } from "../../platform/profile.ts";
import { maxConnections, sizeFacts } from "../../platform/sizes.ts";
import { directConnections } from "../connections.ts";
import type { Costs } from "../costs.ts";
import { type Curve, curveOf, type Delay } from "../curve.ts";
import { GapReader } from "../gaps.ts";
import { bestDelay } from "../pick.ts";
import { FixedReplay } from "../replay.ts";
import { StartLatencies, type StartLatency } from "../start-latency.ts";
import { allOf, type Requests } from "../trace.ts";
import { type OutcomeFigures, outcomeFigures } from "./figures.ts";
import type { Limits } from "./page.ts";
import { latencyText } from "./question.ts";
import { BEHIND_THE_END, type ToldTraffic, toldTraffic } from "./told-traffic.ts";
import type { Traffic } from "./traffic.ts";

/** A profile as somebody names it: one of those that are there, or one's own. */
export type NamedProfile = { readonly name: string; readonly profile: Profile };

export type ProfilesQuestion = {
  /** The others are compared with the first. */
  readonly profiles: readonly NamedProfile[];
  /** The same under each; `undefined`: the one that each presets. */
  readonly delay: Delay | undefined;
  readonly cu: number;
  readonly coldStartS: number;
  readonly reserved: number;
  readonly seed: number;
};

/** What a profile says, and what the traffic comes to under it. */
export type ProfileRow = {
  readonly profile: string;
  /** Paid plan; null where none is published. */
  readonly price_per_cu_hour: number | null;
  readonly start_latency: string;
  readonly default_delay_s: number;
  readonly minimum_delay_s: number;
  readonly maximum_delay_s: number;
  readonly ram_gb: number;
  readonly file_cache_gb: number;
  /** Of the size that is asked for. */
  readonly max_connections: number;
  readonly pooled_connections: number;
  readonly largest_autoscaled_cu: number;
  readonly largest_cu: number;
  readonly delay_s: Delay;
  readonly best_delay_s: Delay;
  /** Connections that find all taken, less those that the platform keeps. */
  readonly direct_refused: number;
  readonly figures: OutcomeFigures;
  /** To the first profile: of each figure, null where one of them has none. */
  readonly difference: { readonly [Name in keyof OutcomeFigures]: number | null };
};

export type ProfilesReport = {
  readonly question: {
    readonly profiles: readonly string[];
    readonly delay_s: Delay | null;
    readonly cu: number;
    readonly cold_start_worth_s: number;
    readonly reserved: number;
    readonly seed: number;
  };
  readonly traffic: ToldTraffic;
  readonly profiles: readonly ProfileRow[];
  readonly limits: Limits;
};

/** Replays the traffic under each profile; tells after each compute how many are done, all profiles counted. */
export function* profilesReport(traffic: Traffic, asked: ProfilesQuestion, chance: Chance): Generator<number, ProfilesReport> {
  const { period } = traffic;
  const reader = new GapReader(period);
  const runs = asked.profiles.map(({ profile }) => new ProfileRun(traffic, asked, profile, chance));
  let done = 0;
  for (const number of traffic.computes.keys()) {
    const own = allOf(traffic.requests(number));
    reader.add(own);
    reader.end();
    for (const run of runs) {
      run.add(own, number);
      done += 1;
      yield done;
    }
  }
  const curve = curveOf(reader.gaps);
  const [first] = runs;
  const { profiles, delay = null, cu, coldStartS: cold_start_worth_s, reserved, seed } = asked;
  return {
    question: { profiles: profiles.map(({ name }) => name), delay_s: delay, cu, cold_start_worth_s, reserved, seed },
    traffic: toldTraffic(traffic, reader.gaps.computes, reader.gaps.requests),
    profiles: runs.map((run, index) => run.row(profiles[index]?.name ?? "", curve, first?.figures() ?? run.figures())),
    limits: LIMITS,
  };
}

class ProfileRun {
  readonly #profile: Profile;
  readonly #costs: Costs & { readonly cu: number };
  readonly #delay: Delay;
  readonly #latency: StartLatency;
  readonly #replay: FixedReplay;
  readonly #chance: Chance;
  readonly #periodMs: number;
  readonly #limit: number;
  #refused = 0;

  constructor({ period }: Traffic, { delay, cu, coldStartS, reserved }: ProfilesQuestion, profile: Profile, chance: Chance) {
    const pricePerCuHour = profile.pricePerCuHour.paid;
    this.#profile = profile;
    this.#costs = { cu, coldStartS, pricePerCuHour };
    this.#delay = delay ?? profile.suspendTimeout.defaultS;
    this.#latency = profile.durations.start_compute;
    this.#replay = new FixedReplay(period, this.#delay);
    this.#chance = chance;
    this.#periodMs = period.endAt - period.startAt;
    this.#limit = Math.max(0, maxConnections(profile, { minCu: cu, maxCu: cu }) - reserved);
  }

  add(requests: Requests, number: number): void {
    this.#replay.begin(new StartLatencies(this.#latency, this.#chance, number));
    this.#replay.add(requests);
    this.#replay.end();
    this.#refused += directConnections(requests, this.#limit).refused;
  }

  figures(): OutcomeFigures {
    return outcomeFigures(this.#replay.outcome, this.#periodMs, this.#costs);
  }

  row(name: string, curve: Curve, base: OutcomeFigures): ProfileRow {
    const { cu, coldStartS, pricePerCuHour = null } = this.#costs;
    const { suspendTimeout, sizes, pooledConnections } = this.#profile;
    const figures = this.figures();
    const { ramGb, fileCacheGb } = sizeFacts(this.#profile, cu);
    return {
      profile: name,
      price_per_cu_hour: pricePerCuHour,
      start_latency: latencyText(this.#latency),
      default_delay_s: suspendTimeout.defaultS,
      minimum_delay_s: suspendTimeout.minimumS,
      maximum_delay_s: suspendTimeout.maximumS,
      ram_gb: ramGb,
      file_cache_gb: fileCacheGb,
      max_connections: maxConnections(this.#profile, { minCu: cu, maxCu: cu }),
      pooled_connections: pooledConnections,
      largest_autoscaled_cu: sizes.autoscaled.at(-1) ?? 0,
      largest_cu: sizes.fixedOnly.at(-1) ?? sizes.autoscaled.at(-1) ?? 0,
      delay_s: this.#delay,
      best_delay_s: bestDelay(curve, coldStartS, suspendTimeout.minimumS, suspendTimeout.maximumS).delay,
      direct_refused: this.#refused,
      figures,
      difference: differenceOf(figures, base),
    };
  }
}

function differenceOf(figures: OutcomeFigures, base: OutcomeFigures): ProfileRow["difference"] {
  const names = Object.keys(figures) as (keyof OutcomeFigures)[];
  const entries = names.map((name) => [name, figures[name] === null || base[name] === null ? null : figures[name] - base[name]] as const);
  return Object.fromEntries(entries) as ProfileRow["difference"];
}

const LIMITS: Limits = {
  exact: [
    "Replays of every request under each profile: its delay, its start latency, its price. Connections: every request holds one from its arrival to its end; who finds all taken is refused and does not come again.",
  ],
  simulated: [
    "Where a start latency is a distribution, each start draws by its instant: profiles that start a compute at the same instant with the same distribution draw the same.",
  ],
  left_out: [
    "Profiles are what was published, or what you wrote down: dates, plans and regions may differ.",
    "Storage, history, transfer and free allowances are not in the cost; clients that come again because of a wait or a refusal.",
    "The best delay is that of the least active time and cold starts at their worth, where starts take no time, within what the profile allows.",
    BEHIND_THE_END,
  ],
};
