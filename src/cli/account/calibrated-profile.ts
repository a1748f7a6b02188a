import { Document, isMap, isSeq, visit } from "yaml";
import type { PlanRow } from "../../account/account-reader.ts";
import { LEAST_OBSERVATIONS, type ObservedAction, shareInterval } from "../../account/observed-actions.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import type { ProfileName } from "../../platform/catalog/defaults-and-limits.ts";
import { OPERATION_ACTIONS } from "../../platform/catalog/operation-actions.ts";
import { plural } from "../../whatif/units/number-format.ts";

export type CalibrationSource = {
  /** The name of the profile. */
  readonly name: string;
  readonly like: ProfileName;
  /** Origin of the figures: file, API and instant of the last pull. */
  readonly origin: string;
  readonly plan: PlanRow | undefined;
  readonly delaysS: readonly number[];
};

/** The content of a profile file: every figure has a description with its count and period. */
export function calibratedProfile(observed: readonly ObservedAction[], source: CalibrationSource) {
  const known = observed.filter(({ action }) => isKnown(action));
  return {
    name: source.name,
    description: `Written by standin account calibrate from ${source.origin}`,
    like: source.like,
    durations: Object.fromEntries(known.map((one) => [one.action, durationsOf(one, source.like)])),
    failures: Object.fromEntries(known.map((one) => [one.action, failuresOf(one)])),
    ...(source.plan === undefined ? {} : { plan: planOf(source.plan, source.delaysS) }),
  };
}

/** Whether standin schedules this action. */
export function isKnown(action: string): boolean {
  return (OPERATION_ACTIONS as readonly string[]).includes(action);
}

/** The profile in YAML, with one line for each list of quantiles, or in JSON. */
export function profileText(profile: object, format: "yaml" | "json"): string {
  if (format === "json") return `${JSON.stringify(profile, undefined, 2)}\n`;
  const document = new Document(profile);
  visit(document, {
    Seq(_, list) {
      list.flow = true;
    },
    Pair(_, { value }) {
      if ((isMap(value) || isSeq(value)) && value.items.length === 0) value.flow = true;
    },
  });
  // Without a width, since a wrapped list has one line for each number.
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

function durationsOf(observed: ObservedAction, like: ProfileName): object {
  const { action, durations: count, quantilesMs } = observed;
  const meaning = action === "start_compute" ? "Time until a suspended compute answers: " : "";
  const fallback =
    quantilesMs === undefined ? `; fewer than ${LEAST_OBSERVATIONS}, so those of profile ${like} apply` : "";
  return {
    description: `${meaning}${plural(count, "duration")} ${periodOf(observed)}${leftOutText(observed)}${fallback}`,
    count,
    ...(quantilesMs === undefined ? {} : { quantiles_ms: quantilesMs }),
  };
}

function failuresOf(observed: ObservedAction): object {
  const { failed, ended } = observed;
  const { least, most } = shareInterval(failed, ended);
  return {
    description: `${failed} of ${plural(ended, "operation")} ${periodOf(observed)} failed; 95 % interval ${percent(least)} to ${percent(most)}`,
    share: Number((failed / ended).toPrecision(6)),
  };
}

/** Limits below zero are none. */
function planOf(plan: PlanRow, delaysS: readonly number[]): object {
  const { plan: subscription, projects_limit: projects, branches_limit: branches, max_cu } = plan;
  const delays = delaysS.length === 0 ? "none" : delaysS.map(delayText).join(", ");
  return {
    description: `Plan ${subscription}, largest size ${max_cu} CU, read on ${isoInstant(plan.last_seen_at)}; delays in force: ${delays}`,
    name: /^free/i.test(subscription) ? "free" : "paid",
    ...(projects < 0 ? {} : { projects }),
    ...(branches < 1 ? {} : { branches }),
  };
}

/** S: 0 is the default of the platform, and -1 is never. */
function delayText(seconds: number): string {
  if (seconds < 0) return "never";
  return seconds === 0 ? "default" : `${seconds} s`;
}

function leftOutText({ waited, retried, recorded }: ObservedAction): string {
  const parts = [
    ...(waited === 0 ? [] : [`${waited} that may have waited for another operation`]),
    ...(retried === 0 ? [] : [`${retried} with a failed attempt`]),
    ...(recorded === 0 ? [] : [`${recorded} without a duration`]),
  ];
  return parts.length === 0 ? "" : `, without ${parts.join(", ")}`;
}

function periodOf({ from, to }: ObservedAction): string {
  return `from ${isoInstant(from)} to ${isoInstant(to)}`;
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}
