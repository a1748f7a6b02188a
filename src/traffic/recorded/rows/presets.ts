import { utcInstant } from "../../../kernel/calendar.ts";
import type { SimTime } from "../../../kernel/time.ts";
import type { ColumnMapping } from "./column-mapping.ts";
import type { NumberUnit } from "./decimal.ts";

/** How to read the columns of a published data set. */
export type Preset = {
  readonly mapping: ColumnMapping;
  readonly timeUnit?: NumberUnit;
  readonly durationUnit: NumberUnit;
  readonly origin?: SimTime;
  /** The text of a missing value. */
  readonly missing?: string;
  /** A caveat for results from this data set. */
  readonly note: string;
};

export type PresetName = "azure-functions-2021" | "redset" | "snowset";

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  /**
   * Azure Functions Invocation Trace 2021: `app, func, end_timestamp, duration`, in seconds, two weeks from
   * 2021-01-31, timestamps "have been modified" (github.com/Azure/AzurePublicDataset,
   * AzureFunctionsInvocationTrace2021.md). An app is the unit that is kept warm. That time starts at midnight
   * UTC of that day is an assumption.
   */
  "azure-functions-2021": {
    mapping: { endpoint: "app", end: "end_timestamp", duration: "duration", source: "func" },
    timeUnit: "s",
    durationUnit: "s",
    origin: utcInstant(2021, 1, 31),
    note: "azure-functions-2021: hours of the day are a guess, because the data set only states its first day",
  },
  /**
   * Redset: `instance_id, arrival_timestamp, compile_duration_ms, queue_duration_ms, execution_duration_ms,
   * user_id …` (github.com/amazon-science/redset, README.md). A query occupies its cluster from arrival to
   * answer, so all three durations count.
   */
  redset: {
    mapping: {
      endpoint: "instance_id",
      at: "arrival_timestamp",
      duration: "compile_duration_ms+queue_duration_ms+execution_duration_ms",
      source: "user_id",
    },
    durationUnit: "ms",
    note: "redset: its instances were selected for being busy and do not represent a fleet (its README)",
  },
  /**
   * Snowset: `warehouseId, createdTime (UTC), durationTotal (ms), databaseId …`, `\N` for a missing value
   * (github.com/resource-disaggregation/snowset, schema.md).
   */
  snowset: {
    mapping: { endpoint: "warehouseId", at: "createdTime", duration: "durationTotal", source: "databaseId" },
    durationUnit: "ms",
    missing: "\\N",
    note: "snowset: queries answered without their warehouse count as if they had kept it active",
  },
};

/** The data set with these columns. */
export function presetOf(names: readonly string[]): PresetName | undefined {
  const has = (...columns: readonly string[]) => columns.every((name) => names.includes(name));
  if (has("app", "func", "end_timestamp", "duration")) return "azure-functions-2021";
  if (has("instance_id", "arrival_timestamp", "execution_duration_ms")) return "redset";
  return has("warehouseId", "createdTime", "durationTotal") ? "snowset" : undefined;
}
