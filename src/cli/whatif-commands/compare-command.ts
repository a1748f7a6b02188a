import { Command, InvalidArgumentError, Option } from "commander";
import { randomFrom } from "../../simulation/random.ts";
import { comparisonJobs, comparisonOf } from "../../whatif/compare/comparison.ts";
import { comparisonPage } from "../../whatif/compare/comparison-page.ts";
import { POLICY_FORMS, parsePolicy } from "../../whatif/policies/parse.ts";
import { DEFAULTS, MAX_REPLICATIONS } from "../../whatif/report/question.ts";
import { questionSummary } from "../../whatif/report/question-summary.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integerParser } from "../terminal/option-parsers.ts";
import { RepeatableOption } from "../terminal/options.ts";
import { resolvedQuestionFlags } from "../whatif/manifest.ts";
import { openTraces } from "../whatif/open-traffic.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
  workersOption,
} from "../whatif/question-options.ts";
import { replayAll } from "../whatif/replay-workers.ts";
import { outputResult } from "../whatif/report-output.ts";
import { addTraceOptions, type TraceOptions } from "../whatif/trace-options.ts";

type CompareOptions = QuestionOptions &
  OutputOptions &
  TraceOptions & {
    readonly policy?: readonly string[];
    readonly replications: number;
    readonly workers: number;
  };

const DEFAULT_POLICIES = [
  "fixed:60",
  "best-fixed:fleet",
  "ski-rental",
  "hybrid",
  "hazard",
  "predictive",
  "clairvoyant",
];

/** Compares policies by replaying every request. */
export function compareCommand(): Command {
  const command = new Command("compare").description("compare autosuspend policies with the current setting");
  addTraceOptions(command);
  addQuestionOptions(command)
    .addOption(
      new RepeatableOption(
        "--policy <name>",
        `policy to compare; repeatable, see below (default: ${DEFAULT_POLICIES.join(", ")})`,
      ).argParser(addPolicy),
    )
    .addOption(
      new Option("--replications <n>", "number of replications of each policy that uses randomness")
        .argParser(integerParser(1, MAX_REPLICATIONS))
        .default(DEFAULTS.replications),
    )
    .addOption(workersOption());
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
Policies:
${POLICY_FORMS.map(({ form, meaning }) => `  ${form.padEnd(40)} ${meaning}`).join("\n")}

Examples:
  $ standin whatif compare fleet.csv --policy fixed:300 --policy hybrid --policy clairvoyant
  $ standin whatif compare fleet.csv --policy ski-rental:randomised --replications 20 --seed 7
  $ standin whatif compare --data ./.standin --policy fixed:60 --start-latency measured --json`,
    )
    .action(async (paths: string[], options: CompareOptions, invokedCommand: Command) =>
      interruptible((signal) => runCompare(paths, options, invokedCommand, signal)),
    );
}

async function runCompare(
  paths: readonly string[],
  options: CompareOptions,
  command: Command,
  signal: AbortSignal,
): Promise<void> {
  const opened = await openTraces(paths, options, command, signal);
  try {
    const { question } = await questionFromOptions(options, opened.world);
    const policies = options.policy ?? DEFAULT_POLICIES;
    const jobs = comparisonJobs(policies, question, options.replications);
    const outcomes = await replayAll(opened, jobs, question, options.workers, signal);
    const comparison = comparisonOf(opened.traffic, question, jobs, outcomes, randomFrom(question.seed));
    const result = {
      summary: { ...comparison, input: opened.inputSummary },
      page: comparisonPage(comparison),
      charts: async () =>
        (await import("../../whatif/compare/comparison-charts.ts")).comparisonCharts(comparison),
    };
    await outputResult(
      result,
      {
        command,
        resolvedFlags: { ...resolvedQuestionFlags(question, opened), policy: policies },
        inputs: opened.inputSummary.files,
        question: questionSummary(question),
      },
      options,
    );
  } finally {
    opened.close();
  }
}

function addPolicy(text: string, previous: readonly string[] | undefined): readonly string[] {
  try {
    return [...(previous ?? []), parsePolicy(text).name];
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
