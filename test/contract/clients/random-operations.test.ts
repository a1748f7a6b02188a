import { expect, test } from "vitest";
import { parseDuration } from "../../../src/kernel/time.ts";
import type { Findings } from "../../support/random-operations/checked-api.ts";
import { RandomLife } from "../../support/random-operations/random-life.ts";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

// C: the random operations with which the real platform tests itself, through its public API only. Reported
// activity replaces the benchmarks. One more client calls any operation of the document.

const { STANDIN_TEST_SEED = "20260101", STANDIN_TEST_RANDOM_OPS = "200" } = process.env;
const SUITE_LANES = 7;
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
    const started = Date.now();
    const life = new RandomLife(server, { seed, suiteLanes: SUITE_LANES, callLanes: 1, operations, until });
    const { counts, failures, findings } = await life.run();
    const sum = (of: (finding: Findings) => number) => findings.reduce((total, one) => total + of(one), 0);
    const figures = {
      operations: life.done,
      seconds: (Date.now() - started) / 1000,
      requests: sum(({ requests }) => requests),
      counts,
    };
    if (STANDIN_TEST_RANDOM_OPS !== "200") console.info(JSON.stringify(figures));
    expect(
      {
        failures,
        serverErrors: findings.flatMap(({ serverErrors }) => serverErrors),
        schemaFaults: findings.flatMap(({ schemaFaults }) => schemaFaults),
        stuckOperations: findings.flatMap(({ stuckOperations }) => stuckOperations),
        otherFaults: findings.flatMap(({ otherFaults }) => otherFaults),
      },
      `to repeat the choices:\nSTANDIN_TEST_SEED=${seed} STANDIN_TEST_RANDOM_OPS=${STANDIN_TEST_RANDOM_OPS} npx vitest run --project contract test/contract/clients/random-operations.test.ts\n`,
    ).toEqual({
      failures: [],
      serverErrors: [],
      schemaFaults: [],
      stuckOperations: [],
      otherFaults: [],
    });
    if (operations < Number.POSITIVE_INFINITY) expect(life.done).toBe(operations);
    const { body } = await server.sim("GET", "/invariants");
    expect(body).toMatchObject({ ok: true, violations: [] });
  },
  STANDIN_TEST_RANDOM_OPS === "200" ? DEFAULT_TIMEOUT_MS : 0,
);
