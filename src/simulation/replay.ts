import type { SimTime } from "../kernel/time.ts";
import { accept, type Result, refuse } from "../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../platform/model/events.ts";
import { evolve } from "../platform/rules/evolve.ts";
import { emptyWorld, type World } from "../platform/world/world.ts";
import { worldFromCheckpointInSteps } from "./checkpoint.ts";
import type { Journal } from "./journal.ts";

/** A point in history: after an event, or after all events up to and including an instant. */
export type PointSelector = { readonly seq: number } | { readonly at: SimTime };

/**
 * A resolved point in a history. It is never within a decision, because no world was ever in such a state.
 */
export type HistoryPoint = { readonly seq: number; readonly at: SimTime };

/**
 * Number of events replayed between two pauses: about a millisecond of work, and little garbage at a time.
 */
const EVENTS_PER_PORTION = 500;
/** Enough for most decisions in one read. */
const EVENTS_PER_READ = 32;

/**
 * Applies a history to a world, by default an empty one. Draws and decides nothing: the same events give the
 * same world.
 */
export function replay(events: Iterable<RecordedEvent>, world = emptyWorld()): World {
  // A replayed world has no journal that would store its changed rows.
  world.changes.trackOnly([]);
  for (const event of events) evolve(world, event);
  return world;
}

/**
 * Resolves a point in a history that ends at `head`. A sequence number within a decision selects the end of
 * that decision.
 */
export function resolvePoint(
  journal: Journal,
  point: PointSelector,
  head: HistoryPoint,
): Result<HistoryPoint> {
  const { oldest } = journal;
  if ("at" in point ? point.at > head.at : point.seq > head.seq) {
    return refuse("POINT_NOT_REACHED", `this point is in the future: history ends at event ${head.seq}`);
  }
  const isTruncated = "at" in point ? oldest.seq > 0 && point.at < oldest.at : point.seq < oldest.seq;
  if (isTruncated) return refuseTruncated(oldest);
  const seq =
    "seq" in point ? endOfDecision(journal, point.seq) : lastEventUntil(journal, point.at, head.seq);
  if (seq === 0 && head.seq > 0)
    return refuse("HISTORY_FORGOTTEN", "this point is before event 1, which created the world");
  const at =
    "at" in point ? point.at : seq === oldest.seq ? oldest.at : (eventAt(journal, seq)?.at ?? oldest.at);
  return accept({ seq, at });
}

/** `oldest`: the point at which history begins. */
export function refuseTruncated({ seq }: { readonly seq: number }): Result<never> {
  return refuse(
    "HISTORY_FORGOTTEN",
    `history before event ${seq} was truncated; event ${seq} is the oldest point available`,
  );
}

/**
 * Rebuilds the world after the event `seq` from the nearest checkpoint. Awaits `pause` regularly, so that
 * others can run.
 */
export async function worldAt(
  journal: Journal,
  seq: number,
  pause: (folded: number) => Promise<void>,
): Promise<World> {
  const steps = worldFromCheckpointInSteps(await journal.readCheckpointBefore({ seq }));
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) await pause(0);
  const world = step.value;
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
  // For a truncated event the list begins with a later one.
  return event?.seq === seq ? event : undefined;
}

function endOfDecision(journal: Journal, seq: number): number {
  const decision = eventAt(journal, seq)?.decision;
  // A truncated event, or 0: history begins at the end of a decision.
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

/** Binary search: events are ordered by time. */
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
