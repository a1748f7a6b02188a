import { type Command, Option } from "commander";
import { randomFrom } from "../../../simulation/random.ts";
import type { SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { MAX_REPLICATIONS } from "../../../whatif/input/question.ts";
import type { QuotaProject } from "../../../whatif/questions/quota/project-quota.ts";
import { quotaPage } from "../../../whatif/questions/quota/quota-page.ts";
import { type QuotaQuestion, quotaReport, quotaRuns } from "../../../whatif/questions/quota/quota-report.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { integerParser } from "../../terminal/option-parsers.ts";
import { RepeatableOption } from "../../terminal/options.ts";
import { rethrowRangeError, runWithProgress } from "../../terminal/run-with-progress.ts";
import { questionManifest } from "../../whatif/manifest.ts";
import { type OpenedTraces, openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  addQuestionOptions,
  DELAY_FORMS,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import { addDelayOption, numberAbove } from "../../whatif/question-values.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type QuotaOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly delay?: readonly SuspendDelay[];
    readonly quotaCuHours?: number;
    readonly eachCompute?: boolean;
    readonly monthsAhead: number;
    readonly recordedOnly?: boolean;
    readonly replications: number;
  };

const SECONDS_PER_HOUR = 3_600;
const MAX_MONTHS = 12;
/** With 39 replications, the minimum and the maximum are the bounds of a 95 % interval. */
const DEFAULT_REPLICATIONS = 39;

export function quotaCommand(): Command {
  return questionCommand<QuotaOptions, void>({
    name: "quota",
    description:
      "predict when the monthly quota of compute time is used up, and how many requests are rejected",
    addOptions: addQuotaOptions,
    help: `
After the end of the trace, each day repeats a recorded day drawn at random, which
needs at least 7 recorded days. 39 replications give a 95 % interval; more make it
more precise.

Examples:
  $ standin whatif fleet --computes 4 --days 14 --pattern office-hours --pattern on-off --out shop.csv
  $ standin whatif quota shop.csv --quota-cu-hours 100 --cu 0.25 --delay 60 --delay 300
  $ standin whatif quota shop.csv --quota-cu-hours 20 --each-compute --months-ahead 2 --out report/
  $ standin whatif quota --data ./.standin --json`,
    prepare: () => undefined,
    open: openTraces,
    answer: answerQuota,
  });
}

function addQuotaOptions(command: Command): void {
  addQuestionOptions(command, ["plan", "price", "prices", "pricePlan", "coldStartWorth", "waitWorth"])
    .addOption(
      new Option(
        "--quota-cu-hours <n>",
        "monthly quota of a project in CU-hours (default: that of the world's projects)",
      ).argParser(numberAbove(0)),
    )
    .addOption(
      new RepeatableOption(
        "--delay <delay>",
        `autosuspend delay: ${DELAY_FORMS}; repeatable (default: the current delay)`,
      ).argParser(addDelayOption),
    )
    .addOption(
      new Option(
        "--each-compute",
        "treat each compute as a project (default: the projects of the world; a trace is one project)",
      ),
    )
    .addOption(
      new Option(
        "--months-ahead <n>",
        "number of whole months to predict after the month in which the trace ends",
      )
        .argParser(integerParser(0, MAX_MONTHS))
        .default(1),
    )
    .addOption(
      new Option("--recorded-only", "analyze only the trace, without a prediction").conflicts("monthsAhead"),
    )
    .addOption(
      new Option("--replications <n>", "number of random predictions")
        .argParser(integerParser(1, MAX_REPLICATIONS))
        .default(DEFAULT_REPLICATIONS),
    );
}

async function answerQuota({ opened, options, signal }: QuestionRun<QuotaOptions, void>): Promise<Answered> {
  const { recordedOnly, monthsAhead, replications } = options;
  const { question } = questionFromOptions(options, opened.world);
  const quotaQuestion: QuotaQuestion = {
    delays: options.delay ?? [question.currentDelay],
    projects: quotaProjects(opened, options),
    monthsAhead: recordedOnly === true ? undefined : monthsAhead,
    replications,
  };
  const report = await runWithProgress(
    quotaReport(opened.traffic, question, quotaQuestion, randomFrom),
    "simulating runs",
    quotaRuns(question, quotaQuestion),
    signal,
  ).catch(rethrowRangeError);
  return {
    summary: report,
    page: quotaPage(report),
    charts: async () => (await import("../../../whatif/questions/quota/quota-charts.ts")).quotaCharts(report),
    ...questionManifest(question, opened, recordedOnly === true ? { "months-ahead": [] } : {}),
  };
}

/**
 * Groups computes by the project whose quota they share. A compute that the world no longer has is its own
 * project.
 */
function quotaProjects(
  { traffic, projects }: OpenedTraces,
  { quotaCuHours, eachCompute }: QuotaOptions,
): QuotaProject[] {
  const quotaSeconds = quotaCuHours === undefined ? undefined : quotaCuHours * SECONDS_PER_HOUR;
  if (
    quotaSeconds === undefined &&
    projects?.some(({ computeSeconds }) => computeSeconds !== undefined) !== true
  ) {
    throw new CliError(
      `--quota-cu-hours: ${projects === undefined ? "required, because a trace has no quota" : "required, because no project of this world has a quota (compute_time_seconds)"}`,
      true,
    );
  }
  const computes = [...traffic.computes.keys()];
  if (eachCompute !== true && projects === undefined)
    return [{ project: "all computes", computes, computeSeconds: quotaSeconds }];
  const groups = new Map<
    string,
    { readonly project: string; readonly computes: number[]; readonly computeSeconds: number | undefined }
  >();
  for (const compute of computes) {
    const name = traffic.computes[compute] as string;
    const own = projects?.find(({ endpoints }) => endpoints.includes(name));
    const project = eachCompute === true || own === undefined ? name : own.project;
    const group = groups.get(project) ?? {
      project,
      computes: [],
      computeSeconds: quotaSeconds ?? own?.computeSeconds,
    };
    group.computes.push(compute);
    groups.set(project, group);
  }
  return [...groups.values()];
}
