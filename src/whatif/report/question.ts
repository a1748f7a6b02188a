import { PROFILES, type Profile, type ProfileName } from "../../platform/catalog/profile.ts";
import {
  DISTRIBUTION_RULE,
  formatDistribution,
  parseDistribution,
} from "../../platform/core/distribution.ts";
import type { Random } from "../../platform/core/random-port.ts";
import { parseDuration, SECOND, type SimTime } from "../../platform/core/time.ts";
import { type Costs, sizeOf } from "../curve/costs.ts";
import type { DelayChoice, SuspendDelay } from "../curve/curve.ts";
import type { ExperimentSetting } from "../replay/experiment.ts";
import { MEASURED_LATENCY, type StartLatency } from "../replay/start-latency.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { delayText } from "./number-format.ts";

/** What all reports hold the same. */
export type Question = {
  /** The delay that is set now. */
  readonly currentDelay: DelayChoice;
  /** Where each compute has its own: by compute. */
  readonly ownDelays?: readonly SuspendDelay[] | undefined;
  /** When each compute was deleted, where it was: by compute. */
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
  readonly profile: ProfileName;
  readonly costs: Costs;
  readonly latency: StartLatency;
  /** Replications draw by this seed and those that follow it. */
  readonly seed: number;
  /** What of this a world has told, because nobody has said otherwise. */
  readonly fromWorld: readonly WorldField[];
};

type WorldField = "profile" | "present" | "cu" | "start_latency";

/** What may be asked; what is left out is as the world has it, else it has a default. */
export type QuestionInput = {
  readonly present?: SuspendDelay | undefined;
  /** Whose prices and start latency. */
  readonly profile?: ProfileName | undefined;
  readonly price?: number | undefined;
  readonly cu?: number | undefined;
  readonly coldStartWorthS?: number | undefined;
  readonly startLatency?: StartLatency | undefined;
  readonly seed?: number | undefined;
};

/** What a world has, as far as a question asks for it. */
export type WorldDefaults = {
  readonly profile: ProfileName;
  readonly latency: StartLatency;
  /** By compute of the traffic; "preset" is that of whatever profile is asked about. */
  readonly delays: readonly (SuspendDelay | "preset")[];
  /** The same: of one that scales, the size that it starts with. */
  readonly cu: readonly number[];
  /** When it was deleted. */
  readonly deletedAt?: readonly (SimTime | undefined)[] | undefined;
};

export const DEFAULTS = {
  profile: "2026",
  cu: 1,
  /** Whoever lets the platform's preset delay of five minutes stand holds a cold start to be worth them (ski rental). An assumption. */
  coldStartWorthS: 300,
  seed: 1,
  replications: 10,
} as const;

export const MAX_REPLICATIONS = 10_000;

/** The question in full. A profile that is asked for brings its own start latency: that of the world is the world's profile's. */
export function questionFrom(input: QuestionInput, world?: WorldDefaults): Question {
  const profile = PROFILES[input.profile ?? world?.profile ?? DEFAULTS.profile];
  const pricePerCuHour = input.price ?? profile.pricePerCuHour.paid;
  const delays = input.present === undefined && world !== undefined ? delaysUnder(profile, world) : undefined;
  const latency = input.startLatency ?? (input.profile === undefined ? world?.latency : undefined);
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
    profile: profile.name,
    costs: {
      cu: effectiveCu(input.cu, world),
      coldStartS: input.coldStartWorthS ?? DEFAULTS.coldStartWorthS,
      ...(pricePerCuHour === undefined ? {} : { pricePerCuHour }),
    },
    latency: latency ?? profile.durations.start_compute,
    seed: input.seed ?? DEFAULTS.seed,
    fromWorld: world === undefined ? [] : fromWorld.filter((field) => field !== false),
  };
}

/** What the delays of a world's computes are under a profile. */
export function delaysUnder({ suspendTimeout }: Profile, { delays }: WorldDefaults): readonly SuspendDelay[] {
  return delays.map((delay) => (delay === "preset" ? suspendTimeout.defaultS : delay));
}

/** The size that is asked for, else what the world's computes have, one for all where it is the same. */
export function effectiveCu(requested: number | undefined, world: WorldDefaults | undefined): Costs["cu"] {
  return requested ?? (world === undefined ? DEFAULTS.cu : (commonValue(world.cu) ?? world.cu));
}

/** What all have; undefined where there are several, or none at all. */
export function commonValue<T>(values: readonly T[]): T | undefined {
  const [first, ...others] = new Set(values);
  return others.length === 0 ? first : undefined;
}

/** What a delay means to a compute. */
export function effectiveDelay({ ownDelays }: Question, delay: DelayChoice, compute: number): SuspendDelay {
  return delay === "own" ? (ownDelays?.[compute] as SuspendDelay) : delay;
}

