import { Command } from "commander";
import { randomFrom } from "../../../simulation/random.ts";
import { questionSummary } from "../../../whatif/input/question-summary.ts";
import { attributionPage } from "../../../whatif/questions/attribution/attribution-page.ts";
import { attributionReport } from "../../../whatif/questions/attribution/attribution-report.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { runWithProgress } from "../../terminal/run-with-progress.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import { outputResult } from "../../whatif/report-output.ts";
import { addTraceOptions, type TraceOptions } from "../../whatif/trace-options.ts";

type AttributeOptions = QuestionOptions & OutputOptions & TraceOptions;

export function attributeCommand(): Command {
  const command = new Command("attribute").description(
    "show which sources keep computes active, and what removing each would save",
  );
  addTraceOptions(command);
  addQuestionOptions(command);
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
The source of a request is the application_name in Postgres logs, and the field
"source" in CSV files and in the activity of a world.

Examples:
  $ standin whatif fleet --computes 6 --days 7 --pattern office-hours --pattern health-check --out shop.csv
  $ standin whatif attribute shop.csv
  $ standin whatif attribute --data ./.standin --json`,
    )
    .action(async (paths: string[], options: AttributeOptions, invokedCommand: Command) =>
      interruptible((signal) => runAttribute(paths, options, invokedCommand, signal)),
    );
}

async function runAttribute(
  paths: readonly string[],
  options: AttributeOptions,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const opened = await openTraces(paths, options, command, signal);
  const { traffic, inputSummary } = opened;
  try {
    const { question } = await questionFromOptions(options, opened.world);
    const report = await runWithProgress(
      attributionReport(traffic, question, randomFrom(question.seed)),
      "replaying computes",
      traffic.computes.length,
      signal,
    );
    const result = {
      summary: { ...report, input: inputSummary },
      page: attributionPage(report),
      charts: async () =>
        (await import("../../../whatif/questions/attribution/attribution-charts.ts")).attributionCharts(
          report,
        ),
    };
    await outputResult(
      result,
      {
        command,
        resolvedFlags: resolvedQuestionFlags(question, opened),
        inputs: inputSummary.files,
        question: questionSummary(question),
      },
      options,
    );
  } finally {
    opened.close();
  }
}
