import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { styleText } from "node:util";
import { InvalidArgumentError } from "commander";
import { jsonReport } from "../../scenario/report/json.ts";
import { type Look, prettyReason, prettyStep, prettyVerdict, titleOf } from "../../scenario/report/pretty.ts";
import { CliError } from "../terminal/cli-error.ts";
import type { JobResult } from "./run-job.ts";

const REPORTERS = ["pretty", "json", "junit"] as const;
export type Reporter = { readonly name: (typeof REPORTERS)[number]; readonly path: string | undefined };
export type ReporterOptions = { readonly reporter?: readonly Reporter[]; readonly json?: boolean };

const EXIT_FAILED = 1;
const DEFAULT_WIDTH = 100;

export function addReporter(text: string, former: readonly Reporter[] | undefined): readonly Reporter[] {
  const [name = "", ...path] = text.split("=");
  const known = REPORTERS.find((reporter) => reporter === name);
  if (known === undefined) throw new InvalidArgumentError(`It must be one of ${REPORTERS.join(", ")}, like json or junit=report.xml.`);
  const file = path.join("=");
  if (path.length > 0 && file === "") throw new InvalidArgumentError(`It needs the name of a file, like ${known}=report.txt.`);
  return [...(former ?? []), { name: known, path: path.length === 0 ? undefined : file }];
}

export function reportersOf({ reporter, json }: ReporterOptions): readonly Reporter[] {
  const reporters = reporter ?? (json === true ? [] : [{ name: "pretty" as const, path: undefined }]);
  const all = json === true ? [...reporters, { name: "json" as const, path: undefined }] : reporters;
  if (all.filter(({ path }) => path === undefined).length > 1) {
    throw new CliError("--reporter: only one can go to stdout; give the others a file, like junit=report.xml", true);
  }
  const places = all.flatMap(({ path }) => (path === undefined ? [] : [resolve(path)]));
  const twice = places.find((place, index) => places.indexOf(place) !== index);
  if (twice !== undefined) throw new CliError(`--reporter: two write ${twice}; give each a file of its own`, true);
  return all;
}

export const isPrettyHere = ({ name, path }: Reporter) => name === "pretty" && path === undefined;

export function prettyEnd(result: JobResult, look: Look): string {
  return result.verdict === "could_not_run" ? prettyReason(result, look) : prettyVerdict(result, look);
}

export async function report(reporters: readonly Reporter[], played: readonly JobResult[]): Promise<void> {
  const plain: Look = { width: DEFAULT_WIDTH, paint: (_, text) => text };
  for (const { name, path } of reporters) {
    if (name === "pretty" && path === undefined) continue;
    const text = name === "json" ? jsonReport(played) : name === "junit" ? await junit(played) : prettyReport(played, plain);
    if (path === undefined) process.stdout.write(text);
    else write(path, text);
  }
  const reasons = played.flatMap((result) => (result.verdict === "could_not_run" ? [`${titleOf(result)}: ${result.reason}`] : []));
  if (reasons.length > 0) throw new CliError(`could not run ${reasons.join("; ")}`, true);
  if (played.some(({ verdict }) => verdict === "failed")) process.exitCode = EXIT_FAILED;
}

/** Its library takes a while to load. */
async function junit(played: readonly JobResult[]): Promise<string> {
  return (await import("../../scenario/report/junit.ts")).junitReport(played);
}

function prettyReport(played: readonly JobResult[], look: Look): string {
  const runs = played.map((result) => {
    const steps = result.verdict === "could_not_run" ? [] : result.steps;
    return [...steps.map((step) => prettyStep(step, look)), prettyEnd(result, look)].join("\n");
  });
  return `${runs.join("\n\n")}\n`;
}

function write(path: string, text: string): void {
  inPlace(path, () => writeFileSync(path, text));
}

/** Before anything runs, so that no verdict is lost for want of a place. What is there stays, for a run that is interrupted writes nothing. */
export function tryPlace(path: string): void {
  inPlace(path, () => {
    const isNew = !existsSync(path);
    closeSync(openSync(path, "a"));
    if (isNew) rmSync(path);
  });
}

function inPlace(path: string, work: () => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    work();
  } catch (error) {
    throw new CliError(`--reporter: ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`, true);
  }
}

export function lookOf(): Look {
  const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined;
  return { width: process.stdout.columns ?? DEFAULT_WIDTH, paint: (colour, text) => (isColoured ? styleText(colour, text) : text) };
}
