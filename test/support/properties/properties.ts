import fc from "fast-check";
import { expect } from "vitest";
import { recordScenario } from "../scenario/scenario-recording.ts";

/** CI uses a fixed seed, so that only a change can make a test fail. Another integer explores other cases. */
const DEFAULT_SEED = 20_260_101;
/**
 * Failures are found long before this limit, also on a slow machine. The rest of the time goes into shrinking them, and ends
 * before the time limit of a test.
 */
const SHRINK_UNTIL_MS = 100_000;

const { STANDIN_TEST_SEED, STANDIN_TEST_PATH, STANDIN_TEST_REPLAY, STANDIN_TEST_RUNS } = process.env;
/** The share of each property's runs that CI makes. `STANDIN_TEST_RUNS=1` makes all of them, 10 ten times as many. */
const CI_SHARE = 0.3;
const RUNS_FACTOR = Number(STANDIN_TEST_RUNS ?? CI_SHARE);

/** For `fc.commands`: which commands of a failure ran. Its path is not reproducible without this. */
export const REPLAY_PATH: { readonly replayPath?: string } =
  STANDIN_TEST_REPLAY === undefined ? {} : { replayPath: STANDIN_TEST_REPLAY };

/**
 * Throws when the property fails, with the smallest counterexample, its seed and path, and the command that
 * repeats it.
 */
export async function expectHolds<T>(
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  runs: number,
  examples: T[] = [],
): Promise<void> {
  const { testPath = "", currentTestName = "" } = expect.getState();
  const details = await fc.check(property, {
    numRuns: Math.ceil(runs * RUNS_FACTOR),
    examples,
    seed: STANDIN_TEST_SEED === undefined ? DEFAULT_SEED : Number(STANDIN_TEST_SEED),
    interruptAfterTimeLimit: SHRINK_UNTIL_MS * Math.max(1, RUNS_FACTOR),
    ...(STANDIN_TEST_PATH === undefined ? {} : { path: STANDIN_TEST_PATH, endOnFailure: true }),
  });
  if (!details.failed) return;
  const report = fc.defaultReportMessage(details) ?? "";
  const replayPath = /replayPath="([^"]*)"/.exec(report)?.[1];
  const variables = [
    `STANDIN_TEST_SEED=${details.seed}`,
    `STANDIN_TEST_PATH=${details.counterexamplePath ?? ""}`,
    ...(replayPath === undefined ? [] : [`STANDIN_TEST_REPLAY='${replayPath}'`]),
  ];
  const file = testPath.slice(testPath.lastIndexOf("test/"));
  const name = currentTestName
    .split(" > ")
    .at(-1)
    ?.replaceAll(/[^\w ,]/g, ".");
  const scenario = await scenarioOf(property, details.counterexample, currentTestName);
  const replayHint =
    scenario === undefined ? "" : `\n\nTo run its requests as a scenario:\nstandin run ${scenario}`;
  throw new Error(
    `${report}\n\nTo repeat it:\n${variables.join(" ")} npx vitest run ${file} -t '${name}'${replayHint}`,
    {
      cause: details.errorInstance,
    },
  );
}

/** Writes the requests of the smallest counterexample as a scenario file; nothing if it sends no request. */
async function scenarioOf<T>(
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  example: T | null,
  name: string,
): Promise<string | undefined> {
  if (example === null) return undefined;
  const recording = await recordScenario(async () => property.run(example));
  return recording.hasSteps ? recording.write(name) : undefined;
}
