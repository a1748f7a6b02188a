import { DAY, HOUR, MINUTE, parseDuration, SECOND } from "../../kernel/time.ts";
import { isTimeZone } from "../../traffic/generated/time-zone.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { clairvoyant, clairvoyantResume } from "./clairvoyant.ts";
import { bestFixed, fixed, ownDelays } from "./fixed.ts";
import { hybridHistogram } from "./hybrid-histogram.ts";
import { learnedHazard } from "./learned-hazard.ts";
import type { Policy } from "./policy.ts";
import { predictiveResume } from "./predictive-resume.ts";
import { parseWeekWindows, SCHEDULE_RULE, weekSchedule } from "./schedule.ts";
import { skiRental, skiRentalRandomised } from "./ski-rental.ts";
import { type TrainedOptions, trainedSchedule } from "./trained-schedule.ts";

/** One form of `--policy`. */
type PolicyForm = {
  readonly form: string;
  readonly meaning: string;
  /** Returns undefined if `text` has another form. Throws a RangeError if its options are invalid. */
  readonly parse: (text: string) => Policy | undefined;
};

/** All forms of `--policy`. The parser, the help and the tests read this table. */
export const POLICY_FORMS: readonly PolicyForm[] = [
  withOptions("fixed", ":SECONDS", "one delay, from 0 to 604800 s", parseFixed),
  withoutOptions(fixed("never"), "no autosuspend"),
  withoutOptions(fixed(0), "suspends as soon as the compute is idle"),
  withoutOptions(bestFixed("fleet"), "the one delay that is best for all computes, in hindsight"),
  withoutOptions(bestFixed("compute"), "the best delay for each compute, in hindsight"),
  withoutOptions(skiRental, "stays active for as long as a cold start is worth"),
  withoutOptions(skiRentalRandomised, "stays active for a random share of that time"),
  withOptions(
    "hybrid",
    "[:range=4h,fallback=4h]",
    "histogram of idle times; resumes ahead of the next request (Serverless in the Wild)",
    parseHybrid,
  ),
  withoutOptions(learnedHazard, "the best delay for the idle times seen so far"),
  withOptions(
    "predictive",
    "[:delay=5m,lead=5m,share=0.5]",
    "resumes ahead of the hours of the week that are usually busy",
    parsePredictive,
  ),
  {
    form: "schedule:mon-fri@08:00-18:00[,zone=UTC,delay=5m]",
    meaning: "active on these days and local times, with a delay otherwise",
    parse: parseSchedule,
  },
  {
    form: "schedule:trained[,until=14d,delay=5m]",
    meaning: "a schedule for each compute, learnt from its first days",
    parse: parseTrainedSchedule,
  },
  withoutOptions(clairvoyant, "perfect foresight: the bound for policies that only suspend"),
  withoutOptions(
    clairvoyantResume,
    "perfect foresight: the bound for policies that also resume ahead of time",
  ),
];

/** Parses one form, or the name of `ownDelays`. Throws a RangeError that names the field and lists the forms. */
export function parsePolicy(text: string): Policy {
  const trimmed = text.trim();
  // Comparisons add this policy themselves, because it needs a world whose computes have different delays.
  if (trimmed === ownDelays.name) return ownDelays;
  for (const { parse } of POLICY_FORMS) {
    const policy = parse(trimmed);
    if (policy !== undefined) return policy;
  }
  throw new RangeError(
    `policy: "${text}" is not known; expected one of: ${POLICY_FORMS.map(({ form }) => form).join(", ")}`,
  );
}

function withoutOptions(policy: Policy, meaning: string): PolicyForm {
  return { form: policy.name, meaning, parse: (text) => (text === policy.name ? policy : undefined) };
}

/** `parse` receives the text after the colon, or undefined if there is no colon. */
function withOptions(
  kind: string,
  optionsForm: string,
  meaning: string,
  parse: (text: string, options: string | undefined) => Policy,
): PolicyForm {
  const parseKind = (text: string) => {
    const [textKind, options] = splitAtColon(text);
    return textKind === kind ? parse(text, options) : undefined;
  };
  return { form: `${kind}${optionsForm}`, meaning, parse: parseKind };
}

function parseFixed(text: string, seconds: string | undefined): Policy {
  return fixed(parseSeconds(text, seconds));
}

