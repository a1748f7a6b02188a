import { DISTRIBUTION_RULE, parseDistribution } from "../../kernel/distribution.ts";
import type { Random } from "../../kernel/random-port.ts";
import { parseDuration, SECOND, type SimTime } from "../../kernel/time.ts";
import {
  DEFAULT_PROFILE,
  type Profile,
  type ProfileName,
} from "../../platform/catalog/defaults-and-limits.ts";
import { DEFAULT_PRICED_PLAN, type PricedPlan } from "../../platform/catalog/price-lists.ts";
import { type Costs, sizeOf, startWorth } from "../gap-curve/costs.ts";
import { type DelayChoice, delayMs, type SuspendDelay } from "../gap-curve/delay.ts";
import { type SettableDelays, settableDelays } from "../gap-curve/settable-delays.ts";
import type { ExperimentSetting } from "../replay/experiment.ts";
import type { ScalingComputes } from "../sizes/scaling-computes.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import type { MeteredUsage } from "../trace/metered-sizes.ts";
import { meanLatencyMs } from "../units/mean-latency.ts";
import {
  builtInProfile,
  type NamedProfile,
  type PriceInput,
  type UsedPrice,
  usedPrice,
} from "../units/prices.ts";
import { MEASURED_LATENCY, type StartLatency } from "../units/start-latency.ts";

/** The settings that all reports share. */
export type Question = {
  readonly currentDelay: DelayChoice;
  /** Current delay of each compute; undefined if they are equal. */
  readonly ownDelays?: readonly SuspendDelay[] | undefined;
  /** Deletion of each compute; undefined for those that were not deleted. */
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
  /** Name of the profile. */
  readonly profile: string;
  readonly priceSource: UsedPrice["source"];
  /** Plan whose delays can be set. */
  readonly plan: PricedPlan;
  readonly settable: SettableDelays;
  /** Uses the smallest size of computes that scale. */
  readonly costs: Costs;
  /** Present if computes scale and no size is given. */
  readonly scaling?: ScalingComputes | undefined;
  /** Metered usage of the computes of a world within the period. */
  readonly metered?: MeteredUsage | undefined;
  /** Size of each compute of a world, or the smallest of its range. */
  readonly ownSizes?: readonly number[] | undefined;
  readonly latency: StartLatency;
  /** Sources for whose requests nobody waits. */
  readonly ignoredWaits: readonly string[];
  /** Seed of the first replication; see `replicationSeed`. */
  readonly seed: number;
  /** The fields that come from the world's settings because the input omits them. */
  readonly fromWorld: readonly WorldField[];
};

export type WorldField = "profile" | "present" | "cu" | "start_latency";

/** A question as given by the user. Omitted fields come from the world's settings, otherwise from the defaults. */
export type QuestionInput = PriceInput & {
  /** Current plan; also determines the price unless `pricePlan` is given. */
  readonly plan?: PricedPlan | undefined;
  readonly present?: SuspendDelay | undefined;
  /** Profile that determines the start latency and the default delay. */
  readonly profile?: NamedProfile | undefined;
  readonly cu?: number | undefined;
  readonly coldStartWorthS?: number | undefined;
  /** Worth of a cold start in dollars; replaces `coldStartWorthS`. */
  readonly coldStartDollars?: number | undefined;
  /** Worth of an hour of waiting in dollars; replaces `coldStartWorthS`. */
  readonly waitDollarsPerHour?: number | undefined;
  readonly startLatency?: StartLatency | undefined;
  /** The share of its duration in which a request keeps its vCPUs busy. */
  readonly cpuShare?: number | undefined;
  readonly ignoreWaitsOf?: readonly string[] | undefined;
  readonly seed?: number | undefined;
};

