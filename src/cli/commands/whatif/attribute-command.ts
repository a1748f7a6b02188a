import type { Command } from "commander";
import { randomFrom } from "../../../simulation/random.ts";
import { attributionPage } from "../../../whatif/questions/attribution/attribution-page.ts";
import { attributionReport } from "../../../whatif/questions/attribution/attribution-report.ts";
import { runWithProgress } from "../../terminal/run-with-progress.ts";
import { checkIgnoredWaits, ignoreWaitsOption } from "../../whatif/ignore-waits-option.ts";
import { questionManifest } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { type Answered, type QuestionRun, questionCommand } from "../../whatif/question-command.ts";
import {
  addQuestionOptions,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type AttributeOptions = QuestionOptions & OutputOptions & TraceOptions;

export function attributeCommand(): Command {
  return questionCommand<AttributeOptions, void>({
    name: "attribute",
    description: "show which sources keep computes active, and what removing each would save",
    addOptions: (command) => addQuestionOptions(command).addOption(ignoreWaitsOption()),
    help: `
The source of a request is the application_name in Postgres logs, and the field
"source" in CSV files and in the activity of a world.

Examples:
  $ standin whatif fleet --computes 6 --days 7 --pattern office-hours --pattern health-check --out shop.csv
  $ standin whatif attribute shop.csv
  $ standin whatif attribute shop.csv --ignore-waits-of health-check
  $ standin whatif attribute --data ./.standin --json`,
    prepare: () => undefined,
    open: openTraces,
    answer: answerAttribution,
  });
}

async function answerAttribution({
  opened,
  options,
  signal,
}: QuestionRun<AttributeOptions, void>): Promise<Answered> {
  const { traffic } = opened;
  checkIgnoredWaits(options, traffic);
  const { question } = questionFromOptions(options, opened.world);
  const report = await runWithProgress(
    attributionReport(traffic, question, randomFrom(question.seed)),
    "replaying computes",
    traffic.computes.length,
    signal,
  );
  return {
    summary: report,
    page: attributionPage(report),
    charts: async () =>
      (await import("../../../whatif/questions/attribution/attribution-charts.ts")).attributionCharts(report),
    ...questionManifest(question, opened),
  };
}
