// @ts-nocheck
import { Command } from "commander";
import { applyCommand } from "../whatif-commands/apply-command.ts";
import { attributeCommand } from "../whatif-commands/attribute-command.ts";
import { backtestCommand } from "../whatif-commands/backtest-command.ts";
import { capacityCommand } from "../whatif-commands/capacity-command.ts";
import { compareCommand } from "../whatif-commands/compare-command.ts";
import { curveCommand } from "../whatif-commands/curve-command.ts";
import { fleetCommand } from "../whatif-commands/fleet-command.ts";
import { importTraceCommand } from "../whatif-commands/import-command.ts";
import { mergeCommand } from "../whatif-commands/merge-command.ts";
import { profilesCommand } from "../whatif-commands/profiles-command.ts";
import { quotaCommand } from "../whatif-commands/quota-command.ts";
import { sqlCommand } from "../whatif-commands/sql-command.ts";
import { startsCommand } from "../whatif-commands/starts-command.ts";

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
