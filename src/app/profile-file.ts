import { basename, extname } from "node:path";
import * as z from "zod";
import { issueText } from "../input-limits/issue-text.ts";
import { DISTRIBUTION_RULE, type DurationDistribution, parseDistribution } from "../kernel/distribution.ts";
import { omitUndefined } from "../kernel/omit-undefined.ts";
import type { Calibration } from "../platform/catalog/calibration.ts";
import { DEFAULT_PROFILE, PROFILE_NAMES, type ProfileName } from "../platform/catalog/defaults-and-limits.ts";
import { OPERATION_ACTIONS, type OperationAction } from "../platform/catalog/operation-actions.ts";
import type { PlanName } from "../platform/catalog/plan.ts";
import { UserError } from "../ports/user-error.ts";
import { formatProblems, SourceDocument } from "../scenario/file/yaml-document.ts";
import type { PlanLimitOverrides } from "./open-worlds.ts";

/** Suffix of the files of `standin account calibrate`. The name before it is the name of the profile. */
const PROFILE_SUFFIX = ".profile";
const MAX_DELAY_S = 604_800;
/** An operation that runs longer is not one of these platforms. */
const MAX_DURATION_MS = 3_600_000;
/** Enough for steps of 0.1 %. */
const MAX_QUANTILES = 1_001;

const positive = z.number().positive();
const seconds = z.int().min(0).max(MAX_DELAY_S);
const description = z.string().max(1_000).optional();

const quantiles = z
  .array(z.number().min(0).max(MAX_DURATION_MS))
  .min(2, "must have at least two quantiles, the least and the longest duration")
  .max(MAX_QUANTILES)
  .refine(
    (values) => values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0)),
    "must be ascending",
  );

/** An entry for some of the actions. */
function byAction<T extends z.ZodType>(entry: T) {
  return z.partialRecord(z.enum(OPERATION_ACTIONS), entry);
}

/** A profile file. Omitted fields are taken from the profile named by `like`. */
const profileSchema = z.strictObject({
  name: z.string().min(1).max(64).optional(),
  description,
  like: z.enum(PROFILE_NAMES).default(DEFAULT_PROFILE),
  price_per_cu_hour: z.number().min(0).optional(),
  start_latency: z.string().optional(),
  /** Without quantiles: the durations of `like`. */
  durations: byAction(
    z.strictObject({
      description,
      count: z.int().min(0).optional(),
      quantiles_ms: quantiles.optional(),
    }),
  ).optional(),
  failures: byAction(z.strictObject({ description, share: z.number().min(0).max(1) })).optional(),
  plan: z
    .strictObject({
      description,
      name: z.enum(["paid", "free"]).optional(),
      projects: z.int().min(0).optional(),
      branches: z.int().min(1).optional(),
    })
    .optional(),
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

export type ProfileFile = Omit<z.output<typeof profileSchema>, "name" | "start_latency" | "durations"> & {
  readonly name: string;
  /** The number of observations behind the durations of an action, if the file states it. */
  readonly counts: Readonly<Partial<Record<OperationAction, number>>>;
  /** Durations that the file states, by action. `start_latency` is the duration of `start_compute`. */
  readonly durations: Readonly<Partial<Record<OperationAction, DurationDistribution>>>;
};

/** Parses a profile file in YAML or JSON. Throws a `UserError` that names the place in the file and the field. */
export function parseProfileFile(text: string, path: string): ProfileFile {
  const defaultName = basename(basename(path, extname(path)), PROFILE_SUFFIX);
  const source = new SourceDocument(text);
  const failWith = (field: readonly string[], message: string): never => {
    throw new UserError(formatProblems(path, [source.problemAt(field, message)]));
  };
  if (source.problems.length > 0) throw new UserError(formatProblems(path, source.problems));
  const parsed = profileSchema.safeParse(source.value, { error: problemText });
  if (!parsed.success) throw new UserError(formatProblems(path, source.problemsOf(parsed.error)));
  const { name = defaultName, start_latency, durations = {}, ...rest } = parsed.data;
  const latency = start_latency === undefined ? undefined : parseDistribution(start_latency);
  if (start_latency !== undefined && latency === undefined)
    failWith(["start_latency"], `${DISTRIBUTION_RULE}, got "${start_latency}"`);
  if (latency !== undefined && durations.start_compute?.quantiles_ms !== undefined)
    failWith(["start_latency"], "durations.start_compute states the same; remove one of them");
  const observed: Partial<Record<OperationAction, DurationDistribution>> = {};
  const counts: Partial<Record<OperationAction, number>> = {};
  for (const action of OPERATION_ACTIONS) {
    const quantilesMs = durations[action]?.quantiles_ms;
    if (quantilesMs === undefined) continue;
    observed[action] = { kind: "empirical", quantilesMs };
    const count = durations[action]?.count;
    if (count !== undefined) counts[action] = count;
  }
  if (latency !== undefined) observed.start_compute = latency;
  return { ...rest, name, counts, durations: observed };
}

/** Settings that a world takes from a profile. */
export type WorldProfile = {
  readonly profile: ProfileName;
  readonly calibration?: Calibration;
  readonly plan?: PlanName;
  readonly planLimits?: PlanLimitOverrides;
};

/** Numbers that only what-if questions take from a file. The rules of worlds use the numbers of their year. */
const ONLY_WHAT_IF = [
  "suspend_timeout_s",
  "ram_gb_per_cu",
  "file_cache_share",
  "pooled_connections",
  "max_connections",
] as const;

/** Throws a `UserError` if the file has numbers that a world cannot take from it. */
export function worldProfileOf(file: ProfileFile): WorldProfile {
  const field = ONLY_WHAT_IF.find((name) => file[name] !== undefined);
  if (field !== undefined)
    throw new UserError(`${field}: only what-if questions take this from a file; remove it for a world`);
  const { name, like, durations, failures = {}, plan } = file;
  const limits = omitUndefined({ projects: plan?.projects, branches: plan?.branches });
  return {
    profile: like,
    calibration: {
      name,
      durations: OPERATION_ACTIONS.flatMap((action) => {
        const takes = durations[action];
        return takes === undefined ? [] : [{ action, takes }];
      }),
      failures: OPERATION_ACTIONS.flatMap((action) => {
        const share = failures[action]?.share ?? 0;
        return share === 0 ? [] : [{ action, share }];
      }),
    },
    ...(plan?.name === undefined ? {} : { plan: plan.name }),
    ...(Object.keys(limits).length === 0 ? {} : { planLimits: limits }),
  };
}

function problemText(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== "unrecognized_keys") return issueText(issue);
  const known =
    issue.path?.length === 0 || issue.path === undefined ? Object.keys(profileSchema.shape) : undefined;
  const isAction = ["durations", "failures"].includes(String(issue.path?.[0])) && issue.path?.length === 1;
  if (isAction) return `not an action; expected one of ${OPERATION_ACTIONS.join(", ")}`;
  return `unknown key${known === undefined ? "" : `; the known keys are ${known.join(", ")}`}`;
}
