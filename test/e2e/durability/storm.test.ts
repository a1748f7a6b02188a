import { expect, test } from "vitest";
import {
  describeStormFailure,
  hasCompiler,
  runStorm,
  runStormSeeds,
} from "../../support/storage/storm-run.ts";

const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const SEEDS = Number(process.env["STANDIN_TEST_STORM"] ?? 100);

/** Seeds that have found bugs. */
const FORMER_FAILURES = [
  17, 49, 77, 129, 242, 420, 501, 741, 1010, 1267, 1567, 30_274, 31_202, 32_010, 32_714, 34_665, 44_121,
  45_674, 20_260_202, 20_260_185,
];

test.skipIf(!hasCompiler())(
  "when storage calls fail and the power is cut, no acknowledged change is lost and each answer was true",
  async () => {
    const { totals, failures } = await runStorm("worlds", FIRST_SEED, SEEDS);
    expect(failures.map((failure) => describeStormFailure("worlds", failure))).toEqual([]);
    // Without failed calls and unknown outcomes the test would prove nothing.
    expect(totals.failed).toBeGreaterThan(0);
    expect(totals.powerCuts).toBeGreaterThan(SEEDS);
    expect(totals.copies).toBeGreaterThan(SEEDS / 2);
  },
);

test.skipIf(!hasCompiler())(
  "when storage calls fail and the power is cut, no acknowledged change of a volume is lost",
  async () => {
    const { totals, failures } = await runStorm("volumes", FIRST_SEED, 5 * SEEDS);
    expect(failures.map((failure) => describeStormFailure("volumes", failure))).toEqual([]);
    expect(totals.failed).toBeGreaterThan(0);
    expect(totals.powerCuts).toBeGreaterThan(SEEDS);
  },
);

test.skipIf(!hasCompiler())("the seeds that have failed before pass", async () => {
  const { failures } = await runStormSeeds("worlds", FORMER_FAILURES);
  expect(failures.map((failure) => describeStormFailure("worlds", failure))).toEqual([]);
});
