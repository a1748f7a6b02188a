import type { SimTime } from "../platform/core/time.ts";
import { emptyWorld, type World } from "../platform/core/world.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { evolve } from "../platform/evolve.ts";
import { accept, type Result, refuse } from "../platform/refusals.ts";
import { worldFromCheckpoint } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";

/** A point in history: after an event, or after all that had happened up to an instant. */
export type PointSelector = { readonly seq: number } | { readonly at: SimTime };

/** A point as it is in a history: never within a decision, for no world was ever in such a state. */
export type HistoryPoint = { readonly seq: number; readonly at: SimTime };

/** So many events are folded before others get a word in: a millisecond's worth, and few enough to be forgotten young. */
const EVENTS_PER_PORTION = 500;
/** Most decisions have fewer events. */
const EVENTS_PER_READ = 32;

/** Folds a history into a world, by default an empty one. Draws nothing, decides nothing: the same events always give the same world. */
export function replay(events: Iterable<RecordedEvent>, world = emptyWorld()): World {
  // Nobody keeps the rows of a world that is folded.
  world.changes.trackOnly([]);
  for (const event of events) evolve(world, event);
  return world;
}

/** Where a point lies in a history that has come to `head`. A sequence number within a decision means the whole of it. */
export function resolvePoint(
  journal: Journal,
  point: PointSelector,
  head: HistoryPoint,
): Result<HistoryPoint> {
  const { oldest } = journal;
  if ("at" in point ? point.at > head.at : point.seq > head.seq) {
    return refuse(
      "POINT_NOT_REACHED",
      `history has come to event ${head.seq} and this point lies ahead of it`,
    );
  }
  const isTruncated = "at" in point ? oldest.seq > 0 && point.at < oldest.at : point.seq < oldest.seq;
  if (isTruncated) {
    return refuse(
      "HISTORY_FORGOTTEN",
      `history before event ${oldest.seq} is forgotten; the oldest point that is left is its end`,
    );
  }
  const seq =
    "seq" in point ? endOfDecision(journal, point.seq) : lastEventUntil(journal, point.at, head.seq);
  if (seq === 0 && head.seq > 0)
    return refuse("HISTORY_FORGOTTEN", "this point lies before the beginning of the world, which is event 1");
  const at =
    "at" in point ? point.at : seq === oldest.seq ? oldest.at : (eventAt(journal, seq)?.at ?? oldest.at);
  return accept({ seq, at });
}

/** The world as it was after the event `seq`: the nearest checkpoint and the events since. `pause` lets others get a word in. */
export async function worldAt(
  journal: Journal,
  seq: number,
  pause: (folded: number) => Promise<void>,
): Promise<World> {
  const world = worldFromCheckpoint(journal.checkpointBefore({ seq }));
  const first = world.seq;
  while (world.seq < seq) {
    const events = journal.events(world.seq, Math.min(EVENTS_PER_PORTION, seq - world.seq));
    if (events.length === 0) throw new Error(`history ends at event ${world.seq}, before event ${seq}`);
    replay(events, world);
    await pause(world.seq - first);
  }
  return world;
}

function eventAt(journal: Journal, seq: number): RecordedEvent | undefined {
  const [event] = journal.events(seq - 1, 1);
  // One that is forgotten is not there; the list begins later then.
  return event?.seq === seq ? event : undefined;
}

function endOfDecision(journal: Journal, seq: number): number {
  const decision = eventAt(journal, seq)?.decision;
  // History begins at the end of a decision.
  if (decision === undefined) return seq;
  for (let end = seq; ; ) {
    const following = journal.events(end, EVENTS_PER_READ);
    for (const event of following) {
      if (event.decision !== decision) return end;
      end = event.seq;
    }
    if (following.length < EVENTS_PER_READ) return end;
  }
}

/** Instants never go backwards from one event to the next, so the last one up to an instant is found by halving. */
function lastEventUntil(journal: Journal, at: SimTime, head: number): number {
  let from = journal.oldest.seq;
  let to = head;
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    const event = eventAt(journal, middle);
    if (event === undefined || event.at <= at) from = middle;
    else to = middle - 1;
  }
  return from;
}
