import { JOURNALED_TABLES } from "../platform/core/tables.ts";
import type { DurationMs, SimTime } from "../platform/core/time.ts";
import type { World } from "../platform/core/world.ts";
import type { Journal } from "../simulation/journal.ts";

/** How long history is kept, on the world's clock; absent: for ever. A short history is kept whole, however old. */
export type Retention = {
  readonly history?: DurationMs | undefined;
  readonly operations?: DurationMs | undefined;
  /** So many events are kept in any case. */
  readonly minimumEvents?: number;
  /** A checkpoint is taken when so many have come since the last one, or more where it would have many rows. */
  readonly eventsPerCheckpoint?: number;
};

const EVENTS_PER_CHECKPOINT = 50_000;
/** To write down a row costs about as much as to fold so many events. */
const EVENTS_PER_CHECKPOINT_ROW = 20;
/** Of these there are many, and each is five numbers. */
const EVENTS_PER_CHECKPOINT_HOUR = 1;
/** A row that stays where it is costs a checkpoint a pointer; the hours are copied by the ledger, of which each id has three. */
const EVENTS_PER_ROW_IN_MEMORY = 0.25;
const LEDGERS_PER_ID = 3;
const MINIMUM_EVENTS = 100_000;

/** Every now and then one is taken, so that no past is far from it: the sequence number from which on that is to be. */
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

/** What is older than it needs to be kept is forgotten, up to the newest checkpoint that is both old enough and far enough from the head. */
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
