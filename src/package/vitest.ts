import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunnerTask, type TestAPI, test as vitestTest } from "vitest";
import type { StandinOptions } from "./create-options.ts";
import type { PreparedWorld } from "./failed-test.ts";
import { createStandin, newestRequest, reportFailedTest } from "./simulator.ts";
import type { Standin } from "./standin-world.ts";

/** `expect` of vitest, so that a test file needs one import. */
export { expect } from "vitest";

export type SimTestOptions = {
  /** Options of the world that each test forks. Its files are in a temporary directory. */
  readonly options?: Omit<StandinOptions, "data">;
  /** Called once per test file, before the first fork. */
  readonly prepare?: (sim: Standin) => Promise<void> | void;
  /** Directory for the files of failed tests. Default: `standin-failures`. */
  readonly failures?: string;
};

const DEFAULT_FAILURES = "standin-failures";

/**
 * The `test` of vitest with the fixture `sim`: a world of its own for each test, forked from a prepared one and
 * closed after the test. For a failed test, prints its last requests, and writes a file that opens its world and
 * repeats its requests.
 */
export function simTest({
  options = {},
  prepare,
  failures = DEFAULT_FAILURES,
}: SimTestOptions = {}): TestAPI<{
  readonly sim: Standin;
}> {
  return vitestTest.extend<{ readonly sim: Standin; readonly preparedSim: PreparedWorld }>({
    preparedSim: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads the used fixtures from the pattern.
      async ({}, use) => {
        const data = mkdtempSync(join(tmpdir(), "standin-test-"));
        const sim = await createStandin({ ...options, data });
        try {
          await prepare?.(sim);
          const head = (await sim.events()).at(-1)?.seq ?? 0;
          const request = await newestRequest(sim);
          await use({ sim, data, head, request });
        } finally {
          await sim.close();
          rmSync(data, { recursive: true, force: true });
        }
      },
      { scope: "file" },
    ],
    sim: async ({ preparedSim, task }, use) => {
      const world = `test-${task.id.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`;
      const fork = await preparedSim.sim.fork({ name: world });
      try {
        await use(fork);
        if (task.result?.state !== "fail") return;
        const failedTest = {
          ...{ world, name: task.name, suites: suitesOf(task), file: task.file.filepath },
          message: task.result.errors?.[0]?.message,
        };
        await reportFailedTest(preparedSim, fork, failedTest, failures);
      } finally {
        await fork.close();
      }
    },
  }) as TestAPI<{ readonly sim: Standin }>;
}

/** The titles of the suites that a test is in, from the outermost. */
function suitesOf({ suite, file }: Pick<RunnerTask, "suite" | "file">): string[] {
  return suite === undefined || suite.id === file.id ? [] : [...suitesOf(suite), suite.name];
}

/** The `test` of vitest with the fixture `sim`: a new world for each test. */
export const test: TestAPI<{ readonly sim: Standin }> = simTest();
