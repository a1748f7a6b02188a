import { Command } from "commander";
import { applyCommand } from "./apply-command.ts";
import { attributeCommand } from "./attribute-command.ts";
import { backtestCommand } from "./backtest-command.ts";
import { capacityCommand } from "./capacity-command.ts";
import { compareCommand } from "./compare-command.ts";
import { curveCommand } from "./curve-command.ts";
import { experimentCommand } from "./experiment-command.ts";
import { fleetCommand } from "./fleet-command.ts";
import { importTraceCommand } from "./import-command.ts";
import { mergeCommand } from "./merge-command.ts";
import { profilesCommand } from "./profiles-command.ts";
import { quotaCommand } from "./quota-command.ts";
import { sqlCommand } from "./sql-command.ts";
import { startsCommand } from "./starts-command.ts";

export function whatIfCommand(): Command {
  return new Command("whatif")
    .addHelpText(
      "after",
      `
Examples:
  $ standin whatif fleet --computes 200 --days 7 --seed 1 --out fleet.csv
  $ standin whatif curve fleet.csv --present 300 --out report/
  $ standin whatif compare fleet.csv --policy fixed:60 --policy hybrid`,
    )
    .addCommand(curveCommand())
    .addCommand(applyCommand())
    .addCommand(experimentCommand())
    .addCommand(compareCommand())
    .addCommand(backtestCommand())
    .addCommand(capacityCommand())
    .addCommand(attributeCommand())
    .addCommand(quotaCommand())
    .addCommand(profilesCommand())
    .addCommand(startsCommand())
    .addCommand(fleetCommand())
    .addCommand(importTraceCommand())
    .addCommand(sqlCommand())
    .addCommand(mergeCommand());
}
