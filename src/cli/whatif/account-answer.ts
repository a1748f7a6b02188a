import { basename } from "node:path";
import { isSettableDelay } from "../../whatif/gap-curve/settable-delays.ts";
import { accountCurve } from "../../whatif/periods/account-curve.ts";
import { accountCurvePage } from "../../whatif/periods/account-curve-page.ts";
import { planExperiment, REPORTED_BUDGET } from "../../whatif/periods/experiment-plan.ts";
import { CliError } from "../terminal/cli-error.ts";
import { openAccount } from "./account-input.ts";
import type { AccountAnswer } from "./question-command.ts";
import { type QuestionOptions, questionFromOptions } from "./question-options.ts";

type AccountOptions = QuestionOptions & {
  readonly delay?: Parameters<typeof accountCurve>[1]["delays"][number];
  readonly strict?: boolean;
};

/** The file of an account has no time after a start of a compute. */
export class NothingActive extends CliError {}

/**
 * Cost of each delay, calculated from a file of `standin account pull`; for the terminal, the report and the console.
 */
export async function accountAnswer(path: string, options: AccountOptions): Promise<AccountAnswer> {
  const { question, profile } = questionFromOptions(options, undefined);
  const { costs, settable } = question;
  if (costs.dollars !== undefined)
    throw new CliError("--cold-start-worth: give seconds of active time for the file of an account", true);
  const { fleet } = openAccount(path, profile.suspendTimeout.defaultS, options.strict);
  if (fleet.endAt <= fleet.startAt)
    throw new NothingActive(
      `${basename(path)}: has no time after a start of a compute; run standin account pull later`,
    );
  const { pricePerCuHour, coldStartS } = costs;
  const delays = options.delay === undefined ? [] : [options.delay];
  const summary = accountCurve(fleet, { pricePerCuHour, coldStartS, settable, delays });
  return {
    summary,
    page: accountCurvePage(summary),
    details: async () => {
      const { accountTables } = await import("../../whatif/periods/account-tables.ts");
      const isSettable = (delayS: number) => isSettableDelay(settable, delayS);
      return accountTables(fleet, planExperiment(fleet, isSettable, REPORTED_BUDGET, costs), REPORTED_BUDGET);
    },
    charts: async () => {
      const { accountCharts } = await import("../../whatif/periods/account-charts.ts");
      return accountCharts(summary, fleet);
    },
    resolvedFlags: {},
    question: summary.question,
  };
}