/** Delays, infinite for never, sizes and deletions of these computes: what a simulation of many asks for. */
export function fleetSetting(question: Question, delay: DelayChoice, computes: readonly number[]) {
  const inMs = (own: SuspendDelay) => (own === "never" ? Number.POSITIVE_INFINITY : own * SECOND);
  return {
    delayMs: Float64Array.from(computes, (compute) => inMs(effectiveDelay(question, delay, compute))),
    cu: Float64Array.from(computes, (compute) => sizeOf(question.costs, compute)),
    deletedAt: Float64Array.from(
      computes,
      (compute) => question.deletedAt?.[compute] ?? Number.POSITIVE_INFINITY,
    ),
  };
}

const LONGEST_DELAY_MS = LONGEST_DELAY_S * SECOND;
export const DELAY_RULE = `must be whole seconds from 0 to ${LONGEST_DELAY_S}, a duration like 5m or 1h, or never`;

/** `300`, `5m`, `never`; `undefined` for anything else. */
export function parseDelay(text: string): SuspendDelay | undefined {
  if (text === "never") return "never";
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND : (parseDuration(text) ?? Number.NaN);
  return ms % SECOND === 0 && ms <= LONGEST_DELAY_MS ? ms / SECOND : undefined;
}

/** What a cold start may be worth: nobody can pay without an end. */
export const WORTH_RULE = `must be whole seconds from 0 to ${LONGEST_DELAY_S}, or a duration like 60s or 5m`;

/** In whole seconds; `undefined` for anything that is not. */
export function parseWorth(text: string): number | undefined {
  const delay = parseDelay(text);
  return delay === "never" ? undefined : delay;
}

export const LATENCY_RULE = `${DISTRIBUTION_RULE}, 0, or measured`;

/** `measured`, `0`, or a distribution; `undefined` for anything else. */
export function parseLatency(text: string): StartLatency | undefined {
  if (text === "measured") return MEASURED_LATENCY;
  return parseDistribution(/^0+$/.test(text) ? "0ms" : text);
}

export function experimentSetting(
  { latency, costs, ownDelays, deletedAt }: Question,
  random: Random,
): ExperimentSetting {
  const cu = typeof costs.cu === "number" ? undefined : costs.cu;
  return { latency, coldStartS: costs.coldStartS, random, perCompute: { cu, delays: ownDelays, deletedAt } };
}

/** The question as it stands in every answer; "own" is what computes have each of their own. */
export type QuestionSummary = {
  readonly present_delay_s: DelayChoice;
  readonly profile: ProfileName;
  readonly cu: number | "own";
  readonly price_per_cu_hour: number | null;
  readonly cold_start_worth_s: number;
  readonly start_latency: string;
  readonly seed: number;
  /** Those of the fields that a world has told. */
  readonly from_world: readonly WorldField[];
};

export function questionSummary({
  currentDelay,
  profile,
  costs,
  latency,
  seed,
  fromWorld,
}: Question): QuestionSummary {
  return {
    present_delay_s: currentDelay,
    profile,
    cu: typeof costs.cu === "number" ? costs.cu : "own",
    price_per_cu_hour: costs.pricePerCuHour ?? null,
    cold_start_worth_s: costs.coldStartS,
    start_latency: latencyText(latency),
    seed,
    from_world: fromWorld,
  };
}

/** What a world has told, as it is read; undefined where it was asked for nothing. */
export function fromWorldText(question: Question): string | undefined {
  const { profile, start_latency, from_world, ...rest } = questionSummary(question);
  const texts: Readonly<Record<WorldField, string>> = {
    profile: `profile ${profile}`,
    present: `a delay of ${delayText(rest.present_delay_s)}`,
    cu: sizeText(rest.cu),
    start_latency: `starts of ${start_latency}`,
  };
  return worldText(from_world.map((field) => texts[field]));
}

export function worldText(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : `as the world has it: ${parts.join(", ")}`;
}

export function sizeText(cu: QuestionSummary["cu"]): string {
  return cu === "own" ? "each compute's own size" : `${cu} CU`;
}

/** What a CU-hour costs, and what has it cost something where the profile has no price. */
export function priceText({ price_per_cu_hour: price, profile }: QuestionSummary): string {
  return price === null
    ? `no price, for profile ${profile} has none (--price gives one)`
    : `$${price} per CU-hour`;
}

/** Behind what else a page says of itself, where it would have dollars. */
export function missingPriceText(question: QuestionSummary): string {
  return question.price_per_cu_hour === null ? ` · ${priceText(question)}` : "";
}

/** What size the bill goes by, as reports tell it. */
export function sizeSentence({ cu }: Pick<Costs, "cu">): string {
  return `${typeof cu === "number" ? `All computes have ${cu} CU` : "Each compute has its own size, one that scales its smallest,"} while they are active`;
}

export function latencyText(latency: StartLatency): string {
  if (latency.kind !== "pool") return formatDistribution(latency);
  return `${formatDistribution(latency.hit)}, ${latency.missShare * 100} % ${formatDistribution(latency.miss)}`;
}

/** Whether starts are as instant as the curve holds them to be. */
export function isInstant(latency: StartLatency): boolean {
  return latency.kind === "fixed" && latency.ms === 0;
}
