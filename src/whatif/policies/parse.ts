import { HOUR, MINUTE, parseDuration, SECOND } from "../../platform/core/time.ts";
import { LONGEST_DELAY_S } from "../trace/gap-histogram.ts";
import { clairvoyant, clairvoyantResume } from "./clairvoyant.ts";
import { bestFixed, fixed, ownDelays } from "./fixed.ts";
import { hybridHistogram } from "./hybrid-histogram.ts";
import { learnedHazard } from "./learned-hazard.ts";
import type { Policy } from "./policy.ts";
import { predictiveResume } from "./predictive-resume.ts";
import { skiRental, skiRentalRandomised } from "./ski-rental.ts";

/** The forms of `--policy`, and what each means. */
export const POLICY_FORMS: readonly { readonly form: string; readonly meaning: string }[] = [
  { form: "fixed:SECONDS", meaning: "one delay, from 0 to 604800 s" },
  { form: "never", meaning: "no autosuspend" },
  { form: "immediate", meaning: "suspends as soon as the compute is idle" },
  { form: "best-fixed:fleet", meaning: "the one delay that is best for all computes, in hindsight" },
  { form: "best-fixed:compute", meaning: "the best delay for each compute, in hindsight" },
  { form: "ski-rental", meaning: "stays active for as long as a cold start is worth" },
  { form: "ski-rental:randomised", meaning: "stays active for a random share of that time" },
  {
    form: "hybrid[:range=4h,fallback=4h]",
    meaning: "histogram of idle times; resumes ahead of the next request (Serverless in the Wild)",
  },
  { form: "hazard", meaning: "the best delay for the idle times seen so far" },
  {
    form: "predictive[:delay=5m,lead=5m,share=0.5]",
    meaning: "resumes ahead of the hours of the week that are usually busy",
  },
  { form: "clairvoyant", meaning: "perfect foresight: the bound for policies that only suspend" },
  {
    form: "clairvoyant:resume",
    meaning: "perfect foresight: the bound for policies that also resume ahead of time",
  },
];

/** Parses one form. Throws a RangeError that names the field and lists the forms. */
export function parsePolicy(text: string): Policy {
  const [kind = "", rest] = splitAtColon(text.trim());
  const withoutOptions = POLICIES_WITHOUT_OPTIONS.get(text.trim());
  if (withoutOptions !== undefined) return withoutOptions;
  if (kind === "fixed") return fixed(parseSeconds(text, rest));
  if (kind === "hybrid") return parseHybrid(text, rest ?? "");
  if (kind === "predictive") return parsePredictive(text, rest ?? "");
  throw new RangeError(
    `policy: "${text}" is not known; expected one of: ${POLICY_FORMS.map(({ form }) => form).join(", ")}`,
  );
}

const POLICIES_WITHOUT_OPTIONS: ReadonlyMap<string, Policy> = new Map(
  [
    ownDelays,
    fixed("never"),
    fixed(0),
    bestFixed("fleet"),
    bestFixed("compute"),
    skiRental,
    skiRentalRandomised,
    learnedHazard,
    clairvoyant,
    clairvoyantResume,
  ].map((policy) => [policy.name, policy]),
);

function parseHybrid(text: string, rest: string): Policy {
  const options = parsePolicyOptions(text, rest, ["range", "fallback"]);
  const rangeMs = parseDurationOption(text, "range", options.get("range"), 4 * HOUR);
  if (rangeMs < HOUR || rangeMs > 4 * HOUR)
    throw new RangeError(`policy: range in "${text}": expected 1h to 4h`);
  return hybridHistogram(
    { rangeMs, fallbackMs: parseDurationOption(text, "fallback", options.get("fallback"), rangeMs) },
    text.trim(),
  );
}

function parsePredictive(text: string, rest: string): Policy {
  const options = parsePolicyOptions(text, rest, ["delay", "lead", "share"]);
  const share = Number(options.get("share") ?? 0.5);
  if (!(share > 0 && share <= 1))
    throw new RangeError(`policy: share in "${text}": expected a number above 0 and up to 1`);
  const delayMs = parseDurationOption(text, "delay", options.get("delay"), 5 * MINUTE);
  return predictiveResume(
    { delayMs, leadMs: parseDurationOption(text, "lead", options.get("lead"), 5 * MINUTE), share },
    text.trim(),
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
