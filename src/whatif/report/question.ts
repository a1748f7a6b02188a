import type { Chance } from "../../platform/chance.ts";
import { DISTRIBUTION_RULE, distributionText, parseDistribution } from "../../platform/distribution.ts";
import { PROFILES, type ProfileName } from "../../platform/profile.ts";
import type { Costs } from "../costs.ts";
import type { Delay } from "../curve.ts";
import type { Setting } from "../experiment.ts";
import { MEASURED_LATENCY, type StartLatency } from "../start-latency.ts";

/** What all reports hold the same. */
export type Question = {
  /** The delay that is set now. */
  readonly present: Delay;
  readonly costs: Costs;
  readonly latency: StartLatency;
  /** Replications draw by this seed and those that follow it. */
  readonly seed: number;
};

/** What may be asked; what is left out has a default. */
export type Asked = {
  readonly present?: Delay | undefined;
  /** Whose prices and start latency. */
  readonly profile?: ProfileName | undefined;
  readonly price?: number | undefined;
  readonly cu?: number | undefined;
  readonly coldStartWorthS?: number | undefined;
  readonly startLatency?: StartLatency | undefined;
  readonly seed?: number | undefined;
};

export const DEFAULTS = {
  profile: "2026",
  cu: 1,
  /** Whoever lets the platform's preset delay of five minutes stand holds a cold start to be worth them (ski rental). An assumption. */
  coldStartWorthS: 300,
  seed: 1,
  replications: 10,
} as const;

/** The question in full; `present` is what the computes have, where that is known. */
export function questionFrom(asked: Asked, present?: Delay): Question {
  const profile = PROFILES[asked.profile ?? DEFAULTS.profile];
  const pricePerCuHour = asked.price ?? profile.pricePerCuHour.paid;
  return {
    present: asked.present ?? present ?? profile.suspendTimeout.defaultS,
    costs: {
      cu: asked.cu ?? DEFAULTS.cu,
      coldStartS: asked.coldStartWorthS ?? DEFAULTS.coldStartWorthS,
      ...(pricePerCuHour === undefined ? {} : { pricePerCuHour }),
    },
    latency: asked.startLatency ?? profile.durations.start_compute,
    seed: asked.seed ?? DEFAULTS.seed,
  };
}

export const LATENCY_RULE = `${DISTRIBUTION_RULE}, 0, or measured`;

/** `measured`, `0`, or a distribution; `undefined` for anything else. */
export function parseLatency(text: string): StartLatency | undefined {
  if (text === "measured") return MEASURED_LATENCY;
  return parseDistribution(/^0+$/.test(text) ? "0ms" : text);
}

/** The delay that computes have, where all of them have the same. */
export function commonDelay(delays: Iterable<Delay>): Delay | undefined {
  const [first, ...others] = new Set(delays);
  return others.length === 0 ? first : undefined;
}

export function settingOf({ latency, costs }: Question, chance: Chance): Setting {
  return { latency, coldStartS: costs.coldStartS, chance };
}

/** The question as it stands in every answer. */
export type ToldQuestion = {
  readonly present_delay_s: Delay;
  readonly cu: number;
  readonly price_per_cu_hour: number | null;
  readonly cold_start_worth_s: number;
  readonly start_latency: string;
  readonly seed: number;
};

export function toldQuestion({ present, costs, latency, seed }: Question): ToldQuestion {
  return {
    present_delay_s: present,
    cu: costs.cu,
    price_per_cu_hour: costs.pricePerCuHour ?? null,
    cold_start_worth_s: costs.coldStartS,
    start_latency: latencyText(latency),
    seed,
  };
}

export function latencyText(latency: StartLatency): string {
  if (latency.kind !== "pool") return distributionText(latency);
  return `${distributionText(latency.hit)}, ${latency.missShare * 100} % ${distributionText(latency.miss)}`;
}

/** Whether starts are as instant as the curve holds them to be. */
export function isInstant(latency: StartLatency): boolean {
  return latency.kind === "fixed" && latency.ms === 0;
}
