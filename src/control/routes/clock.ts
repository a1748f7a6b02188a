import { Hono } from "hono";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import type { ClockReading } from "../../worlds/world-handle.ts";
import { clockInstant, duration } from "../http/control-fields.ts";
import { type ControlOptions, handler } from "../http/handler.ts";
import { formatInstant, renderObject } from "../http/render-object.ts";

const MAX_FACTOR = 1_000_000;

const clockBody = z
  .object({
    mode: z.enum(["real", "scaled", "manual"]),
    factor: z.number().positive().max(MAX_FACTOR).optional(),
  })
  .refine(({ mode, factor }) => (mode === "scaled") === (factor !== undefined), {
    path: ["factor"],
    message: "belongs to the mode scaled and to no other: simulated seconds in a second of the wall, like 60",
  });

const advanceBody = z
  .strictObject({ by: duration.optional(), to: clockInstant.optional(), next: z.literal(true).optional() })
  .refine(
    (body) => Object.keys(body).length === 1,
    'must have one of "by" (a duration), "to" (an instant) and "next": true',
  );

/** The clock that users hold. */
export function clockRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  app.get(
    "/clock",
    handler(options, {}, async ({ world }) => renderClock(await world.clock())),
  );
  app.put(
    "/clock",
    handler(options, { body: clockBody }, async ({ world, body }) =>
      renderClock(await world.setClock(body.mode, body.factor ?? 1)),
    ),
  );
  app.post(
    "/clock/advance",
    handler(options, { body: advanceBody }, async ({ world, body: { by, to } }) => {
      const advance = await world.advance(
        by !== undefined ? { by } : to !== undefined ? { to } : { next: true },
      );
      if (advance === undefined) {
        const now = formatInstant(world.now());
        const field = by !== undefined ? "by" : to !== undefined ? "to" : "next";
        return fail(
          badRequest(`${field}: the clock stands at ${now} and goes only forward, to the year 9999 at most`),
        );
      }
      const { now, events, nextSince } = advance;
      return {
        now: formatInstant(now),
        events: events.map((event) => renderObject(event)),
        ...(nextSince === undefined ? {} : { next_since: nextSince }),
      };
    }),
  );
  return app;
}

function renderClock({ now, mode, factor, nextDue }: ClockReading) {
  return {
    now: formatInstant(now),
    mode,
    factor,
    next_due: nextDue === undefined ? null : formatInstant(nextDue),
  };
}
