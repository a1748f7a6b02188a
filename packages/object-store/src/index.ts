import type { ObjectStoreSatellite } from "@standin/standin/ports/object-store";
import { downloadFile, uploadFile } from "./object-transfer.ts";

/** The version of the package, which the build writes here. */
declare const PACKAGE_VERSION: string;

export const VERSION: string = PACKAGE_VERSION;
export { downloadFile, uploadFile };

({ VERSION, downloadFile, uploadFile }) satisfies ObjectStoreSatellite;
