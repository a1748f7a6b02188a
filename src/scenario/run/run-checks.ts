import { isoInstant } from "../../kernel/calendar.ts";
import { checkInvariants } from "../../simulation/invariants.ts";
import {
  describeExpectation,
  type Expectation,
  formatMeasurement,
  meetsExpectation,
} from "../file/expectation.ts";
import type { Scenario } from "../file/scenario-schema.ts";
import type { ExpectationResults } from "./expectation-results.ts";
import type { RunObservation } from "./run-observation.ts";
import type { ReportFailure } from "./run-results.ts";
import type { ScenarioTarget } from "./target.ts";

/** Checks of the world at the current instant. */
export class RunChecks {
  readonly #target: ScenarioTarget;
  readonly #observation: RunObservation;
  readonly #results: ExpectationResults;
  readonly #fail: ReportFailure;

  constructor(
    target: ScenarioTarget,
    observation: RunObservation,
    results: ExpectationResults,
    fail: ReportFailure,
  ) {
    this.#target = target;
    this.#observation = observation;
    this.#results = results;
    this.#fail = fail;
  }

  expectations(expectations: readonly Expectation[], what: string): void {
    for (const [index, expectation] of expectations.entries()) {
      const now = this.#target.now();
      const actual = this.#observation.measure(expectation, now);
      this.#results.checked(expectation, actual, now);
      if (meetsExpectation(actual, expectation.expected)) continue;
      this.#results.failed(expectation, actual, now);
      this.#fail(
        {
          what: `${what}${expectations.length === 1 ? "" : `, expectation ${index + 1}`}`,
          at: isoInstant(now),
          expected: describeExpectation(expectation),
          actual: formatMeasurement(expectation.measure, actual),
        },
        expectation,
      );
    }
  }

  /** Compares the digest of the world with the expected one, if any. */
  async state(state: string | undefined): Promise<void> {
    const actual = state === undefined ? undefined : await this.#target.digest();
    if (state === actual) return;
    this.#fail(
      {
        what: "state",
        at: isoInstant(this.#target.now()),
        expected: `state ${state}`,
        actual: `state ${actual}`,
      },
      undefined,
    );
  }

  /** Reports the failed test that the file was written for: none of its steps has the assertion. */
  failedTest(failed: Scenario["failed"]): void {
    if (failed?.by !== "test") return;
    this.#fail(
      {
        what: "failed",
        at: isoInstant(this.#target.now()),
        expected: `the test "${failed.what}" passes`,
        actual: failed.message,
      },
      undefined,
    );
  }

  invariants(): void {
    const { violations } = checkInvariants(this.#target.world(), this.#target.now());
    for (const { invariant, message } of violations) {
      this.#fail(
        { what: "invariant", at: isoInstant(this.#target.now()), expected: invariant, actual: message },
        undefined,
      );
    }
  }
}
