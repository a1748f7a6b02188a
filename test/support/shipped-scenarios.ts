import { readdirSync } from "node:fs";

/** The year of a fleet takes as long as all others together; it is played where that is what is looked at. */
export const YEAR = "scenarios/a-year-of-a-fleet.yaml";
/** What takes longer than a moment: whoever waits for a first failure has it last. */
const SLOW = ["scenarios/health-check-keeps-awake.yaml", "scenarios/office-hours-fleet.yaml", YEAR];

/** All scenarios of the package, the quick ones first. */
export const SHIPPED: readonly string[] = readdirSync("scenarios")
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => `scenarios/${name}`)
  .sort((one, other) => SLOW.indexOf(one) - SLOW.indexOf(other) || (one < other ? -1 : 1));
