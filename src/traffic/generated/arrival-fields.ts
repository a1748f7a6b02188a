import * as z from "zod";
import { distribution, upperBound } from "./distribution.ts";
import { documented, duration, strictObject } from "./pattern-fields.ts";

const MAX_QUERIES = 1_000_000;
const MAX_LOAD_VCPUS = 1_000_000;
export const countFrom = (minimum: number) => {
  const error = `must be a whole number from ${minimum} to ${MAX_QUERIES}, or {min, max} with such numbers`;
  const count = z.int({ error }).min(minimum, error).max(MAX_QUERIES, error);
  return z
    .union(
      [
        count,
        strictObject({
          min: count.meta(documented("smallest number, inclusive", 1)),
          max: count.meta(documented("largest number, inclusive", 5)),
        }),
      ],
      { error },
    )
    .refine((input) => typeof input === "number" || input.min <= input.max, {
      path: ["max"],
      error: "must not be smaller than min",
    });
};

/** Keys of every pattern: what one arrival does. */
export const arrivalFields = {
  kind: z
    .enum(["query", "transaction"])
    .default("query")
    .meta(documented("kind of each arrival (default: query)", "query", "transaction")),
  duration: distribution
    .prefault("0s")
    .meta(documented("how long each arrival keeps the compute busy (default: 0s)", "500ms", "200ms~1")),
  queries: countFrom(0)
    .default(1)
    .meta(
      documented("number of queries per arrival: a number, or {min, max} (default: 1)", 3, {
        min: 1,
        max: 5,
      }),
    ),
  load: z
    .number()
    .min(0)
    .max(MAX_LOAD_VCPUS)
    .optional()
    .meta(
      documented(
        "number of vCPUs that each arrival keeps busy, which drives autoscaling (default: none)",
        0.5,
      ),
    ),
};
export const spacing = z
  .enum(["random", "even"])
  .default("random")
  .meta(
    documented(
      "random: a Poisson process; even: constant distances at the current rate (default: random)",
      "random",
      "even",
    ),
  );
/** With gaps of only 0, time would never advance. */
export const positiveGap = distribution.refine((gaps) => upperBound(gaps) > 0, "must be able to exceed 0");
export const jitter = duration
  .default(0)
  .meta(documented("delays each arrival by up to this much; arrivals keep their order (default: 0)", "5s"));
