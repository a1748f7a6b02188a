import { JOURNALED_TABLES } from "../platform/core/tables.ts";
import type { DurationMs, SimTime } from "../platform/core/time.ts";
import type { World } from "../platform/core/world.ts";
import type { Journal } from "../simulation/journal.ts";

/** How long history is retained, in simulated time; absent: forever. */
export type Retention = {
  readonly history?: DurationMs | undefined;
  readonly operations?: DurationMs | undefined;
  /** At least this number of the newest events is retained, however old they are. */
  readonly minimumEvents?: number;
  /** Minimum number of events between two checkpoints. A checkpoint with many rows is taken less often. */
  readonly eventsPerCheckpoint?: number;
};

const EVENTS_PER_CHECKPOINT = 50_000;
/** Writing one row of a checkpoint costs about as much as replaying this number of events. */
const EVENTS_PER_CHECKPOINT_ROW = 20;
/** The same for a row of hourly usage: there are many, and each is only five numbers. */
const EVENTS_PER_CHECKPOINT_HOUR = 1;
/** In memory a checkpoint copies one pointer per row. Hourly usage is copied by ledger, three for each id. */
const EVENTS_PER_ROW_IN_MEMORY = 0.25;
const LEDGERS_PER_ID = 3;
const MINIMUM_EVENTS = 100_000;

/**
 * The sequence number at which the next checkpoint is due. Regular checkpoints bound the time to rebuild any
 * past world.
 */
export function nextCheckpointSeq(
  journal: Journal,
  seq: number,
  world: World,
  { eventsPerCheckpoint = EVENTS_PER_CHECKPOINT }: Retention,
): number {
  const hours = world.hourlyUsage.size;
  const rows = JOURNALED_TABLES.reduce((sum, name) => sum + world[name].size, -hours);
  if (journal.eventsPerCheckpoint !== undefined) {
    const pointers = rows + LEDGERS_PER_ID * world.usage.size;
    return seq + Math.max(journal.eventsPerCheckpoint, Math.ceil(EVENTS_PER_ROW_IN_MEMORY * pointers));
  }
  return (
    seq + Math.max(eventsPerCheckpoint, EVENTS_PER_CHECKPOINT_ROW * rows + EVENTS_PER_CHECKPOINT_HOUR * hours)
  );
}

/** Truncates history up to the newest checkpoint that is both old enough and far enough from the head. */
export function applyRetention(
  journal: Journal,
  head: number,
  now: SimTime,
  { history, operations, minimumEvents = MINIMUM_EVENTS }: Retention,
): void {
  const byTime = history === undefined ? 0 : journal.checkpointBefore({ at: now - history }).seq;
  const latest = Math.min(byTime, head - minimumEvents);
  const eventsUpTo =
    latest < journal.oldest.seq ? journal.oldest.seq : journal.checkpointBefore({ seq: latest }).seq;
  if (eventsUpTo === journal.oldest.seq && operations === undefined) return;
  journal.truncate({ eventsUpTo, operationsBefore: operations === undefined ? 0 : now - operations });
}
