import * as z from "zod";
import { documented, strictObject } from "../../traffic/generated/pattern-fields.ts";
import { PATTERNS, patternWith } from "../../traffic/generated/patterns.ts";
import { RECORDING_FORMATS } from "../../traffic/recorded/read-recording.ts";
import { ARRIVAL_FIELDS, type ArrivalField } from "../../traffic/recorded/rows/arrival-row.ts";
import { when } from "./time-fields.ts";

const sourceFields = {
  name: z
    .string()
    .min(1)
    .max(100)
    .meta(documented("names its random stream, so adding a source changes no other source", "shoppers")),
  to: z
    .union([z.string(), z.array(z.string()).min(1)])
    .meta(
      documented(
        "labels of computes, or of branches for their primary computes; * selects all matches, each with its own random stream",
        "shop/main",
        "fleet-*/main",
        ["shop/main/primary", "shop/main/replica-1"],
      ),
    ),
  from: when
    .optional()
    .meta(documented("when the source starts, inclusive (default: the start of the run)", "10m")),
  until: when
    .optional()
    .meta(documented("when the source ends, exclusive (default: the end of the run)", "2h")),
};

const COLUMNS: Readonly<Record<ArrivalField, readonly [description: string, example: string]>> = {
  endpoint: ["column with the endpoint that received the arrival", "endpoint_id"],
  at: ["column with the instant of the arrival", "start_time"],
  duration: ["column with the duration of the arrival", "duration_ms"],
  source: ["column with the name of the source", "application_name"],
  kind: ["column with the kind of the arrival: query, transaction and so on", "kind"],
  queries: ["column with the number of queries", "query_count"],
  connection: ["column with the name of the connection", "session_id"],
};
const columns = Object.fromEntries(
  ARRIVAL_FIELDS.map((field) => [
    field,
    z
      .string()
      .exactOptional()
      .meta(documented(...COLUMNS[field])),
  ]),
) as Record<ArrivalField, z.ZodExactOptional<z.ZodString>>;

const replayTraffic = strictObject({
  ...sourceFields,
  pattern: z.literal("replay").meta(documented("replays recorded traffic unchanged", "replay")),
  file: z
    .string()
    .min(1)
    .meta(documented("path relative to this file: CSV, NDJSON, or the journal of a world", "traffic.csv")),
  format: z
    .enum(RECORDING_FORMATS)
    .optional()
    .meta(documented("format of the recording (default: from the extension of the file name)", "csv")),
  columns: strictObject(columns)
    .optional()
    .meta(documented("the column or key of each field; other fields are guessed", { at: "start_time" })),
  computes: z
    .record(z.string(), z.string())
    .optional()
    .meta(
      documented("maps endpoints of the recording to computes; the others go to `to`", {
        "ep-quiet-sun-a1b2c3": "shop/main",
      }),
    ),
  align: z
    .enum(["start", "clock"])
    .default("start")
    .meta(
      documented(
        "start: the first arrival comes when the source starts; clock: each arrival keeps its own instant (default: start)",
        "start",
        "clock",
      ),
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
