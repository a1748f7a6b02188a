import { PROFILES } from "../../../platform/catalog/defaults-and-limits.ts";
import type { VendorPlan } from "../../../platform/catalog/price-lists.ts";
import {
  ALL_DELAYS,
  isSettableDelay,
  type SettableDelays,
  settableDelays,
} from "../../../whatif/gap-curve/settable-delays.ts";
import { LONGEST_DELAY_S } from "../../../whatif/trace/gap-histogram.ts";
import { delayText, percentWithMargin, plural } from "../../../whatif/units/number-format.ts";
import { CliError } from "../../terminal/cli-error.ts";
import type { Answer, ChosenDelay, ChosenDelays } from "./saved-answer.ts";

/** Delays that an answer changes or retains, in the order of the ids. */
export type DelayChanges = {
  readonly set: ChosenDelays["set"];
  readonly plan: VendorPlan;
  readonly changed: readonly ChosenDelay[];
  readonly retained: readonly RetainedDelay[];
  /** Compute time of the whole fleet in a month, in dollars, with the delays before. */
  readonly dollarsBefore: number;
};

type RetainedDelay = {
  readonly compute: string;
  /** The delay that is not set. */
  readonly delay: ChosenDelay["delay"];
  readonly reason: "current" | "no-gain" | "within-noise" | "unknown";
  /** Reduction of the weighted cost, and half the width of its 95 % interval. */
  readonly gainPercent: number | null;
  readonly marginPercent: number | null;
  /** The reason as a sentence. */
  readonly text: string;
};

const MAX_COMPUTES_IN_ERROR = 50;

/**
 * A delay is changed if the answer's gain for the compute is larger than its interval, or if a limit requires it.
 * The default of `plan` is the plan of the answer. Throws an error that lists the computes whose delay the plan does
 * not allow.
 */
export function delayChanges(
  answer: Answer,
  { set, delays }: ChosenDelays,
  plan: VendorPlan = answer.question.plan,
): DelayChanges {
  const settable = settableDelays(plan, PROFILES[answer.question.profile].suspendTimeout.defaultS);
  const different = delays.filter(({ from, delay }) => from !== delay);
  const rejected = different.filter(({ delay }) => !isSettableDelay(settable, delay));
  if (rejected.length > 0) throw new CliError(rejectedText(rejected, plan, settable));
  const [changed, retained]: [ChosenDelay[], RetainedDelay[]] = [[], []];
  for (const chosen of delays) {
    const keep = retainedDelay(chosen, answer.decision.no_margins);
    if (keep === undefined) changed.push(chosen);
    else retained.push(keep);
  }
  return { set, plan, changed, retained, dollarsBefore: answer.decision.current.cost_dollars_per_month };
}

/**
 * Monthly compute time of the whole fleet, in dollars, after the delays for which `isSet` holds; undefined if unknown.
 */
export function dollarsAfter(
  { dollarsBefore, changed }: DelayChanges,
  isSet: (compute: string) => boolean = () => true,
): number | undefined {
  let dollars = dollarsBefore;
  for (const { compute, gain } of changed) {
    if (!isSet(compute)) continue;
    if (gain === undefined) return undefined;
    dollars += gain.cost_dollars_per_month;
  }
  return dollars;
}

/** The delay with the reason for retaining it; undefined if the delay is to be changed. */
function retainedDelay(chosen: ChosenDelay, noMargins: string | null): RetainedDelay | undefined {
  const { compute, delay, from, gain, weightedCostS, isRequired } = chosen;
  const percent = (seconds: number | null | undefined) =>
    seconds == null || weightedCostS === 0 ? null : (seconds / weightedCostS) * 100;
  const [gainPercent, marginPercent] = [percent(gain?.gain_s), percent(gain?.margin_95)];
  const retained = (reason: RetainedDelay["reason"], text: string) => ({
    ...{ compute, delay, reason, gainPercent, marginPercent },
    text: `keeps ${delayText(from)}: ${text}`,
  });
  if (delay === from) return retained("current", "the answer chooses it, too");
  if (isRequired) return undefined;
  const to = delayText(delay);
  if (gain === undefined)
    return retained("unknown", `what ${to} gains is not known${noMargins === null ? "" : ` (${noMargins})`}`);
  if (gain.gain_s === 0) return retained("no-gain", `${to} gains nothing`);
  if (gain.gain_s < 0) return retained("no-gain", `${to} has a higher weighted cost`);
  if (gain.margin_95 === null)
    return retained(
      "unknown",
      `the gain of ${to} has no interval${noMargins === null ? "" : ` (${noMargins})`}`,
    );
  if (gain.gain_s > gain.margin_95) return undefined;
  return retained(
    "within-noise",
    `the gain of ${to} is within the noise, ${percentWithMargin(gainPercent, marginPercent)} of the weighted cost`,
  );
}

function rejectedText(rejected: readonly ChosenDelay[], plan: VendorPlan, settable: SettableDelays): string {
  const listed = rejected
    .slice(0, MAX_COMPUTES_IN_ERROR)
    .map(({ compute, delay }) => `  ${compute}: ${delayText(delay)} is not allowed on plan ${plan}`);
  const more = rejected.length - listed.length;
  return [
    `plan ${plan} allows only ${allowedText(settable)}; nothing was changed${plan === "free" ? "" : `. For it, calculate the answer with: whatif curve --plan ${plan}`}`,
    ...listed,
    ...(more === 0 ? [] : [`  and ${plural(more, "other compute")}`]),
  ].join("\n");
}

function allowedText(settable: SettableDelays): string {
  if (settable !== "all") return settable.map(delayText).join(" or ");
  return `${delayText(ALL_DELAYS.shortest)} to ${delayText(LONGEST_DELAY_S)}, or never`;
}
