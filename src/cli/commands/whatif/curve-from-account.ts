import type { Command } from "commander";
import { CliError } from "../../terminal/cli-error.ts";
import { accountAnswer } from "../../whatif/account-answer.ts";
import type { AccountAnswer } from "../../whatif/question-command.ts";
import type { CurveOptions } from "./curve-options.ts";

/** Options that apply to a file of an account. The others need requests, or are about other inputs. */
const APPLY = [
  ...["profile", "plan", "price", "prices", "pricePlan", "coldStartWorth", "delay", "strict"],
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
  return accountAnswer(path, options);
}