function parseHybrid(text: string, rest = ""): Policy {
  const options = parsePolicyOptions(text, rest, ["range", "fallback"]);
  const rangeMs = parseDurationOption(text, "range", options.get("range"), 4 * HOUR);
  if (rangeMs < HOUR || rangeMs > 4 * HOUR)
    throw new RangeError(`policy: range in "${text}": expected 1h to 4h`);
  return hybridHistogram(
    { rangeMs, fallbackMs: parseDurationOption(text, "fallback", options.get("fallback"), rangeMs) },
    text,
  );
}

function parsePredictive(text: string, rest = ""): Policy {
  const options = parsePolicyOptions(text, rest, ["delay", "lead", "share"]);
  const share = Number(options.get("share") ?? 0.5);
  if (!(share > 0 && share <= 1))
    throw new RangeError(`policy: share in "${text}": expected a number above 0 and up to 1`);
  const delayMs = parseDurationOption(text, "delay", options.get("delay"), 5 * MINUTE);
  return predictiveResume(
    { delayMs, leadMs: parseDurationOption(text, "lead", options.get("lead"), 5 * MINUTE), share },
    text,
  );
}

const SCHEDULE = "schedule:";
const TRAINED_SCHEDULE = "schedule:trained";

function parseSchedule(text: string): Policy | undefined {
  if (!text.startsWith(SCHEDULE) || isTrainedSchedule(text)) return undefined;
  const [week = "", ...rest] = text.slice(SCHEDULE.length).split(",");
  const windows = parseWeekWindows(week);
  if (windows === undefined) throw new RangeError(`policy: "${text}": ${SCHEDULE_RULE}`);
  const options = parsePolicyOptions(text, rest.join(","), ["zone", "delay"]);
  const zone = options.get("zone") ?? "UTC";
  if (!isTimeZone(zone))
    throw new RangeError(
      `policy: zone in "${text}": expected the name of a time zone, such as Europe/Berlin`,
    );
  const delayMs = parseDurationOption(text, "delay", options.get("delay"), 5 * MINUTE);
  return weekSchedule({ windows, zone, delayMs }, text);
}

function parseTrainedSchedule(text: string): Policy | undefined {
  if (!isTrainedSchedule(text)) return undefined;
  const options = parsePolicyOptions(text, text.slice(TRAINED_SCHEDULE.length + 1), ["until", "delay"]);
  const delayMs = parseDurationOption(text, "delay", options.get("delay"), 5 * MINUTE);
  return trainedSchedule({ until: parseTrainingEnd(text, options.get("until") ?? "14d"), delayMs }, text);
}

export function isTrainedSchedule(text: string): boolean {
  return text === TRAINED_SCHEDULE || text.startsWith(`${TRAINED_SCHEDULE},`);
}

function parseTrainingEnd(text: string, until: string): TrainedOptions["until"] {
  const [, days] = /^(\d{1,4})d$/.exec(until) ?? [];
  if (days !== undefined && Number(days) > 0) return { afterMs: Number(days) * DAY };
  const at = /^\d{4}-\d\d-\d\d$/.test(until) ? parseInstant(`${until}T00:00:00Z`) : undefined;
  if (at !== undefined) return { at };
  throw new RangeError(
    `policy: until in "${text}": expected a number of days such as 14d, or a date (UTC) such as 2026-01-19`,
  );
}

function parseSeconds(text: string, rest: string | undefined): number {
  const seconds = rest === undefined || !/^\d+$/.test(rest) ? Number.NaN : Number(rest);
  if (seconds <= LONGEST_DELAY_S) return seconds;
  throw new RangeError(
    `policy: "${text}": expected whole seconds from 0 to ${LONGEST_DELAY_S}, such as fixed:300`,
  );
}

function parsePolicyOptions(
  text: string,
  rest: string,
  optionNames: readonly string[],
): ReadonlyMap<string, string> {
  const options = new Map<string, string>();
  for (const part of rest === "" ? [] : rest.split(",")) {
    const [name = "", value = ""] = part.split("=");
    if (!optionNames.includes(name))
      throw new RangeError(
        `policy: unknown option "${name}" in "${text}"; expected ${optionNames.join(", ")}`,
      );
    options.set(name, value);
  }
  return options;
}

function parseDurationOption(
  text: string,
  name: string,
  value: string | undefined,
  defaultMs: number,
): number {
  const ms = value === undefined ? defaultMs : parseDuration(/^\d+$/.test(value) ? `${value}s` : value);
  if (ms !== undefined && ms >= SECOND) return ms;
  throw new RangeError(
    `policy: ${name} in "${text}": expected a duration of at least 1s, such as 300, 5m or 1h`,
  );
}

function splitAtColon(text: string): [string, string | undefined] {
  const colon = text.indexOf(":");
  return colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
}
