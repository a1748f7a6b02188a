import * as z from "zod";
import { MAX } from "../../input-limits/limits.ts";
import { documented, positiveDuration, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { captureFrom } from "./capture.ts";

const SQLSTATE_RULE = 'must be a SQLSTATE of five characters in quotes, such as "23505"';

/** One statement on a compute. */
export const sqlStep = strictObject({
  on: z
    .string()
    .meta(documented("a compute, or a branch for its primary compute", "shop/main", "shop/main/replica-1")),
  query: z
    .string()
    .min(1)
    .meta(
      documented(
        "one statement; {name} becomes an id or a captured value, {{name}} stands for literal braces",
        "insert into orders values ($1)",
      ),
    ),
  params: z
    .array(z.unknown())
    .default([])
    .meta(documented("values of $1, $2 and so on", [1, "{order}"])),
  database: z
    .string()
    .min(1)
    .optional()
    .meta(documented("database (default: the first one of the branch)", "neondb")),
  role: z
    .string()
    .min(1)
    .optional()
    .meta(documented("role that executes it (default: the owner of the database)", "neondb_owner")),
  pooled: z
    .boolean()
    .default(false)
    .meta(documented("whether the connection goes through the pooler (default: false)", true)),
  timeout: positiveDuration
    .refine((ms) => ms <= MAX.statementMs, "must not be longer than 1h")
    .default(60_000)
    .meta(documented("wall-clock time after which the statement is cancelled (default: 60s)", "5s")),
  rows: z
    .array(z.record(z.string(), z.unknown()))
    .optional()
    .meta(
      documented("expected rows, all of them in order; of each row, only these columns", [{ orders: 2 }]),
    ),
  row_count: z
    .int()
    .min(0)
    .optional()
    .meta(documented("expected number of rows that the statement returned or changed", 2)),
  error: z
    .string(SQLSTATE_RULE)
    .regex(/^[0-9A-Z]{5}$/, SQLSTATE_RULE)
    .optional()
    .meta(documented("expected error, by its SQLSTATE (default: no error)", "23505")),
  capture: captureFrom("rows", { order: "0.id" }),
});

export type SqlStep = z.output<typeof sqlStep>;
