import * as z from "zod";
import { instant } from "./answer-objects.ts";

const rule = { check: z.string(), rule: z.string(), evidence: z.string() };

const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

/** The content of `agreement.json` of `standin shadow` (docs/reference/shadow.md). */
export const agreement = z.object({
  version: z.literal(1),
  api: z.string(),
  since: instant,
  until: instant,
  profile: z.string(),
  agrees: z.boolean(),
  tolerance: z.int(),
  checks: list(
    z.object({
      ...rule,
      compared: z.int(),
      skipped: z.int(),
      surprises: z.int(),
      differences_ms: z
        .object({ least: z.number(), median: z.number(), p95: z.number(), most: z.number() })
        .nullable(),
      note: z.string().nullable(),
    }),
  ),
  surprises: list(
    z.object({
      ...rule,
      project: z.string().nullable(),
      compute: z.string().nullable(),
      operation: z.string().nullable(),
      at: instant,
      text: z.string(),
    }),
  ),
});
