import { isProfileName, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { readProfileFile } from "../terminal/profile-option.ts";
import type { ExpectedFailures } from "./compare-failures.ts";
import type { ExpectedDurations } from "./compare-operations.ts";

/** Figures of a profile that are compared. */
export type ExpectedRules = {
  readonly durations: ExpectedDurations;
  readonly failures: ExpectedFailures;
  readonly defaultDelayS: number;
};

/** `text`: the value of `--profile`. */
export async function readExpectedRules(text: string): Promise<ExpectedRules> {
  if (isProfileName(text)) {
    const { variedDurations: durations, suspendTimeout } = PROFILES[text];
    return {
      ...{ durations: { durations, counts: {} }, failures: { shares: {}, counts: {} } },
      defaultDelayS: suspendTimeout.defaultS,
    };
  }
  const { parseProfileFile } = await import("../../app/profile-file.ts");
  const file = readProfileFile(text, parseProfileFile);
  const { like, durations, counts, suspend_timeout_s, failures = {} } = file;
  const { variedDurations, suspendTimeout } = PROFILES[like];
  return {
    durations: { durations: { ...variedDurations, ...durations }, counts },
    failures: {
      shares: Object.fromEntries(Object.entries(failures).map(([action, { share }]) => [action, share])),
      counts,
    },
    defaultDelayS: suspend_timeout_s?.default ?? suspendTimeout.defaultS,
  };
}
