import { Command, Option } from "commander";
import type { Shard } from "../../../kernel/shard.ts";
import { DEFAULTS, MAX_REPLICATIONS } from "../../../whatif/input/question.ts";
import { questionSummary } from "../../../whatif/input/question-summary.ts";
import { parsePolicy } from "../../../whatif/policies/parse-policy.ts";
import { interruptible } from "../../terminal/interrupt.ts";
import { integerParser } from "../../terminal/option-parsers.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { addQueueOptions, checkedQueue, type QueueOptions } from "../../whatif/parts/queued-answer.ts";
import { runAnswer } from "../../whatif/parts/run-answer.ts";
import { POLICIES_HELP, policyOption } from "../../whatif/policy-option.ts";
import {
  addOutputOptions,
  addQuestionOptions,
  type OutputOptions,
  type QuestionOptions,
  questionFromOptions,
  shardOption,
  workersOption,
} from "../../whatif/question-options.ts";
import { addTraceOptions, type TraceOptions } from "../../whatif/trace-options.ts";

type CompareOptions = QuestionOptions &
  OutputOptions &
  TraceOptions &
  QueueOptions & {
    readonly policy?: readonly string[];
    readonly replications: number;
    readonly workers: number;
    readonly shard?: Shard;
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
      policyOption(
        `policy to compare; repeatable, see below (default: ${DEFAULT_POLICIES.join(", ")})`,
        parsePolicy,
      ),
    )
    .addOption(
      new Option("--replications <n>", "number of replications of each policy that uses randomness")
        .argParser(integerParser(1, MAX_REPLICATIONS))
        .default(DEFAULTS.replications),
    )
    .addOption(workersOption())
    .addOption(shardOption());
  addQueueOptions(command);
  return addOutputOptions(command)
    .addHelpText(
      "after",
      `
${POLICIES_HELP}

Examples:
  $ standin whatif compare fleet.csv --policy fixed:300 --policy hybrid --policy clairvoyant
  $ standin whatif compare fleet.csv --policy ski-rental:randomised --replications 20 --seed 7
  $ standin whatif compare --data ./.standin --policy fixed:60 --start-latency measured --json
  $ standin whatif compare fleet.standin-trace --shard 1/2 > part-1.json
  $ standin whatif compare fleet.standin-trace --queue redis://localhost:6379`,
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
  const queue = checkedQueue(options, command);
  const opened = await openTraces(paths, options, command, signal, true);
  try {
    const { question } = await questionFromOptions(options, opened.world);
    const policies = options.policy ?? DEFAULT_POLICIES;
    const { traffic, inputSummary: input } = opened;
    await runAnswer(
      opened,
      {
        ...{ command: "compare", question, policies, replications: options.replications },
        ...{ period: traffic.period, computes: traffic.computes.length, input },
      },
      {
        command,
        resolvedFlags: { ...resolvedQuestionFlags(question, opened), policy: policies },
        inputs: input.files,
        question: questionSummary(question),
      },
      { ...options, queue },
      signal,
    );
  } finally {
    opened.close();
  }
}
