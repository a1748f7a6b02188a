import { type Command, Option } from "commander";
import { DEFAULTS, MAX_REPLICATIONS } from "../../../whatif/input/question.ts";
import { parsePolicy } from "../../../whatif/policies/parse-policy.ts";
import { integerParser } from "../../terminal/option-parsers.ts";
import { checkIgnoredWaits, ignoreWaitsOption } from "../../whatif/ignore-waits-option.ts";
import { resolvedQuestionFlags } from "../../whatif/manifest.ts";
import { openTraces } from "../../whatif/open-traffic.ts";
import { coverageOf } from "../../whatif/parts/answer.ts";
import { type DividedOptions, dividedCommand } from "../../whatif/parts/divided-command.ts";
import { POLICIES_HELP, policyOption } from "../../whatif/policy-option.ts";
import {
  addQuestionOptions,
  cpuShareOption,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import type { TraceOptions } from "../../whatif/trace-options.ts";

type CompareOptions = QuestionOptions &
  TraceOptions &
  DividedOptions & { readonly policy?: readonly string[]; readonly replications: number };

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
  return dividedCommand<CompareOptions>({
    name: "compare",
    description: "compare autosuspend policies with the current setting",
    addOptions: (command) =>
      addQuestionOptions(command)
        .addOption(cpuShareOption())
        .addOption(ignoreWaitsOption())
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
        ),
    help: `
${POLICIES_HELP}

Examples:
  $ standin whatif compare fleet.csv --policy fixed:300 --policy hybrid --policy clairvoyant
  $ standin whatif compare fleet.csv --policy ski-rental:randomised --replications 20 --seed 7
  $ standin whatif compare --data ./.standin --policy fixed:60 --start-latency measured --json
  $ standin whatif compare calls.csv --ignore-waits-of health-check
  $ standin whatif compare fleet.standin-trace --shard 1/2 > part-1.json
  $ standin whatif compare fleet.standin-trace --queue redis://localhost:6379`,
    open: (paths, options, command, signal) => openTraces(paths, options, command, signal, true),
    async setUp({ opened, options: { policy: policies = DEFAULT_POLICIES, ...options } }) {
      checkIgnoredWaits(options, opened.traffic);
      const { question } = questionFromOptions(options, opened.world);
      return {
        setup: {
          ...{ command: "compare", question, policies, replications: options.replications },
          ...coverageOf(opened),
        },
        resolvedFlags: { ...resolvedQuestionFlags(question, opened), policy: policies },
      };
    },
  });
}
