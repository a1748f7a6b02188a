import { isoInstant } from "../../kernel/calendar.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";

/**
 * The SQL of Postgres clients that a recording lacks, described for each compute. Statements are not stored: a world
 * knows how long they kept a compute busy.
 */
export function droppedStatements(events: readonly RecordedEvent[]): string[] {
  const clients = new Map<string, { from: number; to: number; arrivals: number }>();
  for (const event of events) {
    if (event.type !== "SpanEnded") continue;
    const { endpointId, beganAt, until, arrivals } = event;
    const known = clients.get(endpointId) ?? { from: beganAt, to: until, arrivals: 0 };
    clients.set(endpointId, { ...known, to: until, arrivals: known.arrivals + arrivals });
  }
  return [...clients].map(
    ([endpointId, { from, to, arrivals }]) =>
      `SQL of Postgres clients on ${endpointId} from ${isoInstant(from)} to ${isoInstant(to)} (${arrivals} ${arrivals === 1 ? "request" : "requests"}): statements are not stored, so the steps have their load and not their rows; add sql steps for what matters`,
  );
}
