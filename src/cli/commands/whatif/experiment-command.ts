import { writeFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { isSettableDelay } from "../../../whatif/gap-curve/settable-delays.ts";
import { omittedLines } from "../../../whatif/periods/account-curve-page.ts";
import { type ExperimentPlan, planExperiment } from "../../../whatif/periods/experiment-plan.ts";
import { amount, delayText, money, plural } from "../../../whatif/units/number-format.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { newFilePathInExistingDirectory } from "../../terminal/new-file.ts";
import { jsonOption } from "../../terminal/options.ts";
import { print } from "../../terminal/print.ts";
import { formatTable } from "../../terminal/text-table.ts";
import { isAccountFile, openAccount } from "../../whatif/account-input.ts";
import { experimentFile } from "../../whatif/apply/experiment-file.ts";
import { shellQuote } from "../../whatif/manifest.ts";
import {
  addQuestionOptions,
  coldStartWorthOption,
  type QuestionOptions,
  questionFromOptions,
} from "../../whatif/question-options.ts";
import { numberAbove } from "../../whatif/question-values.ts";

type ExperimentOptions = QuestionOptions & {
  readonly maxExtraColdStarts: number;
  readonly days: number;
  readonly maxCost?: number;
  readonly out?: string;
  readonly json?: boolean;
  readonly strict?: boolean;
};

const DEFAULT_DAYS = 3;

export function experimentCommand(): Command {
  const command = new Command("experiment")
    .description("plan which computes get a shorter delay for some days, to narrow the bounds for an account")
    .argument("<file>", "file of standin account pull")
    .addOption(
      new Option(
        "--max-extra-cold-starts <number>",
        "cold starts that the experiment may add, as estimated: 20/day",
      )
        .argParser(parseStartsPerDay)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--days <number>", "length of the experiment")
        .argParser(numberAbove(0))
        .default(DEFAULT_DAYS),
    )
    .addOption(
      new Option(
        "--max-cost <dollars>",
        "maximum cost of the added cold starts, at their worth, in the whole experiment (default: no limit)",
      ).argParser(numberAbove(0)),
    )
    .addOption(new Option("--out <file>", "file to write the plan to, for whatif apply --plan"));
  return addQuestionOptions(command, ["present", "cu", "startLatency", "seed", "coldStartWorth", "waitWorth"])
    .addOption(coldStartWorthOption())
    .addOption(
      new Option(
        "--strict",
        "omit hours whose active time by operations differs from metered time, and periods that overlap them",
      ),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Operations show only gaps that are longer than the delay that is set. A compute
with a shorter delay for some days therefore shows gaps that are hidden today. Run "standin account pull"
just before and after the delays are set, and just before and after they are
restored, because operations do not show each change.

Examples:
  $ standin whatif experiment shop.standin-account --max-extra-cold-starts 20/day --days 3 --out plan.json
  $ standin whatif apply --plan plan.json --to http://127.0.0.1:4620/api/v2`,
    )
    .action(experiment);
}

async function experiment(file: string, options: ExperimentOptions): Promise<void> {
  if (!isAccountFile(file))
    throw new CliError(
      `${file}: experiment needs a file of standin account pull, which ends in .standin-account`,
      true,
    );
  const target = options.out === undefined ? undefined : newFilePathInExistingDirectory(options.out);
  const { question, profile } = questionFromOptions(options, undefined);
  const { fleet } = openAccount(file, profile.suspendTimeout.defaultS, options.strict);
  if (fleet.endAt <= fleet.startAt)
    throw new CliError(`${file}: has no time after a start of a compute; run standin account pull later`);
  const { maxExtraColdStarts, days, maxCost, out, json } = options;
  const plan = planExperiment(
    fleet,
    (delayS) => isSettableDelay(question.settable, delayS),
    { maxExtraColdStartsPerDay: maxExtraColdStarts, days, maxCost },
    question.costs,
  );
  if (target !== undefined) writeFileSync(target, experimentFile(plan), { flag: "wx" });
  print(
    json === true
      ? experimentFile(plan)
      : `${planText(plan, file, out)}${omittedLines(plan.omitted)
          .map((line) => `${line}\n`)
          .join("")}`,
  );
}

function planText(plan: ExperimentPlan, file: string, out: string | undefined): string {
  const { computes, days } = plan;
  if (plan.width_before_dollars_per_month === 0)
    return "Nothing to find out: no compute has a known delay for which a shorter one can be set.\n";
  if (computes.length === 0) return "No compute fits the budget; allow more cold starts or a higher cost.\n";
  const lines = [
    `Set shorter delays on ${plural(computes.length, "compute")} for ${plural(days, "day")}:`,
    formatTable(
      ["COMPUTE", "PROJECT", "DELAY", "SET", "COLD STARTS A DAY"],
      computes.map(({ compute, project, delay_s, set_delay_s, extra_cold_starts_per_day }) => [
        ...[compute, project, delayText(delay_s), delayText(set_delay_s)],
        `+${amount(extra_cold_starts_per_day)}`,
      ]),
    ),
    `Adds ${amount(plan.extra_cold_starts_per_day)} cold starts a day as estimated, at most ${amount(plan.most_extra_cold_starts_per_day)}. They cost ${money(plan.cold_start_cost_dollars)} at their worth.`,
    `Width of the bounds on these days, mean of the delays ${plan.delays_s.map(delayText).join(", ")}: ${money(plan.width_before_dollars_per_month)} a month before, ${money(plan.width_after_dollars_per_month)} with the experiment.`,
    ...(out === undefined
      ? ["With --out, the plan is written to a file for standin whatif apply --plan."]
      : [
          `Next: standin account pull --out ${shellQuote(file)} …, then standin whatif apply --plan ${shellQuote(out)} --to <url>`,
        ]),
  ];
  return `${lines.join("\n")}\n`;
}

function parseStartsPerDay(text: string): number {
  const value = numberAbove(0)(text.replace(/\/day$/, ""));
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number of cold starts a day, such as 20/day.");
}
