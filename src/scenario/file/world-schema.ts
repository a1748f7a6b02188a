import * as z from "zod";
import { DISTRIBUTION_RULE, parseDistribution } from "../../kernel/distribution.ts";
import type { Calibration } from "../../platform/catalog/calibration.ts";
import { DEFAULT_PROFILE, PG_VERSIONS, PROFILE_NAMES } from "../../platform/catalog/defaults-and-limits.ts";
import { documented, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { LABEL_PATTERN, LABEL_RULE } from "./labels.ts";
import { instant } from "./time-fields.ts";

export const label = z
  .string()
  .regex(LABEL_PATTERN, LABEL_RULE)
  .meta({ id: "label", ...documented("one part of a label such as shop/main/primary", "shop") });

/** Fields of a compute, also in seed files. */
export const computeFields = {
  type: z
    .enum(["read_write", "read_only"])
    .default("read_write")
    .meta(documented("a branch has at most one read_write compute (default: read_write)", "read_only")),
  autoscaling_limit_min_cu: z
    .number()
    .optional()
    .meta(documented("smallest size in compute units (default: from the profile)", 0.25)),
  autoscaling_limit_max_cu: z
    .number()
    .optional()
    .meta(documented("largest size in compute units (default: from the profile)", 2)),
  suspend_timeout_seconds: z
    .int()
    .optional()
    .meta(documented("the autosuspend delay; 0 means the platform's default, -1 means never", 60, -1)),
  disabled: z
    .boolean()
    .optional()
    .meta(documented("whether the compute is disabled, so that it rejects arrivals (default: false)", true)),
};

const compute = strictObject(computeFields).meta({
  id: "compute",
  description: "a compute; the API calls it an endpoint",
});

const branch = strictObject({
  parent: label
    .optional()
    .meta(documented("an earlier branch in this list (default: the default branch)", "main")),
  protected: z
    .boolean()
    .optional()
    .meta(documented("whether the branch is protected (default: false)", true)),
  computes: z
    .record(label, compute)
    .default({})
    .meta(
      documented("by label; the compute shop/main/replica-1 is replica-1 here", {
        primary: { suspend_timeout_seconds: 60 },
        "replica-1": { type: "read_only" },
      }),
    ),
});

/** Fields of a project, also in seed files. */
export const projectFields = {
  region_id: z
    .string()
    .optional()
    .meta(documented("region of the project (default: the default of the platform)", "aws-us-east-2")),
  pg_version: z
    .int()
    .min(PG_VERSIONS.lowest)
    .max(PG_VERSIONS.highest)
    .optional()
    .meta(documented("major version of Postgres (default: the default of the platform)", 17)),
};

const project = strictObject({
  count: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .meta(documented("number of identical projects: fleet becomes fleet-1, fleet-2 …", 40)),
  ...projectFields,
  branches: z
    .record(label, branch)
    .default({
      main: { protected: undefined, parent: undefined, computes: { primary: { type: "read_write" } } },
    })
    .meta(
      documented("by label, the default branch first (default: main with one compute, primary)", {
        main: { computes: { primary: {} } },
        dev: { parent: "main", computes: { primary: {} } },
      }),
    ),
}).meta({ id: "project", description: "a project with its branches" });

const account = strictObject({
  plan: z
    .enum(["paid", "free"])
    .optional()
    .meta(documented("plan of the account (default: the plan of the world)", "free")),
  projects: z
    .record(label, project)
    .default({})
    .meta(documented("projects of the account by label", { blog: {} })),
});

const limit = z.int().min(0).max(1_000_000);

/** The world at the start of a run. */
export const world = strictObject({
  file: z
    .string()
    .optional()
    .meta(
      documented(
        "a world file to start from, relative to this file, as standin record or standin export writes it; or a world in this file, as the console writes it: data:application/gzip;base64, and the compressed file",
        "recorded.sqlite",
      ),
    ),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .default(1)
    .meta(documented("determines every id, every duration and all traffic (default: 1)", 42)),
  start: instant
    .default(1_767_225_600_000)
    .meta(documented("where the clock starts (default: 2026-01-01T00:00:00Z)", "2026-03-29T00:00:00Z")),
  profile: z
    .enum(PROFILE_NAMES)
    .default(DEFAULT_PROFILE)
    .meta(
      documented(`the platform's numbers as of this year (default: ${DEFAULT_PROFILE})`, ...PROFILE_NAMES),
    ),
  plan: z
    .enum(["paid", "free"])
    .default("paid")
    .meta(documented("for accounts that set no plan (default: paid)", "free")),
  operations: z
    .enum(["timed", "immediate"])
    .default("timed")
    .meta(
      documented("timed: operations take time; immediate: they finish at once (default: timed)", "immediate"),
    ),
  durations: z
    .enum(["constant", "varied"])
    .default("constant")
    .meta(
      documented(
        "constant: each operation always takes the same time; varied: drawn from a distribution by the seed (default: constant)",
        "varied",
      ),
    ),
  sql_clock: z
    .enum(["machine", "world"])
    .default("machine")
    .meta(
      documented(
        "machine: now() in SQL is the clock of this machine; world: it is the clock of the scenario, which needs Linux and libfaketime (default: machine)",
        "world",
      ),
    ),
  start_delay: z
    .string()
    .refine((text) => parseDistribution(text) !== undefined, DISTRIBUTION_RULE)
    .optional()
    .meta(
      documented(
        "time a suspended compute needs to start: 3s, 1s..5s, or 3s~0.5 (median~sigma); default: from the profile",
        "3s",
        "1s..5s",
        "3s~0.5",
      ),
    ),
  limits: strictObject({
    projects: limit.exactOptional().meta(documented("largest number of projects per account", 10)),
    branches: limit.exactOptional().meta(documented("largest number of branches per project", 10)),
    endpoints: limit.exactOptional().meta(documented("largest number of computes per project", 20)),
    snapshots: limit.exactOptional().meta(documented("largest number of snapshots per project", 1)),
  })
    .optional()
    .meta(documented("override the limits of the plan", { branches: 10 })),
  accounts: z
    .record(label, account)
    .default({})
    .meta(
      documented("accounts by label (default: one account, main)", {
        company: { projects: { fleet: { count: 40 } } },
        hobby: { plan: "free", projects: { blog: {} } },
      }),
    ),
  projects: z
    .record(label, project)
    .default({})
    .meta(
      documented("projects of the account main, for files that need only one account", {
        shop: {},
      }),
    ),
});
/** `calibration`: of a profile file that replaces the profile of the scenario. */
export type WorldDescription = z.output<typeof world> & { readonly calibration?: Calibration | undefined };
