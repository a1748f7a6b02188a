import * as z from "zod";
import { RECORDING_FORMATS } from "../../recordings/read-recording.ts";
import { ARRIVAL_FIELDS, type ArrivalField } from "../../recordings/rows/arrival-row.ts";
import { strictObject } from "../../traffic/pattern-fields.ts";
import { PATTERNS, patternWith } from "../../traffic/patterns.ts";
import { when } from "./time-fields.ts";

const sourceFields = {
  name: z
    .string()
    .min(1)
    .max(100)
    .describe("names its random stream, so adding a source changes no other source"),
  to: z
    .union([z.string(), z.array(z.string()).min(1)])
    .describe(
      "computes, or branches for their primary computes; fleet-*/main selects all matches, each with its own random stream",
    ),
  from: when.optional().describe("default: the start of the run"),
  until: when.optional().describe("default: the end of the run"),
};

const columns = Object.fromEntries(
  ARRIVAL_FIELDS.map((field) => [field, z.string().exactOptional()]),
) as Record<ArrivalField, z.ZodExactOptional<z.ZodString>>;

const replayTraffic = strictObject({
  ...sourceFields,
  pattern: z.literal("replay").describe("replays recorded traffic unchanged"),
  file: z.string().min(1).describe("path relative to this file: CSV, NDJSON, or the journal of a world"),
  format: z.enum(RECORDING_FORMATS).optional().describe("default: from the extension of the file name"),
  columns: strictObject(columns)
    .optional()
    .describe("the column or key of each field, such as at: start_time; other fields are guessed"),
  computes: z
    .record(z.string(), z.string())
    .optional()
    .describe("maps endpoints of the recording to computes; the others go to `to`"),
  align: z
    .enum(["start", "clock"])
    .default("start")
    .describe(
      "start: the first arrival comes when the source starts; clock: each arrival keeps its own instant",
    ),
});

const patternTraffic = patternWith(sourceFields);

/** Traffic from a pattern of `traffic/` or from a recording, with its targets and its time window. */
export const scenarioTraffic = z.discriminatedUnion("pattern", [...patternTraffic.options, replayTraffic], {
  error: `must be one of ${[...PATTERNS, "replay"].join(", ")}`,
});
export type ScenarioTraffic = z.output<typeof scenarioTraffic>;
export type ReplayTraffic = z.output<typeof replayTraffic>;
/** Whether a source reacts to the world at the same instant, which only an in-process world supports. */
export function isClosedLoop({ pattern }: Pick<ScenarioTraffic, "pattern">): boolean {
  return pattern === "health-check" || pattern === "subscriber";
}
