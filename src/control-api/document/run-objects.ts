import * as z from "zod";
import { instant } from "./answer-objects.ts";

const step = { place: z.string(), name: z.string(), detail: z.string().optional() };
const condition = {
  what: z.string(),
  expected: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
};

const list = <T extends z.ZodType>(item: T) => z.array(item).readonly();

/** A scenario run that a server shows. */
export const runState = z.strictObject({
  /** Increases with each change. */
  version: z.int(),
  title: z.string(),
  file: z.string(),
  /** The clock of the run; null before it has begun. */
  now: instant.nullable(),
  /** `paused` waits for an action; `passed` and those after it are final. */
  status: z.enum(["paused", "playing", "passed", "failed", "could_not_run"]),
  /** Why it is in this status. */
  reason: z.string(),
  /** The steps of the file. Those within a `repeat` or `parallel` are in `results` only. */
  steps: list(
    z.strictObject({
      ...step,
      state: z.enum(["waiting", "current", "passed", "failed"]),
      at: instant.optional(),
    }),
  ),
  /** The newest results of steps, oldest first. */
  results: list(z.strictObject({ ...step, at: instant, ok: z.boolean() })),
  expectations: list(
    z.strictObject({
      ...condition,
      result: z.enum(["passed", "failed", "not_checked"]),
      checks: z.int(),
      measure: z.string(),
      value: z.union([z.number(), z.string()]).optional(),
      at: instant.optional(),
      margin: z.number().optional(),
    }),
  ),
  failures: list(
    z.strictObject({
      ...condition,
      at: instant,
      actual: z.string(),
      expectation: z.string().optional(),
      broken_by: z.string().optional(),
      last_change: z.string().optional(),
      caused_by: list(z.string()),
    }),
  ),
});
