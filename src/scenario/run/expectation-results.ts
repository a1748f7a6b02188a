import { isoInstant } from "../../kernel/calendar.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { PlacedExpectation } from "../file/every-expectation.ts";
import { describeExpectation, type Expectation, marginOf } from "../file/expectation.ts";
import type { ExpectationResult, FilePosition } from "./verdict.ts";

type Outcome = {
  checks: number;
  isFailed: boolean;
  value: number | string | undefined;
  margin: number | undefined;
  at: SimTime;
};

/** The value of each expectation that came closest to its bound, over all checks of a run. */
export class ExpectationResults {
  readonly #outcomes = new Map<Expectation, Outcome & PlacedExpectation>();

  constructor(expectations: readonly PlacedExpectation[]) {
    for (const placed of expectations)
      this.#outcomes.set(placed.expectation, {
        ...placed,
        ...{ checks: 0, isFailed: false, value: undefined, margin: undefined, at: 0 },
      });
  }

  /** The name of an expectation in the report. */
  nameOf(expectation: Expectation): string | undefined {
    return this.#outcomes.get(expectation)?.what;
  }

  /** The first failed value stays. */
  checked(expectation: Expectation, value: number | string, at: SimTime): void {
    const outcome = this.#outcomes.get(expectation);
    if (outcome === undefined) return;
    outcome.checks += 1;
    if (outcome.isFailed) return;
    const margin = marginOf(value, expectation.expected, outcome.isNever);
    if (outcome.margin !== undefined && margin !== undefined && margin > outcome.margin) return;
    outcome.value = value;
    outcome.margin = margin;
    outcome.at = at;
  }

  failed(expectation: Expectation, value: number | string, at: SimTime): void {
    const outcome = this.#outcomes.get(expectation);
    if (outcome === undefined || outcome.isFailed) return;
    outcome.margin = undefined;
    this.checked(expectation, value, at);
    outcome.isFailed = true;
  }

  /** In the order of the file. */
  all(positionOf: (path: readonly (string | number)[]) => FilePosition): ExpectationResult[] {
    return [...this.#outcomes.values()].map(
      ({ expectation, what, path, isNever, checks, isFailed, value, margin, at }) => {
        const [watch] = path;
        const prefix = watch === "always" || watch === "never" ? `${isNever ? "never" : "always"} ` : "";
        return {
          what,
          expected: `${prefix}${describeExpectation(expectation)}`,
          result: checks === 0 ? "not_checked" : isFailed ? "failed" : "passed",
          checks,
          measure: expectation.measure,
          ...(value === undefined ? {} : { value, at: isoInstant(at) }),
          ...(margin === undefined ? {} : { margin }),
          ...positionOf(path),
        };
      },
    );
  }
}
