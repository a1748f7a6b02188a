import type { NumberUnit } from "./decimal.ts";

/** What the columns are called where one finds recorded traffic, the most telling names first: scenarios and what-if experiments read alike. */
export const COLUMN_NAMES = {
  endpoint: [
    "endpoint_id",
    "endpoint",
    "compute_id",
    "compute",
    "instance_id",
    "warehouse_id",
    "app",
    "database",
    "database_name",
    "label",
  ],
  at: [
    "at",
    "timestamp",
    "time",
    "ts",
    "started_at",
    "start_time",
    "arrival_timestamp",
    "arrival_time",
    "created_at",
    "date",
  ],
  duration: [
    "duration_ms",
    "duration_s",
    "duration_seconds",
    "duration_us",
    "duration_ns",
    "duration",
    "elapsed_ms",
    "latency_ms",
  ],
  source: ["source", "application_name", "client", "user_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const UNIT_BY_SUFFIX: readonly (readonly [RegExp, NumberUnit])[] = [
  [/_(s|sec|secs|seconds)$/i, "s"],
  [/_(us|micros|microseconds)$/i, "us"],
  [/_(ns|nanos|nanoseconds)$/i, "ns"],
];

/** The unit of durations in a column of this name: milliseconds, unless it ends in `_s`, `_us`, `_ns` or the like. */
export function durationUnitOf(name: string | undefined): NumberUnit {
  return UNIT_BY_SUFFIX.find(([pattern]) => pattern.test(name ?? ""))?.[1] ?? "ms";
}
