import type { DurationMs, SimTime } from "../../../src/kernel/time.ts";
import {
  ACTIVITY_ACTIONS,
  type ComputeOperations,
  DECISIVE_STATUSES,
} from "../../../src/whatif/periods/compute-operations.ts";
import { type ActivePeriod, PeriodColumns } from "../../../src/whatif/periods/period-columns.ts";

/** One operation of a compute, as an account shows it. */
export type ComputeOperation = {
  readonly action: string;
  readonly status: string;
  /** The whole second in which it was scheduled. */
  readonly createdAt: SimTime;
  readonly durationMs: DurationMs;
};

/** Converts operations to columns as a file reader does: oldest first. */
export function operationColumns(operations: readonly ComputeOperation[]): ComputeOperations {
  const position = (list: readonly string[], value: string) =>
    list.includes(value) ? list.indexOf(value) : list.length;
  return {
    createdAt: Float64Array.from(operations, ({ createdAt }) => createdAt),
    durationMs: Float64Array.from(operations, ({ durationMs }) => durationMs),
    action: Uint8Array.from(operations, ({ action }) => position(ACTIVITY_ACTIONS, action)),
    status: Uint8Array.from(operations, ({ status }) => position(DECISIVE_STATUSES, status)),
  };
}

export function periodColumns(periods: readonly ActivePeriod[]): PeriodColumns {
  const columns = new PeriodColumns(periods.length);
  for (const period of periods) columns.add(period);
  return columns;
}
