import { expect, test } from "vitest";
import { parseDuration } from "../../../src/kernel/time.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { CheckedApi } from "../../support/random-operations/checked-api.ts";
import { RandomProject } from "../../support/random-operations/random-project.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

// C: the random operations with which the real platform tests itself, through its public API only. Reported
// activity replaces the benchmarks.

const { STANDIN_TEST_SEED = "20260101", STANDIN_TEST_RANDOM_OPS = "200" } = process.env;
const AT_A_TIME = 8;
/** C: the number of operations of one run of the original. */
const OPERATIONS_PER_PROJECT = 250;
const DEFAULT_TIMEOUT_MS = 120_000;

/** Ends after a number of operations, or after a duration with a unit. */
function limitOf(text: string): { readonly operations: number; readonly until: number } {
  if (/^\d+$/.test(text)) return { operations: Number(text), until: Number.POSITIVE_INFINITY };
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new Error(`STANDIN_TEST_RANDOM_OPS: expected a number of operations or a duration, got ${text}`);
  return { operations: Number.POSITIVE_INFINITY, until: Date.now() + ms };
}

test(
  "random operations, 8 at a time on a clock of 60x, meet no server error, no stuck operation and no deviation from the document",
  async () => {
    const { operations, until } = limitOf(STANDIN_TEST_RANDOM_OPS);
    const seed = Number(STANDIN_TEST_SEED);
    const server = await startServer(testDirectory(), [
      ...["--clock", "60x", "--seed", STANDIN_TEST_SEED, "--branches-limit", "40"],
    ]);
    const api = new CheckedApi(server);
    const counts: Record<string, number> = {};
    let left = operations;

    /** Random operations in one project after the other. */
    const runner = async (number: number): Promise<void> => {
      const stream = randomFrom(seed).stream("random operations", number);
      while (left > 0 && Date.now() < until) {
        const project = await RandomProject.create(api, (below) => stream() % below);
        for (let done = 0; done < OPERATIONS_PER_PROJECT && left > 0 && Date.now() < until; done += 1) {
          left -= 1;
          const name = await project.act();
          counts[name] = (counts[name] ?? 0) + 1;
        }
        await project.finish();
      }
    };
    const started = Date.now();
    const ends = await Promise.allSettled(Array.from({ length: AT_A_TIME }, (_, number) => runner(number)));
    const failures = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
    const { requests, retries, ...faults } = api.findings;
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const figures = { operations: total, seconds: (Date.now() - started) / 1000, requests, retries, counts };
    if (STANDIN_TEST_RANDOM_OPS !== "200") console.info(JSON.stringify(figures));
    expect(
      { failures, ...faults },
      `to repeat the choices:\nSTANDIN_TEST_SEED=${seed} STANDIN_TEST_RANDOM_OPS=${STANDIN_TEST_RANDOM_OPS} npx vitest run --project contract test/contract/clients/random-operations.test.ts\n`,
    ).toEqual({
      failures: [],
      serverErrors: [],
      schemaFaults: [],
      stuckOperations: [],
      otherFaults: [],
    });
    if (operations < Number.POSITIVE_INFINITY) expect(total).toBe(operations);
    const { body } = await server.sim("GET", "/invariants");
    expect(body).toMatchObject({ ok: true, violations: [] });
  },
  STANDIN_TEST_RANDOM_OPS === "200" ? DEFAULT_TIMEOUT_MS : 0,
);
