import * as z from "zod";
import { instantOf } from "../platform/calendar.ts";
import { MINUTE, parseDuration, SECOND, type SimTime } from "../platform/time.ts";

const DURATION_RULE = "must be a duration like 90s, 10m, 2h or 7d, or whole milliseconds";

const INSTANT_RULE = "must be an ISO 8601 instant like 2026-01-31T12:00:00Z";
const LATEST = "9999-12-31T23:59:59.999Z";

/** An ISO 8601 instant; gives milliseconds since 1970. */
export const instant = z.iso
  .datetime({ offset: true, message: INSTANT_RULE })
  .transform(parseInstant)
  .meta({ id: "instant", description: "an ISO 8601 instant like 2026-01-31T12:00:00Z" });

export type When = { readonly afterStart: number } | { readonly instant: SimTime };

/** A time of the run: an instant, or how long after its start. */
export const when = z
  .union([z.string(), z.number()], { error: `${DURATION_RULE} after the start, or an ISO 8601 instant` })
  .transform((text, context): When => {
    const ms = parseDuration(text);
    if (ms !== undefined) return { afterStart: ms };
    const parsed = instant.safeParse(text);
    if (parsed.success) return { instant: parsed.data };
    context.addIssue({ code: "custom", message: `${DURATION_RULE} after the start, or an ISO 8601 instant like ${LATEST}` });
    return z.NEVER;
  })
  .meta({ id: "when", description: "how long after the start, like 10m, or an ISO 8601 instant" });

/** How long after the end of a step: of the one before, where none is named. */
export type After = { readonly step?: string; readonly delay: number };
const AFTER_RULE = "must be a duration like 5m, the name of a step above, or both: deploy + 5m";

export const after = z
  .union([z.string(), z.number()], { error: AFTER_RULE })
  .transform((text, context): After => {
    const alone = parseDuration(text);
    if (alone !== undefined) return { delay: alone };
    const [, step = "", later] = /^([^+]+?)(?:\s*\+\s*([^+]+))?$/.exec(String(text)) ?? [];
    const delay = later === undefined ? 0 : parseDuration(later);
    if (step !== "" && delay !== undefined) return { step, delay };
    context.addIssue({ code: "custom", message: AFTER_RULE });
    return z.NEVER;
  })
  .describe("how long after the step before, or after a named one: deploy + 5m");

/** Rules out that the wall's zone plays a part: the text has its own. */
function parseInstant(text: string): SimTime {
  const [, date = "", hours = "0", minutes = "0", seconds = "0", zone = "Z"] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?(Z|[+-]\d{2}:?\d{2})$/.exec(text) ?? [];
  const [year = 1970, month = 1, day = 1] = date.split("-").map(Number);
  const sign = zone.startsWith("-") ? -1 : 1;
  const offset = zone === "Z" ? 0 : sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2)));
  return Math.floor(instantOf(year, month, day) + (Number(hours) * 60 + Number(minutes) - offset) * MINUTE + Number(seconds) * SECOND);
}
