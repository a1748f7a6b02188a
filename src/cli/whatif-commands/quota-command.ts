import { Command, Option } from "commander";
import { chanceFrom } from "../../simulation/random.ts";
import type { Delay } from "../../whatif/curve/curve.ts";
import { quotaPage } from "../../whatif/quota/quota-page.ts";
import { type QuotaProject, type QuotaQuestion, quotaReport, quotaRuns } from "../../whatif/quota/quota-report.ts";
import { MOST_REPLICATIONS, toldQuestion } from "../../whatif/report/question.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integer } from "../terminal/option-parsers.ts";
import { drive, rangeError } from "../whatif/drive.ts";
import { settledOf } from "../whatif/manifest.ts";
import { addTraceOptions, type OpenedTraces, openTraces, type TraceOptions } from "../whatif/open-traffic.ts";
import {
  above,
  addOutputOptions,
  addQuestionOptions,
  delays,
  type OutputOptions,
  type QuestionOptions,
  questionOf,
} from "../whatif/question-options.ts";
import { present } from "../whatif/report-output.ts";

type Options = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly delay?: readonly Delay[];
    readonly quotaCuHours?: number;
    readonly eachCompute?: boolean;
    readonly monthsAhead: number;
    readonly recordedOnly?: boolean;
    readonly replications: number;
  };

const SECONDS_OF_AN_HOUR = 3_600;
const MOST_MONTHS = 12;
/** As many as it takes for the least and the greatest to be a 95 % interval. */
const REPLICATIONS = 39;

/** When the monthly quota is used up: a date with an interval, and who is refused from then on. */
export function quotaCommand(): Command {
  const command = new Command("quota").description("when the monthly quota of compute time is used up, and how many are refused then");
  addTraceOptions(command);
  addQuestionOptions(command, ["price", "coldStartWorth"])
    .addOption(
      new Option("--quota-cu-hours <n>", "what a project may use in a month (default: that of the world's projects)").argParser(above(0)),
    )
    .addOption(
      new Option(
        "--delay <delay>",
        "under this delay: 300 (a bare number is seconds), 5m, never; again and again (default: the present one)",
      ).argParser(delays),
    )
    .addOption(
      new Option(
        "--each-compute",
        "each compute is a project of its own (default: those of a world as it has them; a trace is one project)",
      ),
    )
    .addOption(
      new Option("--months-ahead <n>", "whole months to look at behind the one in which the trace ends")
        .argParser(integer(0, MOST_MONTHS))
        .default(1),
    )
    .addOption(new Option("--recorded-only", "look at nothing behind the trace").conflicts("monthsAhead"))
    .addOption(
      new Option("--replications <n>", "so often is the time behind the trace drawn")
        .argParser(integer(1, MOST_REPLICATIONS))
        .default(REPLICATIONS),
    );
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
Behind the trace, each day is one of those recorded, drawn by chance. 39 replications give a 95 % interval; more give a finer one.

Examples:
  $ standin whatif fleet --computes 4 --days 14 --pattern office-hours --pattern on-off --out shop.csv
  $ standin whatif quota shop.csv --quota-cu-hours 100 --cu 0.25 --delay 60 --delay 300
  $ standin whatif quota shop.csv --quota-cu-hours 20 --each-compute --months-ahead 2 --out report/
  $ standin whatif quota --data ./.standin --json`,
    )
    .action(async (paths: string[], options: Options, asked: Command) => interruptible((signal) => run(paths, options, asked, signal)));
}

async function run(paths: readonly string[], options: Options, command: Command, signal: AbortSignal): Promise<void> {
  const { recordedOnly, monthsAhead, replications } = options;
  const opened = await openTraces(paths, options, command, signal);
  try {
    const { traffic, told } = opened;
    const question = questionOf(options, opened.world);
    const asked: QuotaQuestion = {
      delays: options.delay ?? [question.present],
      projects: projectsOf(opened, options),
      monthsAhead: recordedOnly === true ? undefined : monthsAhead,
      replications,
    };
    const work = quotaReport(traffic, question, asked, chanceFrom);
    const report = await drive(work, "simulating runs", quotaRuns(traffic, question, asked), signal).catch(rangeError);
    const finding = {
      summary: { ...report, input: told },
      page: quotaPage(report),
      charts: async () => (await import("../../whatif/quota/quota-charts.ts")).quotaCharts(report),
    };
    await present(
      finding,
      {
        command,
        settled: { ...settledOf(question, opened), ...(recordedOnly === true ? { "months-ahead": [] } : {}) },
        inputs: told.files,
        question: toldQuestion(question),
      },
      options,
    );
  } finally {
    opened.close();
  }
}

/** Who shares what. A compute that the world knows nothing of any more is a project of its own. */
function projectsOf({ traffic, projects }: OpenedTraces, { quotaCuHours, eachCompute }: Options): QuotaProject[] {
  const asked = quotaCuHours === undefined ? undefined : quotaCuHours * SECONDS_OF_AN_HOUR;
  if (asked === undefined && projects?.some(({ computeSeconds }) => computeSeconds !== undefined) !== true) {
    throw new CliError(
      `--quota-cu-hours: ${projects === undefined ? "a trace tells no quota" : "no project of this world has a quota of compute_time_seconds"}; say what may be used in a month`,
      true,
    );
  }
  const computes = [...traffic.computes.keys()];
  if (eachCompute !== true && projects === undefined) return [{ project: "all computes", computes, computeSeconds: asked }];
  const groups = new Map<string, { readonly project: string; readonly computes: number[]; readonly computeSeconds: number | undefined }>();
  for (const compute of computes) {
    const name = traffic.computes[compute] as string;
    const own = projects?.find(({ endpoints }) => endpoints.includes(name));
    const project = eachCompute === true || own === undefined ? name : own.project;
    const group = groups.get(project) ?? { project, computes: [], computeSeconds: asked ?? own?.computeSeconds };
    group.computes.push(compute);
    groups.set(project, group);
  }
  return [...groups.values()];
}
