import { basename, extname } from "node:path";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { MAX } from "../../input-limits/limits.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../../kernel/distribution.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import {
  DEFAULT_PROFILE,
  PROFILES,
  type Profile,
  type ProfileName,
} from "../../platform/catalog/defaults-and-limits.ts";
import { builtInProfile, type NamedProfile } from "../../whatif/units/prices.ts";
import { CliError } from "../terminal/cli-error.ts";
import { readText } from "../terminal/read-text.ts";

const MAX_DELAY_S = 604_800;
const positive = z.number().positive();
const seconds = z.int().min(0).max(MAX_DELAY_S);
const profileNames = Object.keys(PROFILES) as [ProfileName, ...ProfileName[]];

/** A profile file. Omitted fields are taken from the profile named by `like`. */
const profileSchema = z.strictObject({
  name: z.string().min(1).max(64).optional(),
  like: z.enum(profileNames).default(DEFAULT_PROFILE),
  price_per_cu_hour: z.number().min(0).optional(),
  start_latency: z.string().optional(),
  suspend_timeout_s: z
    .strictObject({ default: seconds.optional(), minimum: seconds.optional(), maximum: seconds.optional() })
    .optional(),
  ram_gb_per_cu: positive.optional(),
  file_cache_share: z.number().min(0).max(1).optional(),
  pooled_connections: z.int().min(0).optional(),
  max_connections: z
    .record(z.string(), z.int().min(0))
    .refine((table) => Object.keys(table).length > 0, "must have at least one size")
    .refine(
      (table) => Object.keys(table).every((size) => /^\d+(\.\d+)?$/.test(size)),
      'keys must be sizes in CU, such as "0.25"',
    )
    .optional(),
});

/** A built-in profile by name, or a profile file in YAML or JSON. */
export function readProfile(text: string): NamedProfile {
  const known = profileNames.find((name) => name === text);
  if (known !== undefined) return builtInProfile(known);
  const fail = (message: string): never => {
    throw new CliError(`--profile ${text}: ${message}`, true);
  };
  const content = readYamlFile(text, fail);
  const parsed = profileSchema.safeParse(content);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fail(`${issue?.path.join(".") || "the file"}: ${issue?.message ?? "invalid"}`);
  }
  const { name, like, start_latency, ...overrides } = parsed.data;
  const latency = start_latency === undefined ? undefined : parseDistribution(start_latency);
  if (start_latency !== undefined && latency === undefined)
    return fail(`start_latency: "${start_latency}" ${DISTRIBUTION_RULE}`);
  const profile = applyOverrides(PROFILES[like], overrides, latency);
  const { defaultS, minimumS, maximumS } = profile.suspendTimeout;
  if (minimumS > defaultS || defaultS > maximumS)
    return fail(
      `suspend_timeout_s: the default ${defaultS} must lie between the minimum ${minimumS} and the maximum ${maximumS}`,
    );
  return omitUndefined({
    name: name ?? basename(text, extname(text)),
    profile,
    pricePerCuHour: overrides.price_per_cu_hour,
  });
}

function readYamlFile(path: string, fail: (message: string) => never): unknown {
  let content: string;
  try {
    content = readText(path, MAX.settingsFile);
  } catch {
    return fail(`expected one of ${profileNames.join(", ")} or a readable file`);
  }
  try {
    return parseYaml(content);
  } catch (error) {
    return fail(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}

type ProfileOverrides = Omit<z.output<typeof profileSchema>, "name" | "like" | "start_latency">;

function applyOverrides(
  base: Profile,
  overrides: ProfileOverrides,
  latency: Profile["durations"]["start_compute"] | undefined,
): Profile {
  const { suspend_timeout_s: timeout, max_connections: table } = overrides;
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
    ramGbPerCu: overrides.ram_gb_per_cu ?? base.ramGbPerCu,
    fileCacheShare: overrides.file_cache_share ?? base.fileCacheShare,
    pooledConnections: overrides.pooled_connections ?? base.pooledConnections,
    suspendTimeout: {
      defaultS: timeout?.default ?? base.suspendTimeout.defaultS,
      minimumS: timeout?.minimum ?? base.suspendTimeout.minimumS,
      maximumS: timeout?.maximum ?? base.suspendTimeout.maximumS,
    },
    durations: { ...base.durations, start_compute: latency ?? base.durations.start_compute },
  };
}
