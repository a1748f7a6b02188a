import {
  newHostClock,
  type OpenedWorlds,
  openWorlds,
  type PlanLimitOverrides,
  type Populate,
  type ServerOptions,
  WorldMismatch,
} from "../../app/open-worlds.ts";
import type { WorldProfile } from "../../app/profile-file.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { DurationMs } from "../../kernel/time.ts";
import type { DataDirectory } from "../../worlds/data-directory.ts";
import { StoreUnavailable } from "../../worlds/world-handle.ts";
import { CliError } from "../terminal/cli-error.ts";
import type { Log } from "./log.ts";
import type { ServeOptions } from "./options/serve-options.ts";
import type { Scrubber } from "./scrubber.ts";

/** Opens the worlds of the data directory with the limits of the options. */
export async function openServedWorlds(
  directory: DataDirectory,
  options: Omit<ServeOptions, "profile">,
  profile: WorldProfile | undefined,
  applySeedFile: Populate | undefined,
  scrubber: Scrubber,
  dataHooks: Pick<ServerOptions, "onDataReleased" | "beforeCopy">,
  log: Log,
): Promise<OpenedWorlds> {
  try {
    const limits = {
      maxWorlds: options.maxWorlds,
      maxWorldBytes: options.maxWorldSize,
      maxAutomaticSnapshots: options.keepAutomatic,
      closeIdleAfterMs: options.closeIdle,
      expireAfterMs: options.expireWorlds,
    };
    const retention = {
      history: retentionLimit(options.keepHistory),
      operations: retentionLimit(options.keepOperations),
      minimumEvents: options.keepEvents,
    };
    return await openWorlds(
      directory,
      {
        ...options,
        ...profile,
        plan: options.plan ?? profile?.plan,
        planLimits: planLimits(options, profile?.planLimits),
        populate: applySeedFile,
        limits,
        retention,
        beforeRestore: () => scrubber.stop(),
        ...dataHooks,
        // A container gives the same key at each start, and must not fail forever.
        onRevokedKey: (message) => log.warn(message),
        onExpired: (world) =>
          log.info(`deleted world ${world}: it received no request for the time of --expire-worlds`),
        hostClock: newHostClock(({ byMs }) =>
          log.warn(
            `the clock of the host was set by ${byMs / 1000} s; the clocks of the worlds go on as before`,
          ),
        ),
      },
      (error, failure) => log.error(error, failure),
    );
  } catch (error) {
    if (error instanceof WorldMismatch || error instanceof StoreUnavailable)
      throw new CliError(error.message);
    throw error;
  }
}

/** `undefined` for `forever`: retention is off. */
function retentionLimit(duration: DurationMs): DurationMs | undefined {
  return Number.isFinite(duration) ? duration : undefined;
}

/** Options override the limits of a profile file. */
function planLimits(
  {
    projectsLimit,
    branchesLimit,
    endpointsLimit,
    snapshotsLimit,
  }: Pick<ServeOptions, "projectsLimit" | "branchesLimit" | "endpointsLimit" | "snapshotsLimit">,
  ofProfile: PlanLimitOverrides | undefined,
): PlanLimitOverrides | undefined {
  const limits = {
    ...ofProfile,
    ...omitUndefined({
      projects: projectsLimit,
      branches: branchesLimit,
      endpoints: endpointsLimit,
      snapshots: snapshotsLimit,
    }),
  };
  return Object.keys(limits).length === 0 ? undefined : limits;
}
