import { isOpenEnded } from "../../platform/model/activity.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { type EventOf, newestEvent } from "./explanation.ts";

/**
 * When a compute was last used before event `before`, since its last start, and the event that proves it: an
 * activity or the start.
 */
export function lastUse(
  events: readonly RecordedEvent[],
  before: number,
): { readonly since?: number; readonly proof?: RecordedEvent } {
  const activated = newestEvent(events, "ComputeActivated", ({ seq }) => seq < before);
  if (activated === undefined) return {};
  let use: { since: number; proof: RecordedEvent } = { since: activated.at, proof: activated };
  const ends = new Map<string, EventOf<"ActivityRecorded">>();
  // Newest first, so the end of a connection is known before its activity.
  for (const event of events) {
    if (event.seq >= before) continue;
    if (event.type === "SpanEnded" && event.seq > activated.seq && event.until >= use.since) {
      if (event.until > use.since || use.proof === activated) use = { since: event.until, proof: event };
      continue;
    }
    if (event.type !== "ActivityRecorded") continue;
    const { kind, connectionId } = event.activity;
    if (kind === "disconnect") {
      if (event.seq > activated.seq) ends.set(connectionId ?? "", event);
      continue;
    }
    // Activity that waited for the start is served once the start ends.
    const servedAt =
      event.seq > activated.seq
        ? event.at
        : event.at + event.waitedMs === activated.at
          ? activated.at
          : undefined;
    if (servedAt === undefined) continue;
    const end = connectionId === undefined ? undefined : ends.get(connectionId);
    const lastsUntil = isOpenEnded(event.activity)
      ? (end?.at ?? servedAt)
      : servedAt + (kind === "connect" ? 0 : (event.activity.durationMs ?? 0));
    const isTruncated = end !== undefined && end.at <= lastsUntil;
    const until = isTruncated ? end.at : lastsUntil;
    if (until > use.since || (until === use.since && use.proof === activated))
      use = { since: until, proof: isTruncated ? end : event };
  }
  return use;
}
