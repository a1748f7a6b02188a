import { Command } from "commander";
import { chanceFrom } from "../../simulation/random.ts";
import { attribute, attributionPage } from "../../whatif/attribution/attribution-report.ts";
import { toldQuestion } from "../../whatif/report/question.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { drive } from "../whatif/drive.ts";
import { settledOf } from "../whatif/manifest.ts";
import { addTraceOptions, openTraces, type TraceOptions } from "../whatif/open-traffic.ts";
import { addOutputOptions, addQuestionOptions, type OutputOptions, type QuestionOptions, questionOf } from "../whatif/question-options.ts";
import { present } from "../whatif/report-output.ts";

type Options = QuestionOptions & OutputOptions & TraceOptions;

/** Who keeps a compute awake, and what it would save to be without. */
export function attributeCommand(): Command {
  const command = new Command("attribute").description("what keeps computes awake, by source, and what its removal would save");
  addTraceOptions(command);
  addQuestionOptions(command);
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
A source is what the trace names so: application_name in Postgres logs, "source" in CSV and in a world's activity.

Examples:
  $ standin whatif fleet --computes 6 --days 7 --pattern office-hours --pattern health-check --out shop.csv
  $ standin whatif attribute shop.csv
  $ standin whatif attribute --data ./.standin --json`,
    )
    .action(async (paths: string[], options: Options, asked: Command) => interruptible((signal) => run(paths, options, asked, signal)));
}

async function run(paths: readonly string[], options: Options, command: Command, signal: AbortSignal): Promise<void> {
  const opened = await openTraces(paths, options, command, signal);
  const { traffic, told } = opened;
  try {
    const question = questionOf(options, opened.world);
    const report = await drive(
      attribute(traffic, question, chanceFrom(question.seed)),
      "replaying computes",
      traffic.computes.length,
      signal,
    );
    const finding = {
      summary: { ...report, input: told },
      page: attributionPage(report),
      charts: async () => (await import("../../whatif/attribution/attribution-charts.ts")).attributionCharts(report),
    };
    await present(
      finding,
      { command, settled: settledOf(question, opened), inputs: told.files, question: toldQuestion(question) },
      options,
    );
  } finally {
    opened.close();
  }
}
