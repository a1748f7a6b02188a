import { createHash } from "node:crypto";
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
/** A title that the name of a file shows completely, except for upper case. */
const SHOWN_WHOLE = /^[a-z0-9]+([ -][a-z0-9]+)*$/i;
const ASCII = /^[\x20-\x7e]*$/;
const HASH_DIGITS = 8;
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
    /** The titles of its suites, from the outermost. */
    readonly suites: readonly string[];
    /** The path of the test's file. */
    readonly file: string;
    readonly message: string | undefined;
  },
  failures: string,
): Promise<void> {
  const { world, name, suites, file } = failedTest;
  await printRequests(fork, prepared.request, name);
  const sql = await statementsOf(fork);
  printStatements(sql, name);
  const message = stripVTControlCharacters(failedTest.message ?? "the test failed");
  await writeFailure(prepared, world, failures, { name, suites, file, message, sql });
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
    suites,
    ...failedTest
  }: {
    readonly name: string;
    readonly suites: readonly string[];
    readonly file: string;
    readonly message: string;
    readonly sql: readonly FailedStatement[];
  },
): Promise<void> {
  const testName = failedTest.name;
  const name = failureName(relative(process.cwd(), file), [...suites, testName]);
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
 * The name of a test's failure, without an ending. The failures of two tests must not replace each other, even if their
 * titles or paths differ only in what a file name does not show. `titles`: those of its suites, and its own.
 */
export function failureName(file: string, titles: readonly string[]): string {
  const path = slugOf(file.replace(/(\.(test|spec))?\.\w+$/, ""));
  const name = titles.map(slugOf).join(".");
  const isWhole = path.length <= MAX_NAME_LENGTH && name.length <= MAX_NAME_LENGTH;
  if (isWhole && ASCII.test(file) && titles.every((title) => SHOWN_WHOLE.test(title)))
    return `${path}.${name}`;
  const hash = createHash("sha256")
    .update(JSON.stringify([file, ...titles]))
    .digest("hex");
  // Paths of two files differ at the end.
  const shown = [path.slice(-MAX_NAME_LENGTH), name.slice(0, MAX_NAME_LENGTH), hash.slice(0, HASH_DIGITS)];
  return shown.filter((part) => part !== "").join(".");
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** Names, paths and statements may have control characters, which a terminal would obey. */
function warn(text: string): void {
  process.stderr.write(escapeControls(text));
}
