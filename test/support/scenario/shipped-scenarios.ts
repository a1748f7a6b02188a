import { readdirSync } from "node:fs";

/** The year of a fleet takes as long as all others together, so only its own tests run it. */
export const YEAR = "scenarios/a-year-of-a-fleet.yaml";
/** The slow ones run last, so that a first failure shows up early. */
const SLOW = ["scenarios/health-check-keeps-awake.yaml", "scenarios/office-hours-fleet.yaml", YEAR];

/** A scenario that needs Postgres and libfaketime, so `test/postgres/sql-clock.test.ts` runs it. */
export const TRIAL = "scenarios/trial-ends-after-14-days.yaml";

/** All scenarios of the package, fast ones first. */
export const SHIPPED: readonly string[] = readdirSync("scenarios")
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => `scenarios/${name}`)
  .sort((one, other) => SLOW.indexOf(one) - SLOW.indexOf(other) || (one < other ? -1 : 1));

/** Scenarios that need no Postgres, in the same order. */
export const SIMULATED: readonly string[] = SHIPPED.filter((file) => file !== TRIAL);
