import type { RecordedEvent } from "../platform/model/events.ts";
import { type EventFilter, isSelected, type Journal } from "./journal.ts";
import { mentions } from "./mentions.ts";

/** Takes a few milliseconds, also from a file. */
const EVENTS_PER_STEP = 1_024;

/** A part of history. Both ends are exclusive. */
export type Part = { readonly after: number; readonly before: number };
type Searched = Pick<Journal, "eventsAbout" | "oldest">;

/**
 * Events in a part of history that mention this id, newest first. Ends at the creation of a compute or an operation with
 * this id: nothing before it is about this object.
 */
export function* searchEvents(
  journal: Searched,
  id: string,
  { after, before }: Part,
  limit: number,
  filter?: EventFilter,
): Generator<undefined, RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  let first = Math.max(after, journal.oldest.seq);
  for (let end = before; end > first + 1 && found.length < limit; ) {
    const begin = Math.max(first, end - 1 - EVENTS_PER_STEP);
    const part = journal.eventsAbout(id, end, limit - found.length, filter, begin);
    found.push(...part);
    const created = part.find((event) => isCreation(event, id));
    // Other events of the decision may precede it.
    if (created !== undefined) first = Math.max(first, created.decision - 1);
    end = begin + 1;
    if (end > first + 1) yield;
  }
  return found.filter(({ seq }) => seq > first);
}

/**
 * The same, for at most `limit` events of any type, and for `limit` events of the lifecycle, so that the work of clients
 * does not push these out of the limit.
 */
export function* searchWithLifecycle(
  journal: Searched,
  id: string,
  part: Part,
  limit: number,
): Generator<undefined, RecordedEvent[]> {
  const any = yield* searchEvents(journal, id, part, limit);
  const last = any.at(-1);
  if (last === undefined || any.length < limit || any.some((event) => isCreation(event, id))) return any;
  const missing = limit - any.filter(isOfLifecycle).length;
  const earlier = { ...part, before: last.seq };
  return any.concat(yield* searchEvents(journal, id, earlier, missing, "lifecycle"));
}

/** A journal with the events that it gets with the next commit. No search waits for that commit. */
export function withUncommitted(journal: Searched, uncommitted: readonly RecordedEvent[]): Searched {
  const first = uncommitted[0]?.seq;
  if (first === undefined) return journal;
  return {
    oldest: journal.oldest,
    eventsAbout(id, before, limit, filter, after = 0) {
      const newest = uncommitted
        .filter(
          (event) =>
            event.seq > after && event.seq < before && isSelected(event.type, filter) && mentions(event, id),
        )
        .reverse()
        .slice(0, limit);
      const missing = limit - newest.length;
      if (missing === 0 || after >= first - 1) return newest;
      return newest.concat(journal.eventsAbout(id, Math.min(before, first), missing, filter, after));
    },
  };
}

/** What `searchWithLifecycle` finds in two parts of history, of which `older` directly precedes `newer`. */
export function joinFound(
  newer: readonly RecordedEvent[],
  older: readonly RecordedEvent[],
  { id, limit }: { readonly id: string; readonly limit: number },
): RecordedEvent[] {
  const all = newer.some((event) => isCreation(event, id)) ? newer : [...newer, ...older];
  let lifecycle = 0;
  return all.filter((event, index) => {
    if (isOfLifecycle(event)) lifecycle += 1;
    return index < limit || (isOfLifecycle(event) && lifecycle <= limit);
  });
}

function isOfLifecycle({ type }: RecordedEvent): boolean {
  return isSelected(type, "lifecycle");
}

function isCreation(event: RecordedEvent, id: string): boolean {
  if (event.type === "ComputeCreated") return event.compute.id === id;
  return event.type === "OperationScheduled" && event.operation.id === id;
}
