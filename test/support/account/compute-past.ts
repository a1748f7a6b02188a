import type { ComputePast } from "../../../src/cli/recorded-past/account-past.ts";
import { HOUR, SECOND } from "../../../src/kernel/time.ts";
import { operationColumns } from "./operation-columns.ts";

/** The instant from which rows count. */
export const T0 = Date.UTC(2026, 0, 5);
/** When the compute was read last. */
export const READ_AT = T0 + 2 * HOUR;

export type OperationRow = readonly [action: string, atS: number, durationMs?: number, status?: string];

/** A compute with the default delay, which was created an hour before the first operation. */
export function computePast(rows: readonly OperationRow[], changes: Partial<ComputePast> = {}): ComputePast {
  const operations = operationColumns(
    rows.map(([action, atS, durationMs = 0, status = "finished"]) => ({
      ...{ action, status, createdAt: T0 + atS * SECOND, durationMs },
    })),
  );
  const settings = [0, 2].map((hours) => ({
    ...{ first_seen_at: T0 + hours * HOUR, last_seen_at: T0 + hours * HOUR, min_cu: 1, max_cu: 1 },
    ...{ suspend_timeout_seconds: 0, disabled: 0 },
  }));
  return {
    ...{ number: 1, id: "ep-main", project: "shop", projectName: "shop", branch: "br-main" },
    ...{ type: "read_write", created_at: T0 - HOUR, isTypeKnown: true, existsFrom: T0 - HOUR },
    ...{ existsUntil: undefined, readAt: READ_AT, lastActiveAt: undefined, settings, operations },
    ids: rows.map((_, index) => `op-${index}`),
    failures: rows.map(() => 0),
    ...changes,
  };
}