/** A world's settings that a question uses. */
export type WorldDefaults = {
  readonly profile: ProfileName;
  readonly latency: StartLatency;
  /** Delay of each compute of the traffic. "preset" stands for the default of the profile in the question. */
  readonly delays: readonly (SuspendDelay | "preset")[];
  /** Size of each compute of the traffic; the smallest one if it autoscales. */
  readonly cu: readonly number[];
  /** Ranges by compute of the traffic. Present if some computes autoscale. */
  readonly scaling?: Omit<ScalingComputes, "cpuShare"> | undefined;
  /** Metered usage of all computes of the traffic together within its period. */
  readonly metered?: MeteredUsage | undefined;
  /** Deletion of each compute of the traffic; undefined for those that were not deleted. */
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
};

export const DEFAULTS = {
  profile: DEFAULT_PROFILE,
  cu: 0.25,
  /**
   * A: keeping the platform's default delay of five minutes implies that avoiding a cold start is worth
   * five minutes of active time (ski rental).
   */
  coldStartWorthS: 300,
  /** A: a request keeps its vCPUs busy for its whole duration. */
  cpuShare: 1,
  seed: 1,
  replications: 10,
} as const;

export const MAX_REPLICATIONS = 10_000;

/**
 * Completes a question. A profile in the input also determines the start latency, because the world's latency belongs
 * to the world's profile.
 */
export function questionFrom(input: QuestionInput, world?: WorldDefaults): Question {
  const named = effectiveProfile(input.profile, world);
  const { profile } = named;
  const pricePlan = input.pricePlan ?? input.plan;
  const plan = input.plan ?? input.pricePlan ?? DEFAULT_PRICED_PLAN;
  const { pricePerCuHour, source } = usedPrice({ ...input, pricePlan }, named);
  const delays = input.present === undefined && world !== undefined ? delaysUnder(profile, world) : undefined;
  const latency = input.startLatency ?? (input.profile === undefined ? world?.latency : undefined);
  const usedLatency = latency ?? profile.durations.start_compute;
  const currentDelay = delays === undefined ? input.present : commonValue(delays);
  const fromWorld: readonly (WorldField | false)[] = [
    input.profile === undefined && "profile",
    delays !== undefined && "present",
    input.cu === undefined && "cu",
    input.startLatency === undefined && latency !== undefined && "start_latency",
  ];
  return {
    currentDelay: currentDelay ?? (delays === undefined ? profile.suspendTimeout.defaultS : "own"),
    ownDelays: currentDelay === undefined ? delays : undefined,
    deletedAt: world?.deletedAt,
    profile: named.name,
    priceSource: source,
    plan,
    settable: settableDelays(plan, profile.suspendTimeout.defaultS),
    costs: {
      cu: effectiveCu(input.cu, world),
      coldStartS: input.coldStartWorthS ?? DEFAULTS.coldStartWorthS,
      pricePerCuHour,
      ordinaryStartMs: meanLatencyMs(profile.durations.start_compute),
      ...startDollarsOf(input, pricePerCuHour, usedLatency),
    },
    metered: world?.metered,
    ownSizes: world?.cu,
    scaling:
      input.cu !== undefined || world?.scaling === undefined
        ? undefined
        : { ...world.scaling, cpuShare: input.cpuShare ?? DEFAULTS.cpuShare },
    latency: usedLatency,
    ignoredWaits: input.ignoreWaitsOf ?? [],
    seed: input.seed ?? DEFAULTS.seed,
    fromWorld: world === undefined ? [] : fromWorld.filter((field) => field !== false),
  };
}

function startDollarsOf(
  { coldStartDollars, waitDollarsPerHour }: QuestionInput,
  pricePerCuHour: number,
  latency: StartLatency,
): Pick<Costs, "dollars"> {
  if (coldStartDollars === undefined && waitDollarsPerHour === undefined) return {};
  if (pricePerCuHour === 0)
    throw new RangeError("the worth of a cold start or a wait in dollars needs a price above 0 per CU-hour");
  if (coldStartDollars !== undefined) return { dollars: { per: "cold-start", dollars: coldStartDollars } };
  const dollars = waitDollarsPerHour ?? 0;
  return { dollars: { per: "waiting-hour", dollars, startMs: meanLatencyMs(latency) } };
}

