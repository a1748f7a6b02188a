import type { SimTime } from "../../kernel/time.ts";
import type { JournalStatements } from "./journal-statements.ts";
import type { StoredEvents } from "./stored-events.ts";

/**
 * Truncated events and operations that each write deletes: a fixed number plus twice the number of events
 * written, so that pruning keeps up with writing.
 */
export const PRUNED_PER_WRITE = 500;
export const PRUNED_PER_EVENT = 2;
/** The number that one call of `prune` deletes. */
export const PRUNED_PER_CALL = 5_000;

/**
 * Truncated rows that still exist: events from `firstEvent` on, operations after number `fromOperation`
 * (`undefined`: none).
 */
export type PruneBacklog = {
  readonly firstEvent: number;
  readonly fromOperation: number | undefined;
  readonly operationsBefore: SimTime;
};

export function isPruned({ firstEvent, fromOperation }: PruneBacklog, oldestSeq: number): boolean {
  return firstEvent > oldestSeq && fromOperation === undefined;
}

/**
 * Deletes up to `limit` truncated events (up to and including `oldestSeq`) and operations; returns the rest. The
 * caller opens the transaction.
 */
export function pruneSome(
  events: Pick<StoredEvents, "deleteBefore">,
  { operationsAfter, deleteOperations }: JournalStatements,
  backlog: PruneBacklog,
  oldestSeq: number,
  limit: number,
): PruneBacklog {
  if (isPruned(backlog, oldestSeq)) return backlog;
  const { firstEvent, fromOperation, operationsBefore } = backlog;
  const nextEvent = Math.min(firstEvent + limit, oldestSeq + 1);
  if (nextEvent > firstEvent) events.deleteBefore(nextEvent);
  if (fromOperation === undefined) return { firstEvent: nextEvent, fromOperation, operationsBefore };
  const portion = operationsAfter.all(fromOperation, limit);
  const last = portion.at(-1);
  if (last !== undefined) deleteOperations.run(fromOperation, last.number, operationsBefore);
  const isLast = last === undefined || portion.length < limit || last.updated_at >= operationsBefore;
  return { firstEvent: nextEvent, fromOperation: isLast ? undefined : last.number, operationsBefore };
}
