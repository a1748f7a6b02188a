import type { DurationMs, SimTime } from "../kernel/time.ts";
import { JOURNALED_TABLES } from "../platform/world/tables.ts";
import type { World } from "../platform/world/world.ts";
import type { CheckpointPosition, Journal } from "../simulation/journal.ts";

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
/** The minimum if history waits for a checkpoint to be truncated. */
const EVENTS_PER_RETENTION_CHECKPOINT = 1_000;
/**
 * Minimum number of events per row of a checkpoint. A row takes 1.7 µs of the thread and 20 bytes. An event takes 25 µs
 * and 160 bytes when it happens, and 3.2 µs when it is replayed. So checkpoints add a thirtieth to the time of events, and
 * a replay from the nearest checkpoint takes at most four times as long as writing it.
 */
const EVENTS_PER_CHECKPOINT_ROW = 2;
/** Minimum number of events per row of hourly usage. There are many such rows, and each has only five numbers. */
const EVENTS_PER_CHECKPOINT_HOUR = 0.5;
/** In memory a checkpoint copies one pointer per row. Hourly usage is copied by ledger, three for each id. */
const EVENTS_PER_ROW_IN_MEMORY = 0.25;
const LEDGERS_PER_ID = 3;
export const MINIMUM_EVENTS = 100_000;
/** Checkpoints and truncations are made once in this part of the retention time. */
const RETENTION_PARTS = 8;

/** The next checkpoint is due at `seq`, or at `earliestSeq` once `at` is reached. */
export type CheckpointDue = { readonly seq: number; readonly earliestSeq: number; readonly at: SimTime };

/**
 * When the next checkpoint after `last` is due. Regular checkpoints bound the time to rebuild any past world,
 * and history is truncated up to a checkpoint.
 */
export function nextCheckpoint(
  journal: Journal,
  last: CheckpointPosition,
  world: World,
  { eventsPerCheckpoint = EVENTS_PER_CHECKPOINT, history = Number.POSITIVE_INFINITY }: Retention,
): CheckpointDue {
  const hours = world.hourlyUsage.size;
  const rows = JOURNALED_TABLES.reduce((sum, name) => sum + world[name].size, -hours);
  const pointers = rows + LEDGERS_PER_ID * world.usage.size;
  const minimum =
    journal.eventsPerCheckpoint === undefined
      ? Math.ceil(EVENTS_PER_CHECKPOINT_ROW * rows + EVENTS_PER_CHECKPOINT_HOUR * hours)
      : Math.ceil(EVENTS_PER_ROW_IN_MEMORY * pointers);
  const regular = journal.eventsPerCheckpoint ?? eventsPerCheckpoint;
  return {
    seq: last.seq + Math.max(regular, minimum),
    earliestSeq: last.seq + Math.max(Math.min(regular, EVENTS_PER_RETENTION_CHECKPOINT), minimum),
    at: Math.max(last.at, world.settings.startAt) + history / RETENTION_PARTS,
  };
}

export function isCheckpointDue({ seq, at }: CheckpointPosition, due: CheckpointDue): boolean {
  return seq >= due.seq || (at >= due.at && seq >= due.earliestSeq);
}

/** When history is truncated next. */
export function nextTruncation(now: SimTime, { history, operations }: Retention): SimTime {
  return (
    now + Math.min(...[history, operations].map((age) => age ?? Number.POSITIVE_INFINITY)) / RETENTION_PARTS
  );
}

/** Truncates history up to the newest checkpoint that is both old enough and far enough from the head. */
export function applyRetention(
  journal: Journal,
  { seq: head, settings }: World,
  now: SimTime,
  { history, operations, minimumEvents = MINIMUM_EVENTS }: Retention,
): void {
  const byTime = history === undefined ? 0 : journal.checkpointPositionBefore({ at: now - history }).seq;
  const latest = Math.min(byTime, head - minimumEvents);
  const eventsUpTo =
    latest < journal.oldest.seq ? journal.oldest.seq : journal.checkpointPositionBefore({ seq: latest }).seq;
  const operationsBefore = operations === undefined ? 0 : now - operations;
  if (eventsUpTo === journal.oldest.seq && operationsBefore <= settings.startAt) return;
  journal.truncate({ eventsUpTo, operationsBefore });
}
