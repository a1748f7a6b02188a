import * as z from "zod";
import { RECORDED_FIELDS, type RecordedField } from "../../recordings/rows/recorded-row.ts";
import { strictObject } from "../../traffic/pattern-fields.ts";
import { PATTERNS, patternWith } from "../../traffic/patterns.ts";
import { when } from "./time-fields.ts";

const sourceFields = {
  name: z.string().min(1).max(100).describe("names its stream of chance: adding a source changes no other"),
  to: z
    .union([z.string(), z.array(z.string()).min(1)])
    .describe(
      "computes, or branches for their primaries; fleet-*/main means all of them, each with a stream of its own",
    ),
  from: when.optional().describe("left out: from the start"),
  until: when.optional().describe("left out: to the end"),
};

const columns = Object.fromEntries(
  RECORDED_FIELDS.map((field) => [field, z.string().exactOptional()]),
) as Record<RecordedField, z.ZodExactOptional<z.ZodString>>;

const replayTraffic = strictObject({
  ...sourceFields,
  pattern: z.literal("replay").describe("what was recorded, as it was"),
  file: z.string().min(1).describe("beside this file: CSV, NDJSON, or a world's journal"),
  format: z.enum(["csv", "ndjson", "journal"]).optional().describe("left out: by the end of the file's name"),
  columns: strictObject(columns)
    .optional()
    .describe("which column is what: at: start_time; what is not named is guessed"),
  computes: z
    .record(z.string(), z.string())
    .optional()
    .describe("whom an endpoint of the recording stands for; others go to `to`"),
  align: z
    .enum(["start", "clock"])
    .default("start")
    .describe("start: the first one arrives when the source begins; clock: each at its own instant"),
});

const patternTraffic = patternWith(sourceFields);

/** Traffic by a pattern of `traffic/` or from a recording, and whom it hits when. */
export const scenarioTraffic = z.discriminatedUnion("pattern", [...patternTraffic.options, replayTraffic], {
  error: `must be one of ${[...PATTERNS, "replay"].join(", ")}`,
});
export type ScenarioTraffic = z.output<typeof scenarioTraffic>;
export type ReplayTraffic = z.output<typeof replayTraffic>;

/** Whether a source answers to what the world does: at the very instant, which only a world in this process can tell. */
export function isClosedLoop({ pattern }: Pick<ScenarioTraffic, "pattern">): boolean {
  return pattern === "health-check" || pattern === "subscriber";
}
