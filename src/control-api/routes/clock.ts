import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { MAX_CLOCK_FACTOR } from "../../simulation/world-clock.ts";
import type { ClockReading } from "../../worlds/world-handle.ts";
import { clockMoved } from "../http/clock-moves.ts";
import { clockInstant, duration } from "../http/control-fields.ts";
import { formatInstant, renderObject } from "../http/render-object.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

const clockBody = z
  .object({
    mode: z.enum(["real", "scaled", "manual"]),
    factor: z.number().positive().max(MAX_CLOCK_FACTOR).optional(),
  })
  .refine(({ mode, factor }) => (mode === "scaled") === (factor !== undefined), {
    path: ["factor"],
    message:
      "is required for mode scaled and not allowed otherwise: simulated seconds per second of wall-clock time, such as 60",
  });

const advanceBody = z
  .strictObject({ by: duration.optional(), to: clockInstant.optional(), next: z.literal(true).optional() })
  .refine(
    (body) => Object.keys(body).length === 1,
    'must have exactly one of "by" (a duration), "to" (an instant) and "next": true',
  );

/** Reads, sets and advances the clock. */
export function clockRoutes(): readonly ControlApiRoute[] {
  return [getClock, setClock, advanceClock];
}

const getClock = route("GET /clock", {}, async ({ world }) => renderClock(await world.clock()));

const setClock = route("PUT /clock", { body: clockBody }, async ({ world, body }) => {
  const reading = await world.setClock(body.mode, body.factor ?? 1);
  clockMoved(world);
  return renderClock(reading);
});

const advanceClock = route(
  "POST /clock/advance",
  { body: advanceBody },
  async ({ world, body: { by, to } }) => {
    const advance = await world.advance(
      by !== undefined ? { by } : to !== undefined ? { to } : { next: true },
    );
    clockMoved(world);
    if (advance === undefined) {
      const now = formatInstant(world.now());
      const field = by !== undefined ? "by" : to !== undefined ? "to" : "next";
      return fail(
        badRequest(`${field}: must be at or after the current time ${now}, and before the year 10000`),
      );
    }
    const { now, events, nextSince } = advance;
    return omitUndefined({
      now: formatInstant(now),
      events: events.map((event) => renderObject(event)),
      next_since: nextSince,
    });
  },
);

function renderClock({ now, mode, factor, nextDue }: ClockReading) {
  return {
    now: formatInstant(now),
    mode,
    factor,
    next_due: nextDue === undefined ? null : formatInstant(nextDue),
  };
}
