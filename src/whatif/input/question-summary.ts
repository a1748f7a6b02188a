import { formatDistribution } from "../../kernel/distribution.ts";
import { HOUR, SECOND } from "../../kernel/time.ts";
import type { PricedPlan } from "../../platform/catalog/price-lists.ts";
import type { Costs } from "../gap-curve/costs.ts";
import type { DelayChoice } from "../gap-curve/delay.ts";
import type { MeteredUsage } from "../trace/metered-sizes.ts";
import { amount, delayPhrase } from "../units/number-format.ts";
import { type PriceSummary, priceSummary, priceText } from "../units/prices.ts";
import type { StartLatency } from "../units/start-latency.ts";
import type { Question, WorldField } from "./question.ts";

/** The question as the JSON of every report states it. "own": each compute has its own value. */
export type QuestionSummary = PriceSummary & {
  readonly present_delay_s: DelayChoice;
  readonly profile: string;
  /** Plan whose delays can be set. */
  readonly plan: PricedPlan;
  readonly cu: number | "own";
  /** Null if the worth is given in dollars. */
  readonly cold_start_worth_s: number | null;
  readonly cold_start_worth_dollars?: number;
  readonly wait_worth_dollars_per_hour?: number;
  readonly start_latency: string;
  /** Sources for whose requests nobody waits. Absent if there are none. */
  readonly ignore_waits_of?: readonly string[];
  readonly seed: number;
  /** Present if sizes follow the load of a world; see `Question`. */
  readonly cpu_share?: number;
  /** Metered usage of the computes of a world within the period. Absent for a trace. */
  readonly metered?: {
    readonly active_s: number;
    readonly cu_hours: number;
    readonly without_requests_cu_hours: number;
  };
  /** The fields that come from the world's settings. */
  readonly from_world: readonly WorldField[];
};

export function questionSummary({
  currentDelay,
  profile,
  plan,
  priceSource,
  costs,
  latency,
  ignoredWaits,
  seed,
  scaling,
  metered,
  fromWorld,
}: Question): QuestionSummary {
  return {
    present_delay_s: currentDelay,
    profile,
    plan,
    cu: typeof costs.cu === "number" ? costs.cu : "own",
    ...priceSummary({ pricePerCuHour: costs.pricePerCuHour, source: priceSource }),
    ...worthSummary(costs),
    start_latency: latencyText(latency),
    ...(ignoredWaits.length === 0 ? {} : { ignore_waits_of: ignoredWaits }),
    seed,
    ...(scaling === undefined ? {} : { cpu_share: scaling.cpuShare }),
    ...(metered === undefined ? {} : { metered: meteredSummary(metered) }),
    from_world: fromWorld,
  };
}

/** The ignored sources, for the subject of a page; undefined if all waits count. */
export function ignoredWaitsText({
  ignore_waits_of,
}: Pick<QuestionSummary, "ignore_waits_of">): string | undefined {
  return ignore_waits_of === undefined ? undefined : `nobody waits for ${ignore_waits_of.join(", ")}`;
}

/** The ignored sources, for the limits of a report. */
export function ignoredWaitsLimit(ignoredWaits: readonly string[]): readonly string[] {
  if (ignoredWaits.length === 0) return [];
  return [
    `Nobody waits for requests of ${ignoredWaits.join(", ")}: the starts that they cause are billed, but are no cold starts, and their own waits count as none.`,
  ];
}

function meteredSummary({ activeMs, cuMs, cuMsWithoutRequests }: MeteredUsage) {
  return {
    active_s: activeMs / SECOND,
    cu_hours: cuMs / HOUR,
    without_requests_cu_hours: cuMsWithoutRequests / HOUR,
  };
}

/** Compares the replayed CU-hours of the current setting with the metered ones; undefined for a trace. */
export function meteredText(replayedCuHours: number, { metered }: QuestionSummary): string | undefined {
  if (metered === undefined) return undefined;
  const without = metered.without_requests_cu_hours;
  const rest = without === 0 ? "" : `, ${amount(without)} of them in starts without a request`;
  return `Current setting, in the whole period: ${amount(replayedCuHours)} CU-hours replayed; the world has metered ${amount(metered.cu_hours)}${rest}.`;
}

export function worthSummary({ coldStartS, dollars }: Pick<Costs, "coldStartS" | "dollars">) {
  if (dollars === undefined) return { cold_start_worth_s: coldStartS };
  return dollars.per === "cold-start"
    ? { cold_start_worth_s: null, cold_start_worth_dollars: dollars.dollars }
    : { cold_start_worth_s: null, wait_worth_dollars_per_hour: dollars.dollars };
}

/** The note that lists the settings from the world; undefined if there are none. */
export function fromWorldText(question: Question): string | undefined {
  const { profile, start_latency, from_world, ...rest } = questionSummary(question);
  const texts: Readonly<Record<WorldField, string>> = {
    profile: `profile ${profile}`,
    present: delayPhrase(rest.present_delay_s),
    cu: sizeText(rest.cu),
    start_latency: `a start latency of ${start_latency}`,
  };
  return worldText(from_world.map((field) => texts[field]));
}

export function worldText(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : `from the world's settings: ${parts.join(", ")}`;
}

export function sizeText(cu: QuestionSummary["cu"]): string {
  return cu === "own" ? "each compute's own size" : `${cu} CU`;
}

export function sizeAndPriceText(question: QuestionSummary): string {
  return `${sizeText(question.cu)} at ${profileAndPriceText(question)}`;
}

/** Explains how to scale costs to another size; undefined if sizes differ. */
export function sizeFactorText({ cu }: QuestionSummary): string | undefined {
  return cu === "own" ? undefined : `costs scale with the size: × 2 for ${2 * cu} CU`;
}

/** Profile and price, for the subject of every page that shows costs. */
export function profileAndPriceText(question: QuestionSummary): string {
  return `${priceText(question)} · profile ${question.profile}`;
}

/** The size that the bill assumes. */
export function sizeSentence({ cu }: Pick<Costs, "cu">): string {
  return typeof cu === "number"
    ? `Every compute has ${cu} CU while it is active.`
    : "Each compute has its own size while it is active; that of an autoscaling compute follows its load.";
}

export function latencyText(latency: StartLatency): string {
  if (latency.kind !== "pool") return formatDistribution(latency);
  return `${formatDistribution(latency.hit)}, ${latency.missShare * 100} % ${formatDistribution(latency.miss)}`;
}
