import * as z from "zod";
import { clockInstant } from "../control-api/http/control-fields.ts";
import { parsedText } from "../http/fields.ts";
import { issueText } from "../input-limits/issue-text.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../kernel/distribution.ts";
import { SECRET_PATTERN, SECRET_RULE } from "../platform/model/api-key.ts";
import { HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE } from "../platform/rules/compute/host-name.ts";
import { CLOCK_RULE, parseClockSetting } from "../simulation/world-clock.ts";

const planLimit = (minimum: number) => {
  const rule = `must be a whole number from ${minimum}, or plan`;
  return z.union([z.literal("plan"), z.int(rule).min(minimum, rule)], rule);
};

const POSTGRES_RULE =
  "must be true, false, or { engineBin: <directory>, engineVersion: exact or nearest, sqlClock: machine or world }";

const options = z.strictObject({
  seed: z.int().min(0).optional(),
  clock: parsedText(parseClockSetting, CLOCK_RULE).optional(),
  startAt: clockInstant.optional(),
  profile: z.string().min(1).optional(),
  plan: z.enum(["paid", "free"]).optional(),
  operations: z.enum(["timed", "immediate"]).optional(),
  locks: z.enum(["narrow", "parallel-branches", "project"]).optional(),
  durations: z.enum(["varied", "constant"]).optional(),
  answers: z.enum(["reference", "recorded"]).optional(),
  startDelay: z
    .union([z.literal("profile"), parsedText(parseDistribution, `${DISTRIBUTION_RULE}, or profile`)])
    .optional(),
  limits: z
    .strictObject({
      projects: planLimit(0).exactOptional(),
      branches: planLimit(1).exactOptional(),
      endpoints: planLimit(1).exactOptional(),
      snapshots: planLimit(0).exactOptional(),
    })
    .optional(),
  hostDomain: z.string().regex(HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE).optional(),
  apiKey: z.string().regex(SECRET_PATTERN, SECRET_RULE).optional(),
  rateLimit: z.boolean().default(false),
  data: z.string().min(1).optional(),
  port: z.union([z.int().min(0).max(65_535), z.literal(false)]).default(0),
  postgres: z
    .union(
      [
        z.boolean(),
        z.strictObject({
          engineBin: z.string().min(1).exactOptional(),
          engineVersion: z.enum(["exact", "nearest"]).exactOptional(),
          sqlClock: z.enum(["machine", "world"]).exactOptional(),
        }),
      ],
      POSTGRES_RULE,
    )
    .default(false)
    .transform((value) => (value === true ? {} : value === false ? undefined : value)),
});

type ParsedOptions =
  | { readonly options: z.output<typeof options>; readonly problem?: undefined }
  | { readonly options?: undefined; readonly problem: string };

/** The options of `createStandin`, parsed, or every problem with them. */
export function parseStandinOptions(input: unknown): ParsedOptions {
  const result = options.safeParse(input, { error: issueText });
  if (result.success) return { options: result.data };
  const problems = result.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? "options" : path.join(".")}: ${message}`,
  );
  return { problem: problems.join("; ") };
}
