import { PROFILES, type Profile, type ProfileName } from "../../platform/catalog/profile.ts";
import { DISTRIBUTION_RULE, distributionText, parseDistribution } from "../../platform/core/distribution.ts";
import type { Chance } from "../../platform/core/random-port.ts";
import { parseDuration, SECOND, type SimTime } from "../../platform/core/time.ts";
import { type Costs, sizeOf } from "../curve/costs.ts";
import type { Delay, DelayChoice } from "../curve/curve.ts";
import type { Setting } from "../replay/experiment.ts";
import { MEASURED_LATENCY, type StartLatency } from "../replay/start-latency.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { delayText } from "./number-format.ts";

/** What all reports hold the same. */
export type Question = {
  /** The delay that is set now. */
  readonly present: DelayChoice;
  /** Where each compute has its own: by compute. */
  readonly ownDelays?: readonly Delay[] | undefined;
  /** When each compute was deleted, where it was: by compute. */
  readonly goneAt?: readonly (SimTime | undefined)[] | undefined;
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

/** What a world has, as far as a question asks for it. */
export type WorldSetting = {
  readonly profile: ProfileName;
  readonly latency: StartLatency;
  /** By compute of the traffic; "preset" is that of whatever profile is asked about. */
  readonly delays: readonly (Delay | "preset")[];
  /** The same: of one that scales, the size that it starts with. */
  readonly cu: readonly number[];
  /** When it was deleted. */
  readonly goneAt?: readonly (SimTime | undefined)[] | undefined;
};

export const DEFAULTS = {
  profile: "2026",
  cu: 1,
  /** Whoever lets the platform's preset delay of five minutes stand holds a cold start to be worth them (ski rental). An assumption. */
  coldStartWorthS: 300,
  seed: 1,
  replications: 10,
} as const;

export const MOST_REPLICATIONS = 10_000;

/** The question in full. A profile that is asked for brings its own start latency: that of the world is the world's profile's. */
export function questionFrom(asked: Asked, world?: WorldSetting): Question {
  const profile = PROFILES[asked.profile ?? world?.profile ?? DEFAULTS.profile];
  const pricePerCuHour = asked.price ?? profile.pricePerCuHour.paid;
  const delays = asked.present === undefined && world !== undefined ? delaysUnder(profile, world) : undefined;
  const latency = asked.startLatency ?? (asked.profile === undefined ? world?.latency : undefined);
  const present = delays === undefined ? asked.present : sameOf(delays);
  const fromWorld: readonly (WorldField | false)[] = [
    asked.profile === undefined && "profile",
    delays !== undefined && "present",
    asked.cu === undefined && "cu",
    asked.startLatency === undefined && latency !== undefined && "start_latency",
  ];
  return {
    present: present ?? (delays === undefined ? profile.suspendTimeout.defaultS : "own"),
    ownDelays: present === undefined ? delays : undefined,
    goneAt: world?.goneAt,
    profile: profile.name,
    costs: {
      cu: cuOf(asked.cu, world),
      coldStartS: asked.coldStartWorthS ?? DEFAULTS.coldStartWorthS,
      ...(pricePerCuHour === undefined ? {} : { pricePerCuHour }),
    },
    latency: latency ?? profile.durations.start_compute,
    seed: asked.seed ?? DEFAULTS.seed,
    fromWorld: world === undefined ? [] : fromWorld.filter((field) => field !== false),
  };
}

/** What the delays of a world's computes are under a profile. */
export function delaysUnder({ suspendTimeout }: Profile, { delays }: WorldSetting): readonly Delay[] {
  return delays.map((delay) => (delay === "preset" ? suspendTimeout.defaultS : delay));
}

/** The size that is asked for, else what the world's computes have, one for all where it is the same. */
export function cuOf(asked: number | undefined, world: WorldSetting | undefined): Costs["cu"] {
  return asked ?? (world === undefined ? DEFAULTS.cu : (sameOf(world.cu) ?? world.cu));
}

/** What all have; undefined where there are several, or none at all. */
export function sameOf<T>(values: readonly T[]): T | undefined {
  const [first, ...others] = new Set(values);
  return others.length === 0 ? first : undefined;
}

/** What a delay means to a compute. */
export function delayOf({ ownDelays }: Question, delay: DelayChoice, compute: number): Delay {
  return delay === "own" ? (ownDelays?.[compute] as Delay) : delay;
}

/** Delays, infinite for never, sizes and deletions of these computes: what a simulation of many asks for. */
export function fleetSetting(question: Question, delay: DelayChoice, computes: readonly number[]) {
  const inMs = (own: Delay) => (own === "never" ? Number.POSITIVE_INFINITY : own * SECOND);
  return {
    delayMs: Float64Array.from(computes, (compute) => inMs(delayOf(question, delay, compute))),
    cu: Float64Array.from(computes, (compute) => sizeOf(question.costs, compute)),
    goneAt: Float64Array.from(computes, (compute) => question.goneAt?.[compute] ?? Number.POSITIVE_INFINITY),
  };
}

const LONGEST_DELAY_MS = LONGEST_DELAY_S * SECOND;
export const DELAY_RULE = `must be whole seconds from 0 to ${LONGEST_DELAY_S}, a duration like 5m or 1h, or never`;

/** `300`, `5m`, `never`; `undefined` for anything else. */
export function parseDelay(text: string): Delay | undefined {
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

export function settingOf({ latency, costs, ownDelays, goneAt }: Question, chance: Chance): Setting {
  const cu = typeof costs.cu === "number" ? undefined : costs.cu;
  return { latency, coldStartS: costs.coldStartS, chance, own: { cu, delays: ownDelays, goneAt } };
}

/** The question as it stands in every answer; "own" is what computes have each of their own. */
export type ToldQuestion = {
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

export function toldQuestion({ present, profile, costs, latency, seed, fromWorld }: Question): ToldQuestion {
  return {
    present_delay_s: present,
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
  const { profile, start_latency, from_world, ...told } = toldQuestion(question);
  const texts: Readonly<Record<WorldField, string>> = {
    profile: `profile ${profile}`,
    present: `a delay of ${delayText(told.present_delay_s)}`,
    cu: sizeText(told.cu),
    start_latency: `starts of ${start_latency}`,
  };
  return worldText(from_world.map((field) => texts[field]));
}

export function worldText(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : `as the world has it: ${parts.join(", ")}`;
}

export function sizeText(cu: ToldQuestion["cu"]): string {
  return cu === "own" ? "each compute's own size" : `${cu} CU`;
}

/** What a CU-hour costs, and what has it cost something where the profile has no price. */
export function priceText({ price_per_cu_hour: price, profile }: ToldQuestion): string {
  return price === null ? `no price, for profile ${profile} has none (--price gives one)` : `$${price} per CU-hour`;
}

/** Behind what else a page says of itself, where it would have dollars. */
export function withoutPrice(question: ToldQuestion): string {
  return question.price_per_cu_hour === null ? ` · ${priceText(question)}` : "";
}

/** What size the bill goes by, as reports tell it. */
export function sizeSentence({ cu }: Pick<Costs, "cu">): string {
  return `${typeof cu === "number" ? `All computes have ${cu} CU` : "Each compute has its own size, one that scales its smallest,"} while they are active`;
}

export function latencyText(latency: StartLatency): string {
  if (latency.kind !== "pool") return distributionText(latency);
  return `${distributionText(latency.hit)}, ${latency.missShare * 100} % ${distributionText(latency.miss)}`;
}

/** Whether starts are as instant as the curve holds them to be. */
export function isInstant(latency: StartLatency): boolean {
  return latency.kind === "fixed" && latency.ms === 0;
}
