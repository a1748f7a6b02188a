import { join } from "node:path";
import { expect } from "vitest";
import type { InputSummary } from "../../../src/cli/whatif/open-traffic.ts";
import type { AttributionReport } from "../../../src/whatif/questions/attribution/attribution-report.ts";
import type { Backtest } from "../../../src/whatif/questions/backtest/backtest.ts";
import type { CapacityReport } from "../../../src/whatif/questions/capacity/capacity-report.ts";
import type {
  CurveSummary,
  DelayFigures,
  LatencyFigures,
} from "../../../src/whatif/questions/curve/curve-summary.ts";
import type { ProfilesReport } from "../../../src/whatif/questions/profiles/profiles-report.ts";
import type { QuotaReport } from "../../../src/whatif/questions/quota/quota-report.ts";
import type { StartsReport } from "../../../src/whatif/questions/starts/starts-report.ts";
import type { Answered } from "../answers/answered.ts";
import type { ListedComparison } from "../answers/control-answers.ts";
import { runStandin } from "../process/in-process-command.ts";
import { testDirectory } from "../server/running-server.ts";

/** The JSON of a report, with the fields of all questions. */
export type WhatifReport = Answered<
  { readonly input: InputSummary } & (
    | AttributionReport
    | Backtest
    | CapacityReport
    | ListedComparison
    | CurveSummary
    | (DelayFigures & { readonly with_latency: LatencyFigures })
    | ProfilesReport
    | QuotaReport
    | StartsReport
  )
>;

/** The JSON output of `standin whatif`. Throws unless it exits with 0 and prints only notes on stderr. */
export async function runWhatif(args: readonly string[]): Promise<WhatifReport> {
  const { code, stdout, stderr } = await runStandin(["whatif", ...args, "--json"]);
  expect({ code, stderr: stderr.replaceAll(/^note: .*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** A synthetic trace in a directory that is removed after the test. */
export async function createShopTrace(
  out = "shop.standin-trace",
  computes = 3,
  patterns = ["office-hours", "cron"],
): Promise<string> {
  const file = join(testDirectory(), out);
  const flags = patterns.flatMap((pattern) => ["--pattern", pattern]);
  await runWhatif([
    "fleet",
    "--computes",
    String(computes),
    "--days",
    "8",
    "--seed",
    "2",
    ...flags,
    "--out",
    file,
  ]);
  return file;
}
