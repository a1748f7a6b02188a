import * as z from "zod";
import { parseDuration, type SimTime } from "../../kernel/time.ts";
import { DURATION_RULE, documented } from "../../traffic/generated/pattern-fields.ts";
import { parseInstant } from "../../traffic/recorded/rows/instant.ts";

const INSTANT_RULE = "must be an ISO 8601 instant such as 2026-01-31T12:00:00Z";
const LATEST = "9999-12-31T23:59:59.999Z";

/** An ISO 8601 instant, as milliseconds since 1970. */
export const instant = z.iso
  .datetime({ offset: true, message: INSTANT_RULE })
  .transform((text, context) => {
    const at = parseInstant(text);
    if (at !== undefined) return at;
    context.addIssue({ code: "custom", message: INSTANT_RULE });
    return z.NEVER;
  })
  .meta({ id: "instant", ...documented("an ISO 8601 instant", "2026-01-31T12:00:00Z") });

export type When = { readonly afterStart: number } | { readonly instant: SimTime };

/** A time of the run: an instant, or a duration after its start. */
export const when = z
  .union([z.string(), z.literal(0)], { error: `${DURATION_RULE} after the start, or an ISO 8601 instant` })
  .transform((text, context): When => {
    const ms = parseDuration(text);
    if (ms !== undefined) return { afterStart: ms };
    const parsed = instant.safeParse(text);
    if (parsed.success) return { instant: parsed.data };
    context.addIssue({
      code: "custom",
      message: `${DURATION_RULE} after the start, or an ISO 8601 instant such as ${LATEST}`,
    });
    return z.NEVER;
  })
  .meta({
    id: "when",
    ...documented("a duration after the start, or an ISO 8601 instant", "10m", "2026-01-31T12:00:00Z"),
  });

/** A delay after the end of a step; without a name, after the previous step. */
export type After = { readonly step?: string; readonly delay: number };
const AFTER_RULE = "must be a duration such as 5m, the name of an earlier step, or both: deploy + 5m";

export const after = z
  .union([z.string(), z.literal(0)], { error: AFTER_RULE })
  .transform((text, context): After => {
    const delayOnly = parseDuration(text);
    if (delayOnly !== undefined) return { delay: delayOnly };
    const [, step = "", delayText] = /^([^+]+?)(?:\s*\+\s*([^+]+))?$/.exec(String(text)) ?? [];
    const delay = delayText === undefined ? 0 : parseDuration(delayText);
    if (step !== "" && delay !== undefined) return { step, delay };
    context.addIssue({ code: "custom", message: AFTER_RULE });
    return z.NEVER;
  })
  .meta(
    documented(
      "a delay after the end of the previous step, or of a named step",
      "5m",
      "deploy",
      "deploy + 5m",
    ),
  );
