import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { removeEarlierFailure } from "../cli/history/failure-files.ts";
import { recordWorld } from "../cli/history/record-world.ts";
import { statementLine } from "../cli/history/statement-line.ts";
import { messageOf } from "../kernel/message-of.ts";
import { escapeControls } from "../kernel/text.ts";
import type { FailedStatement } from "../scenario/file/failed-schema.ts";
import type { Standin } from "./standin-world.ts";

const MAX_NAME_LENGTH = 80;
/** The number of requests, and of statements, that are printed for a failed test. */
const MAX_PRINTED_REQUESTS = 10;

export type PreparedWorld = {
  readonly sim: Standin;
  readonly data: string;
  /** The newest event of the preparation. */
  readonly head: number;
  /** The number of its newest request. */
  readonly request: number;
};

/** Prints the last requests and statements of a failed test, and writes the file of its world. */
export async function reportFailedTest(
  prepared: PreparedWorld,
  fork: Standin,
  failedTest: {
    readonly world: string;
    readonly name: string;
    /** The path of the test's file. */
    readonly file: string;
    readonly message: string | undefined;
  },
  failures: string,
): Promise<void> {
  const { world, name, file } = failedTest;
  await printRequests(fork, prepared.request, name);
  const sql = await statementsOf(fork);
  printStatements(sql, name);
  const message = stripVTControlCharacters(failedTest.message ?? "the test failed");
  await writeFailure(prepared, world, failures, { name, file, message, sql });
}

export async function newestRequest(sim: Standin): Promise<number> {
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
    if (lines.length > 0) warn(`standin: the last requests of "${testName}":\n  ${lines.join("\n  ")}\n`);
  } catch (error) {
    warn(`standin: no requests of "${testName}": ${messageOf(error)}\n`);
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
  warn(`standin: the last SQL of "${testName}":\n  ${lines.join("\n  ")}\n`);
}

/** Never fails, so that the failure of the test remains the only one. */
async function writeFailure(
  { data, head }: Pick<PreparedWorld, "data" | "head">,
  world: string,
  directory: string,
  {
    file,
    ...failedTest
  }: {
    readonly name: string;
    readonly file: string;
    readonly message: string;
    readonly sql: readonly FailedStatement[];
  },
): Promise<void> {
  const testName = failedTest.name;
  const name = failureName(relative(process.cwd(), file), testName);
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
    warn(
      `standin: wrote the world of "${testName}" to ${shown}; open it with: npx standin open ${shown}; repeat it with: npx standin run ${shown}\n${dropped.join("")}`,
    );
  } catch (error) {
    warn(`standin: no file of the world of "${testName}": ${messageOf(error)}\n`);
  }
}

/**
 * Tests of two files may have the same name, and their failures must not replace each other. Paths of two files differ
 * at the end.
 */
export function failureName(file: string, testName: string): string {
  const path = slugOf(file.replace(/(\.(test|spec))?\.\w+$/, ""));
  return `${path.slice(-MAX_NAME_LENGTH)}.${slugOf(testName).slice(0, MAX_NAME_LENGTH)}`;
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
}

/** Names, paths and statements may have control characters, which a terminal would obey. */
function warn(text: string): void {
  process.stderr.write(escapeControls(text));
}
