import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type TestAPI, test as vitestTest } from "vitest";
import { removeEarlierFailure } from "../cli/history/failure-files.ts";
import { recordWorld } from "../cli/history/record-world.ts";
import { statementLine } from "../cli/history/statement-line.ts";
import { messageOf } from "../kernel/message-of.ts";
import type { FailedStatement } from "../scenario/file/failed-schema.ts";
import type { StandinOptions } from "./create-options.ts";
import { createStandin } from "./create-standin.ts";
import type { Standin } from "./standin-world.ts";

/** That of vitest, so that a test file needs one import. */
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
const MAX_NAME_LENGTH = 80;
/** The number of requests, and of statements, that are printed for a failed test. */
const MAX_PRINTED_REQUESTS = 10;

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
    sim: async ({ preparedSim: { sim, data, head, request }, task }, use) => {
      const name = `test-${task.id.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}`;
      const fork = await sim.fork({ name });
      try {
        await use(fork);
        if (task.result?.state !== "fail") return;
        await printRequests(fork, request, task.name);
        const sql = await statementsOf(fork);
        printStatements(sql, task.name);
        const message = stripVTControlCharacters(task.result.errors?.[0]?.message ?? "the test failed");
        await writeFailure({ data, head }, name, failures, { name: task.name, message, sql });
      } finally {
        await fork.close();
      }
    },
  }) as TestAPI<{ readonly sim: Standin }>;
}

/** The `test` of vitest with the fixture `sim`: a new world for each test. */
export const test: TestAPI<{ readonly sim: Standin }> = simTest();

type PreparedWorld = {
  readonly sim: Standin;
  readonly data: string;
  /** The newest event of the preparation. */
  readonly head: number;
  /** The number of its newest request. */
  readonly request: number;
};

async function newestRequest(sim: Standin): Promise<number> {
  return (await sim.requests.list()).at(-1)?.number ?? 0;
}

/** Never fails, as `writeFailure`. */
async function printRequests(sim: Standin, since: number, testName: string): Promise<void> {
  try {
    const requests = (await sim.requests.list()).filter(({ number }) => number > since);
    const lines = requests
      .slice(-MAX_PRINTED_REQUESTS)
      .map(({ at, method, path, status, code, fault }) =>
        [
          at,
          method,
          path.replace(/^\/w\/[^/]+/, ""),
          status ?? "no answer",
          code,
          fault && `by the fault "${fault}"`,
        ]
          .filter((part) => part !== undefined && part !== "")
          .join(" "),
      );
    if (lines.length > 0)
      process.stderr.write(`standin: the last requests of "${testName}":\n  ${lines.join("\n  ")}\n`);
  } catch (error) {
    process.stderr.write(`standin: no requests of "${testName}": ${messageOf(error)}\n`);
  }
}

/** The statements of a test, as its file has them. */
async function statementsOf(sim: Standin): Promise<readonly FailedStatement[]> {
  const statements = await sim.statements.list();
  return statements.map(({ outcome, ...statement }) => ({
    ...statement,
    outcome:
      "done" in outcome
        ? outcome.done
        : "lost" in outcome
          ? outcome.lost
          : `ERROR ${outcome.failed.code}: ${outcome.failed.message}`,
  }));
}

function printStatements(statements: readonly FailedStatement[], testName: string): void {
  if (statements.length === 0) return;
  const lines = statements.slice(-MAX_PRINTED_REQUESTS).map(statementLine);
  process.stderr.write(`standin: the last SQL of "${testName}":\n  ${lines.join("\n  ")}\n`);
}

/** Never fails, so that the failure of the test remains the only one. */
async function writeFailure(
  { data, head }: Pick<PreparedWorld, "data" | "head">,
  world: string,
  directory: string,
  failedTest: { readonly name: string; readonly message: string; readonly sql: readonly FailedStatement[] },
): Promise<void> {
  const testName = failedTest.name;
  const name = testName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_NAME_LENGTH);
  try {
    mkdirSync(directory, { recursive: true });
    const out = join(directory, `${name}.yaml`);
    removeEarlierFailure(out, ["failed", "world"]);
    const { omitted } = await recordWorld({
      ...{ data, world, from: { seq: head }, out },
      failedTest,
    });
    const shown = relative(process.cwd(), out);
    const dropped = omitted.map((reason) => `standin: not in the steps of ${shown}: ${reason}\n`);
    process.stderr.write(
      `standin: wrote the world of "${testName}" to ${shown}; open it with: npx standin open ${shown}; repeat it with: npx standin run ${shown}\n${dropped.join("")}`,
    );
  } catch (error) {
    process.stderr.write(`standin: no file of the world of "${testName}": ${messageOf(error)}\n`);
  }
}
