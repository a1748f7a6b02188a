import { setImmediate as nextTurn } from "node:timers/promises";
import * as z from "zod";
import type { HistoryInfo } from "../../worlds/world-handle.ts";
import { onClockMoved } from "../http/clock-moves.ts";
import { ENTRIES_PER_CHUNK, followEntries } from "../http/follow-entries.ts";
import { runRead } from "../http/handler.ts";
import { renderObject } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { streamJson } from "../http/stream-json.ts";
import { strict } from "../http/strict-fields.ts";

const MAX_EVENTS = 10_000;
const DEFAULT_EVENTS = 1_000;
/** Takes a few milliseconds to read and render. */
const EVENTS_PER_TURN = 500;

const sequence = z
  .string()
  .regex(/^\d{1,15}$/, "must be the sequence number of an event, or 0 for the beginning")
  .transform(Number);
const eventsQuery = strict({
  since: sequence.default(0),
  limit: z
    .string()
    .regex(/^\d{1,5}$/, `must be a whole number from 1 to ${MAX_EVENTS}`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_EVENTS, `must be a whole number from 1 to ${MAX_EVENTS}`)
    .default(DEFAULT_EVENTS),
});

/** The events of a world's history. */
export function eventRoutes(): readonly ControlApiRoute[] {
  return [listEvents, streamEvents];
}

const listEvents = route("GET /events", { query: eventsQuery }, async ({ world, query }) => {
  const pieces: string[] = [];
  let last = query.since;
  let begun: HistoryInfo | undefined;
  for (let count = 0; count < query.limit; ) {
    const limit = Math.min(EVENTS_PER_TURN, query.limit - count);
    const events = await world.events(last, limit);
    const history = world.history();
    begun ??= history;
    // The rest would be of another history, or begin after a gap. The next call says so.
    if (count > 0 && (history.id !== begun.id || history.forgottenSeq > last)) break;
    const shown = events.map((event) => JSON.stringify(renderObject(event))).join(",");
    if (shown !== "") pieces.push(pieces.length === 0 ? shown : `,${shown}`);
    last = events.at(-1)?.seq ?? last;
    if (events.length < limit) break;
    count += events.length;
    await nextTurn();
  }
  const { forgottenSeq } = begun ?? world.history();
  const rest = {
    next_since: last,
    // Set when `since` is before the truncation: the list begins after this event instead.
    ...(query.since < forgottenSeq ? { forgotten_seq: forgottenSeq } : {}),
  };
  const all = ['{"events":[', ...pieces, `],${JSON.stringify(rest).slice(1)}`];
  return streamJson((pieces.length > 1 ? all : [all.join("")]).values());
});

const streamEvents = route(
  "GET /events/stream",
  { query: strict({ since: sequence.optional() }) },
  ({ world, query, server }, context) =>
    followEntries(context, world, server, {
      head: () => runRead(world, (transaction) => transaction.world.seq),
      newest: () => world.history().seq,
      since: query.since,
      subscribe: (listener) => {
        const ends = [world.subscribe(listener), onClockMoved(world, listener)];
        return () => {
          for (const end of ends) end();
        };
      },
      read: async (since) =>
        (await world.events(since, ENTRIES_PER_CHUNK)).map((event) => ({
          number: event.seq,
          name: event.type,
          entry: renderObject(event),
        })),
    }),
);
