import type { Command } from "commander";
import { accountCurve } from "../../../whatif/periods/account-curve.ts";
import { accountCurvePage } from "../../../whatif/periods/account-curve-page.ts";
import { awakeHours } from "../../../whatif/periods/awake-hours.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { openAccount } from "../../whatif/account-input.ts";
import type { AccountAnswer } from "../../whatif/question-command.ts";
import { questionFromOptions } from "../../whatif/question-options.ts";
import type { CurveOptions } from "./curve-options.ts";

/** Options that apply to a file of an account. The others need requests, or are about other inputs. */
const APPLY = [
  ...["profile", "plan", "price", "prices", "pricePlan", "coldStartWorth", "delay"],
  ...["json", "out", "seed", "workers"],
];

/** The delays that operations show, with bounds where they do not. */
export async function answerCurveFromAccount(
  path: string,
  options: CurveOptions,
  command: Command,
): Promise<AccountAnswer> {
  const idle = command.options.find(
    (option) =>
      command.getOptionValueSource(option.attributeName()) === "cli" &&
      !APPLY.includes(option.attributeName()),
  );
  if (idle !== undefined)
    throw new CliError(`${idle.long}: has no effect on the file of an account, which has no requests`, true);
  const { question, profile } = await questionFromOptions(options, undefined);
  const { costs, settable } = question;
  if (costs.dollars !== undefined)
    throw new CliError("--cold-start-worth: give seconds of active time for the file of an account", true);
  const { fleet } = openAccount(path, profile.suspendTimeout.defaultS);
  if (fleet.endAt <= fleet.startAt)
    throw new CliError(`${path}: has no time after a start of a compute; run standin account pull later`);
  const { pricePerCuHour, coldStartS } = costs;
  const delays = options.delay === undefined ? [] : [options.delay];
  const summary = accountCurve(fleet, { pricePerCuHour, coldStartS, settable, delays });
  return {
    summary,
    page: accountCurvePage(summary),
    charts: async () => {
      const { accountCharts } = await import("../../../whatif/periods/account-charts.ts");
      return accountCharts(summary, awakeHours(fleet));
    },
    resolvedFlags: {},
    question: summary.question,
  };
}
