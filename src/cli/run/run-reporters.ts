import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { styleText } from "node:util";
import { InvalidArgumentError } from "commander";
import type { Shard } from "../../kernel/shard.ts";
import { githubReport, githubSummary } from "../../scenario/report/github.ts";
import { htmlReport } from "../../scenario/report/html.ts";
import { jsonReport } from "../../scenario/report/json.ts";
import {
  prettyReason,
  prettyStep,
  prettyVerdict,
  type ReportStyle,
  runTitle,
} from "../../scenario/report/pretty.ts";
import type { CouldNotRun, ReportedVerdict } from "../../scenario/run/verdict.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { print } from "../terminal/print.ts";
import { expectedOneOf, invalidValue } from "../terminal/usage-errors.ts";
import type { ScenarioJobResult } from "./run-job.ts";

const REPORTERS = ["pretty", "json", "junit", "github", "html"] as const;
export type Reporter = { readonly name: (typeof REPORTERS)[number]; readonly path: string | undefined };
export type ReporterOptions = { readonly reporter?: readonly Reporter[]; readonly json?: boolean };

const EXIT_FAILED = 1;
const DEFAULT_WIDTH = 100;

/** Parses the values of a repeatable option that accepts these reporters. */
export function reporterParser(names: readonly Reporter["name"][] = REPORTERS) {
  return (text: string, previous: readonly Reporter[] | undefined): readonly Reporter[] => {
    const [name = "", ...path] = text.split("=");
    const known = names.find((reporter) => reporter === name);
    if (known === undefined)
      throw new InvalidArgumentError(
        `${expectedOneOf(names, name)}; a file follows "=", such as junit=report.xml`,
      );
    const file = path.join("=");
    if (path.length > 0 && file === "") throw invalidValue(`a file after "=", such as ${known}=report.txt`);
    return [...(previous ?? []), { name: known, path: path.length === 0 ? undefined : file }];
  };
}

export function reportersOf({ reporter, json }: ReporterOptions): readonly Reporter[] {
  const reporters = reporter ?? (json === true ? [] : [{ name: "pretty" as const, path: undefined }]);
  const all = json === true ? [...reporters, { name: "json" as const, path: undefined }] : reporters;
  if (all.filter(({ path }) => path === undefined).length > 1) {
    throw new CliError(
      "--reporter: only one report can go to stdout; give the others a file, such as junit=report.xml",
      true,
    );
  }
  const outputPaths = all.flatMap(({ path }) => (path === undefined ? [] : [resolve(path)]));
  const duplicate = outputPaths.find((outputPath, index) => outputPaths.indexOf(outputPath) !== index);
  if (duplicate !== undefined)
    throw new CliError(`--reporter: two reports write to ${duplicate}; give each its own file`, true);
  return all;
}

export const isPrettyOnStdout = ({ name, path }: Reporter) => name === "pretty" && path === undefined;

function prettyResult(result: ScenarioJobResult, style: ReportStyle): string {
  return result.verdict === "could_not_run" ? prettyReason(result, style) : prettyVerdict(result, style);
}

export async function writeReports(
  reporters: readonly Reporter[],
  results: readonly ScenarioJobResult[],
  shard?: Shard,
): Promise<void> {
  const plainStyle: ReportStyle = { width: DEFAULT_WIDTH, paint: (_, text) => text };
  for (const { name, path } of reporters) {
    if (name === "pretty" && path === undefined) continue;
    const text =
      name === "json"
        ? jsonReport(results, shard)
        : name === "junit"
          ? await junitText(results)
          : name === "github"
            ? githubReport(results)
            : name === "html"
              ? htmlReport(results)
              : prettyReport(results, plainStyle);
    writeReport(path, text);
    if (name === "github") appendJobSummary(githubSummary(results));
  }
  reportStatus(results);
}

/** GitHub names the file, and shows it on the page of the job. */
function appendJobSummary(text: string): void {
  const path = process.env["GITHUB_STEP_SUMMARY"] ?? "";
  if (path !== "") wrapWriteErrors(path, () => appendFileSync(path, text));
}

/** To a file, or to stdout. */
export function writeReport(path: string | undefined, text: string): void {
  if (path === undefined) print(text);
  else wrapWriteErrors(path, () => writeFileSync(path, text));
}

/** Sets the exit status, or throws if a run could not start. */
export function reportStatus(results: readonly (ReportedVerdict | CouldNotRun)[]): void {
  const reasons = results.flatMap((result) =>
    result.verdict === "could_not_run" ? [`${runTitle(result)}: ${result.reason}`] : [],
  );
  if (reasons.length > 0) throw new CliError(`could not run ${reasons.join("; ")}`, true);
  if (results.some(({ verdict }) => verdict === "failed")) process.exitCode = EXIT_FAILED;
}

/** The JUnit library is loaded on demand. */
export async function junitText(results: readonly (ReportedVerdict | CouldNotRun)[]): Promise<string> {
  return (await import("../../scenario/report/junit.ts")).junitReport(results);
}

function prettyReport(results: readonly ScenarioJobResult[], style: ReportStyle): string {
  const runs = results.map((result) => {
    const steps = result.verdict === "could_not_run" ? [] : result.steps;
    return [...steps.map((step) => prettyStep(step, style)), prettyResult(result, style)].join("\n");
  });
  return `${runs.join("\n\n")}\n`;
}

/**
 * Checks before the first run that a report can be written. Leaves an existing file unchanged, because an
 * interrupted run writes no report.
 */
export function checkWritable(path: string): void {
  wrapWriteErrors(path, () => {
    const isNew = !existsSync(path);
    closeSync(openSync(path, "a"));
    if (isNew) rmSync(path);
  });
}

function wrapWriteErrors(path: string, work: () => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    work();
  } catch (error) {
    throw new CliError(`--reporter: cannot write ${path}: ${writeProblem(error)}`, true);
  }
}

export function terminalStyle(): ReportStyle {
  const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  return {
    width: process.stdout.columns ?? DEFAULT_WIDTH,
    paint: (colour, text) => (isColoured ? styleText(colour, text) : text),
  };
}
