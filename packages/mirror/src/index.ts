import type { MirrorSatellite } from "@standin/standin/ports/mirror";
import { drift } from "./drift/drift.ts";
import { mirror } from "./mirror/mirror.ts";

/** The version of the package, which the build writes here. */
declare const PACKAGE_VERSION: string;

export const VERSION: string = PACKAGE_VERSION;
export { drift, mirror };

({ VERSION, drift, mirror }) satisfies MirrorSatellite;
