import { Command } from "commander";
import { attributeCommand } from "./whatif-attribute.ts";
import { capacityCommand } from "./whatif-capacity.ts";
import { compareCommand } from "./whatif-compare.ts";
import { curveCommand } from "./whatif-curve.ts";
import { fleetCommand } from "./whatif-fleet.ts";
import { importTraceCommand } from "./whatif-import.ts";
import { profilesCommand } from "./whatif-profiles.ts";
import { quotaCommand } from "./whatif-quota.ts";
import { startsCommand } from "./whatif-starts.ts";

/** Experiments: what another delay, policy, size or source would have done. */
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
    .addCommand(compareCommand())
    .addCommand(capacityCommand())
    .addCommand(attributeCommand())
    .addCommand(quotaCommand())
    .addCommand(profilesCommand())
    .addCommand(startsCommand())
    .addCommand(fleetCommand())
    .addCommand(importTraceCommand());
}
