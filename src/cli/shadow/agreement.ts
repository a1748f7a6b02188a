import { quantileMs } from "../../kernel/distribution.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";

/** The comparisons, with the rule of standin and its evidence (docs/evidence.md). */
const CHECKS = {
  suspend: { rule: "a compute suspends one delay after its last activity", evidence: "R" },
  duration: { rule: "operations take as long as those of the profile", evidence: "A" },
  failure: { rule: "operations fail as often as those of the profile", evidence: "A" },
  lock: {
    rule: "an operation of a compute waits for the one before it, except for changes of its configuration",
    evidence: "D",
  },
  order: { rule: "starts and suspends of a compute alternate", evidence: "R" },
  action: { rule: "operations have the actions that standin schedules", evidence: "S" },
  status: { rule: "operations have the statuses of the public document", evidence: "S" },
  consumption: { rule: "active time is metered from start to suspend", evidence: "R" },
} as const satisfies Readonly<Record<string, { readonly rule: string; readonly evidence: string }>>;

type CheckName = keyof typeof CHECKS;

/** Something that the rules do not explain. */
export type Surprise = {
  readonly check: CheckName;
  readonly project: string | null;
  readonly compute: string | null;
  /** Id of the operation, if it is about one. */
  readonly operation: string | null;
  readonly at: SimTime;
  readonly text: string;
};

/** The outcome of one check. */
export type CheckResult = {
  readonly check: CheckName;
  readonly compared: number;
  /** Not compared, because the account does not show enough. */
  readonly skipped: number;
  /** The observed value minus the value that the rules predict. */
  readonly differencesMs?: readonly DurationMs[];
  readonly surprises: readonly Surprise[];
  /** What could not be compared, and why. */
  readonly note?: string;
};

/** The agreement as JSON: `agreement.json`. */
export function agreementSummary(results: readonly CheckResult[], tolerance: number) {
  const surprises = results.flatMap((result) => result.surprises);
  return {
    agrees: surprises.length <= tolerance,
    tolerance,
    checks: results.map(({ check, compared, skipped, differencesMs, surprises: own, note = null }) => ({
      check,
      ...CHECKS[check],
      ...{ compared, skipped, surprises: own.length },
      differences_ms: differencesMs === undefined ? null : differenceQuantiles(differencesMs),
      note,
    })),
    surprises: surprises.map(({ at, check, ...surprise }) => ({
      check,
      ...CHECKS[check],
      ...surprise,
      at: new Date(at).toISOString(),
    })),
  };
}

/** The content of `agreement.json`. */
export type Agreement = ReturnType<typeof agreementSummary> & {
  readonly version: 1;
  readonly api: string;
  readonly since: string;
  readonly until: string;
  readonly profile: string;
};

function differenceQuantiles(differencesMs: readonly DurationMs[]) {
  if (differencesMs.length === 0) return null;
  const sorted = differencesMs.toSorted((one, other) => one - other);
  const at = (share: number) => Math.round(quantileMs(sorted, share));
  return { least: at(0), median: at(0.5), p95: at(0.95), most: at(1) };
}
