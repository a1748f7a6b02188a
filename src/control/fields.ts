import * as z from "zod";
import { END_OF_TIME, parseDuration } from "../platform/time.ts";

/** `90s`, `10m`, `2h`, `7d` or milliseconds. */
export const duration = z.union([z.string(), z.number()]).transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  context.addIssue({
    code: "custom",
    message: "must be a duration like 90s, 10m, 2h or 7d, or whole milliseconds, that ends before the year 10000",
  });
  return z.NEVER;
});

/** An ISO 8601 instant, with `Z` or an offset. */
export const instant = z.iso
  .datetime({ offset: true, message: "must be an ISO 8601 instant like 2026-01-31T12:00:00Z" })
  .transform((text) => Date.parse(text))
  .refine((at) => at >= 0 && at <= END_OF_TIME, "must lie between the years 1970 and 9999");

const count = z.int().min(0).max(1_000_000_000_000);
const label = z.string().min(1).max(256);

export const activity = z.strictObject({
  endpoint_id: z.string().regex(/^ep-[a-z0-9-]{1,57}$/, "must be the id of an endpoint, like ep-silent-smoke-80663912"),
  at: instant.optional(),
  kind: z.enum(["query", "transaction", "connect", "disconnect"]).default("query"),
  duration_ms: z.int().min(0).max(END_OF_TIME).optional(),
  queries: count.optional(),
  connection_id: label.optional(),
  database: label.optional(),
  pooled: z.boolean().optional(),
  source: label.optional(),
  load: z.number().min(0).max(1_000_000).optional(),
  blocks: z.strictObject({ hits: count.default(0), misses: count.default(0), writes: count.default(0) }).optional(),
});

export const accountId = z.string().regex(/^[a-z0-9-]{1,60}$/, "must be 1 to 60 of a-z, 0-9 and -");
