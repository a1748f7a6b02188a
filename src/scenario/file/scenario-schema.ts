import * as z from "zod";
import { documented, duration, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { expectation } from "./expectation.ts";
import { failed } from "./failed-schema.ts";
import { step } from "./step-schema.ts";
import { scenarioTraffic } from "./traffic-schema.ts";
import { world } from "./world-schema.ts";

const values = z.union([
  z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  strictObject({
    from: z.int().meta(documented("first number of the range", 1)),
    to: z.int().meta(documented("last number of the range, inclusive", 20)),
  }).refine(
    ({ from, to }) => from <= to && to - from < 10_000,
    "from must not be above to, and the range may hold at most 10,000 values",
  ),
]);

/** A scenario as its file states it. */
export const scenario = strictObject({
  version: z.literal(1).meta(documented("version of the format", 1)),
  name: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta(
      documented("name of the scenario (default: the name of the file)", "one cold start in the morning"),
    ),
  about: z
    .string()
    .optional()
    .meta(documented("what the scenario shows", "The first visitor of the day waits for the start.")),
  world: world.prefault({}).meta(
    documented("the world at the start of the run (default: one account without projects)", {
      projects: { shop: {} },
    }),
  ),
  traffic: z
    .array(scenarioTraffic)
    .default([])
    .meta(
      documented("sources of traffic; see docs/reference/traffic.md", [
        { name: "shoppers", to: "shop/main", pattern: "poisson", rate: "4/hour", duration: "500ms~1" },
      ]),
    ),
  steps: z
    .array(step)
    .default([])
    .meta(
      documented("actions, in order; without steps, length is required", [
        { at: "10m", activity: { to: "shop/main", outcome: "waits" } },
      ]),
    ),
  state: z
    .string()
    .optional()
    .meta(
      documented(
        "expected state of the world at the end, copied from the state of an earlier verdict",
        "5f70bf18a086007016e948b04aed3b82",
      ),
    ),
  length: duration
    .optional()
    .meta(documented("duration of the run (default: until the last step ends)", "1d")),
  expect: z
    .array(expectation)
    .default([])
    .meta(documented("conditions that must hold at the end", [{ wait_max: { max: "5s" } }, { errors: 0 }])),
  always: z
    .array(expectation)
    .default([])
    .meta(documented("conditions that must hold at every instant", [{ connections: { max: 100 } }])),
  never: z
    .array(expectation)
    .default([])
    .meta(documented("conditions that must not hold at any instant", [{ active_computes: { min: 2 } }])),
  matrix: z
    .record(z.string().regex(/^[a-z][a-z0-9_]*$/), values)
    .optional()
    .meta(
      documented(
        "runs the scenario once for each combination of these values; refer to a value by a dollar sign and its name in braces",
        { delay: [60, 300, 900], seed: { from: 1, to: 3 } },
      ),
    ),
  failed: failed.optional().meta(
    documented("of a file that standin wrote because something failed: what, and the world at that instant", {
      version: 1,
      by: "run",
      what: "step 2",
      at: "2026-01-01T00:10:00.000Z",
      message: "expected status 201, got 423 BRANCH_LOCKED",
      world: "shop.failed.sqlite",
    }),
  ),
  $schema: z
    .string()
    .optional()
    .meta(documented("for JSON files: location of this schema", "scenario.schema.json")),
}).describe("a standin scenario; see docs/reference/scenario-file.md");

export type Scenario = z.output<typeof scenario>;
