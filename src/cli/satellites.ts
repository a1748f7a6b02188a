import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGE_ROOT } from "../app/package-root.ts";
import type { MirrorSatellite } from "../ports/mirror.ts";
import type { ObjectStoreSatellite } from "../ports/object-store.ts";
import type { QueueSatellite } from "../ports/queue.ts";
import type { TracingSatellite } from "../ports/tracing.ts";
import { VERSION } from "./server/version.ts";
import { CliError } from "./terminal/cli-error.ts";

/**
 * The packages next to this one, by their names after the scope. Their commands and options are declared here in any
 * case, so help and completion do not depend on what is installed.
 */
type Satellites = {
  /** Runs on many machines: `standin worker`, and `--queue` of `run` and `whatif`. */
  readonly queue: QueueSatellite;
  /** Copies and comparisons of servers: `standin mirror` and `standin drift`. */
  readonly mirror: MirrorSatellite;
  /** Transfer of snapshots: URLs of `standin snapshots push` and `pull`. */
  readonly "object-store": ObjectStoreSatellite;
  /** Export of traces: the variables of OpenTelemetry. */
  readonly tracing: TracingSatellite;
};

/** Loads a satellite. Rejects with a `CliError` if it is not installed, or is that of another version. */
export async function loadSatellite<N extends keyof Satellites>(
  name: N,
  neededBy: string,
): Promise<Satellites[N]> {
  const satellite = await importSatellite(name, neededBy);
  if (satellite.VERSION !== VERSION)
    throw new CliError(
      `@standin/${name} ${satellite.VERSION} does not fit standin ${VERSION}: npm install @standin/${name}@${VERSION}`,
    );
  return satellite;
}

async function importSatellite<N extends keyof Satellites>(
  name: N,
  neededBy: string,
): Promise<Satellites[N]> {
  const specifier = `@standin/${name}`;
  // In a clone of the repository, the packages are built next to this one.
  const inClone = join(PACKAGE_ROOT, "packages", name, "dist", "index.js");
  try {
    return await importModule(existsSync(inClone) ? pathToFileURL(inClone).href : specifier);
  } catch (error) {
    const isMissing =
      error instanceof Error &&
      "code" in error &&
      error.code === "ERR_MODULE_NOT_FOUND" &&
      error.message.includes(`'${specifier}'`);
    if (!isMissing) throw error;
    throw new CliError(`${neededBy} needs the package ${specifier}: npm install ${specifier}@${VERSION}`);
  }
}

function importModule<T>(specifier: string): Promise<T> {
  return import(specifier);
}
