import type { TracingSatellite } from "@standin/standin/ports/tracing";
import { openSpans } from "./open-spans.ts";

/** The version of the package, which the build writes here. */
declare const PACKAGE_VERSION: string;

export const VERSION: string = PACKAGE_VERSION;
export { openSpans };

({ VERSION, openSpans }) satisfies TracingSatellite;