export function effectiveProfile(
  requested: NamedProfile | undefined,
  world: WorldDefaults | undefined,
): NamedProfile {
  return requested ?? builtInProfile(world?.profile ?? DEFAULTS.profile);
}

/** The delays of a world's computes under a profile. */
export function delaysUnder({ suspendTimeout }: Profile, { delays }: WorldDefaults): readonly SuspendDelay[] {
  return delays.map((delay) => (delay === "preset" ? suspendTimeout.defaultS : delay));
}

/** The requested size, otherwise the world's sizes: one number if they are equal and do not change. */
export function effectiveCu(requested: number | undefined, world: WorldDefaults | undefined): Costs["cu"] {
  if (requested !== undefined) return requested;
  if (world === undefined) return DEFAULTS.cu;
  return world.scaling === undefined ? (commonValue(world.cu) ?? world.cu) : world.cu;
}

/** The value that all elements have; undefined if they differ or if there are none. */
export function commonValue<T>(values: readonly T[]): T | undefined {
  const [first, ...others] = new Set(values);
  return others.length === 0 ? first : undefined;
}

export function effectiveDelay({ ownDelays }: Question, delay: DelayChoice, compute: number): SuspendDelay {
  return delay === "own" ? (ownDelays?.[compute] as SuspendDelay) : delay;
}

/** The settings of these computes for a simulation. A delay of "never" is infinite. */
export function fleetSetting(question: Question, delay: DelayChoice, computes: readonly number[]) {
  return {
    delayMs: Float64Array.from(computes, (compute) => delayMs(effectiveDelay(question, delay, compute))),
    cu: Float64Array.from(computes, (compute) => sizeOf(question.costs, compute)),
    startWorths: computes.map((compute) => startWorth(question.costs, sizeOf(question.costs, compute))),
    deletedAt: Float64Array.from(
      computes,
      (compute) => question.deletedAt?.[compute] ?? Number.POSITIVE_INFINITY,
    ),
  };
}

const LONGEST_DELAY_MS = LONGEST_DELAY_S * SECOND;
export const DELAY_RULE = `must be whole seconds from 0 to ${LONGEST_DELAY_S}, a duration like 5m or 1h, or never`;

/** Parses `300` (seconds), `5m` and `never`; undefined for any other text. */
export function parseDelay(text: string): SuspendDelay | undefined {
  if (text === "never") return "never";
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : (parseDuration(text) ?? Number.NaN);
  return ms % SECOND === 0 && ms <= LONGEST_DELAY_MS ? ms / SECOND : undefined;
}

/** Accepts what a delay accepts, except `never`, because the worth must be finite. */
export const WORTH_RULE = `must be whole seconds from 0 to ${LONGEST_DELAY_S}, or a duration like 60s or 5m`;

/** Parses a worth in whole seconds; undefined for any other text. */
export function parseWorth(text: string): number | undefined {
  const delay = parseDelay(text);
  return delay === "never" ? undefined : delay;
}

export const LATENCY_RULE = `${DISTRIBUTION_RULE}, 0, or measured`;

/** Parses `measured`, `0` and distributions; undefined for any other text. */
export function parseLatency(text: string): StartLatency | undefined {
  if (text === "measured") return MEASURED_LATENCY;
  return parseDistribution(/^0+$/.test(text) ? "0ms" : text);
}

export function experimentSetting(
  { latency, costs, ownDelays, deletedAt, scaling }: Question,
  random: Random,
): ExperimentSetting {
  const cu = typeof costs.cu === "number" ? undefined : costs.cu;
  return { ...costs, latency, random, perCompute: { cu, delays: ownDelays, deletedAt, scaling } };
}

/** Whether starts take no time, as the curve assumes. */
export function isInstant(latency: StartLatency): boolean {
  return latency.kind === "fixed" && latency.ms === 0;
}
