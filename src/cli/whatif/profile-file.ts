import { type ProfileFile, parseProfileFile } from "../../app/profile-file.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { isProfileName, PROFILES, type Profile } from "../../platform/catalog/defaults-and-limits.ts";
import { builtInProfile, type NamedProfile } from "../../whatif/units/prices.ts";
import { profileError, readProfileFile } from "../terminal/profile-option.ts";

/** A built-in profile by name, or a profile file in YAML or JSON. */
export function readProfile(text: string): NamedProfile {
  if (isProfileName(text)) return builtInProfile(text);
  const file = readProfileFile(text, parseProfileFile);
  const profile = applyOverrides(PROFILES[file.like], file);
  const { defaultS, minimumS, maximumS } = profile.suspendTimeout;
  if (minimumS > defaultS || defaultS > maximumS)
    throw profileError(
      text,
      `suspend_timeout_s: the default ${defaultS} must lie between the minimum ${minimumS} and the maximum ${maximumS}`,
    );
  return omitUndefined({ name: file.name, profile, pricePerCuHour: file.price_per_cu_hour });
}

function applyOverrides(base: Profile, file: ProfileFile): Profile {
  const { suspend_timeout_s: timeout, max_connections: table } = file;
  const known =
    table === undefined
      ? undefined
      : Object.keys(table)
          .map(Number)
          .sort((a, b) => a - b);
  return {
    ...base,
    ...(known === undefined || table === undefined
      ? {}
      : {
          sizes: { autoscaled: known, fixedOnly: [] },
          maxConnections: (minCu: number) =>
            Object.entries(table).find(([cu]) => Number(cu) === minCu)?.[1] ?? 0,
        }),
    ramGbPerCu: file.ram_gb_per_cu ?? base.ramGbPerCu,
    fileCacheShare: file.file_cache_share ?? base.fileCacheShare,
    pooledConnections: file.pooled_connections ?? base.pooledConnections,
    suspendTimeout: {
      defaultS: timeout?.default ?? base.suspendTimeout.defaultS,
      minimumS: timeout?.minimum ?? base.suspendTimeout.minimumS,
      maximumS: timeout?.maximum ?? base.suspendTimeout.maximumS,
    },
    durations: { ...base.durations, ...file.durations },
  };
}
