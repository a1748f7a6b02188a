import type { QueueSatellite } from "@standin/standin/ports/queue";
import { openParts, openRuns } from "./open-queue.ts";
import { work } from "./worker-loop.ts";

/** The version of the package, which the build writes here. */
declare const PACKAGE_VERSION: string;

export const VERSION: string = PACKAGE_VERSION;
export { openParts, openRuns, work };

({ VERSION, openRuns, openParts, work }) satisfies QueueSatellite;
