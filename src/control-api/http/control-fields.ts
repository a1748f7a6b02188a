import * as z from "zod";
import { instant, text } from "../../http/fields.ts";
import { END_OF_TIME, parseDuration } from "../../kernel/time.ts";
import { ACTIVITY_KINDS } from "../../platform/model/activity.ts";
import { parseClockSetting } from "../../simulation/world-clock.ts";
import { AUTOMATIC_PREFIX, BACKUP_PREFIX, WORLD_NAME, WORLD_NAME_RULE } from "../../worlds/world-handle.ts";

const DURATION_RULE =
  "must be a duration with a unit, such as 250ms, 90s, 10m, 2h or 7d, and end before the year 10000";

/** `250ms`, `90s`, `10m`, `2h` or `7d`, as whole milliseconds. */
export const duration = z
  .union([z.string(), z.literal(0)], { error: DURATION_RULE })
  .transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    context.addIssue({ code: "custom", message: DURATION_RULE });
    return z.NEVER;
  });

/** An instant that a clock of a world can show. */
export const clockInstant = instant.refine(
  (at) => at >= 0 && at <= END_OF_TIME,
  "must be between the years 1970 and 9999",
);

const POINT_RULE =
  "must be an ISO 8601 instant like 2026-01-31T12:00:00Z, or the sequence number of an event";

/** A point in history: the sequence number of an event, or an instant. Both are inclusive. */
export const point = z
  .union([z.int().min(0), z.string()], { error: POINT_RULE })
  .transform((input, context) => {
    if (/^\d{1,15}$/.test(String(input))) return { seq: Number(input) };
    const parsed = clockInstant.safeParse(input);
    if (parsed.success) return { at: parsed.data };
    context.addIssue({ code: "custom", message: POINT_RULE });
    return z.NEVER;
  });

const CLOCK_RULE =
  "must be real, manual, a factor like 60x, or an object with mode, and with factor if mode is scaled";

/** `real`, `manual`, a factor like `60x`, or an object as for `PUT /clock`. */
export const clockSetting = z
  .union(
    [
      z.string(),
      z.strictObject({ mode: z.enum(["real", "scaled", "manual"]), factor: z.number().optional() }),
    ],
    { error: CLOCK_RULE },
  )
  .transform((input, context) => {
    const isOdd = typeof input !== "string" && (input.mode === "scaled") !== (input.factor !== undefined);
    const text =
      typeof input === "string" ? input : input.mode === "scaled" ? `${input.factor}x` : input.mode;
    const setting = isOdd ? undefined : parseClockSetting(text);
    if (setting !== undefined) return setting;
    context.addIssue({ code: "custom", message: CLOCK_RULE });
    return z.NEVER;
  });

export const worldName = z.string().regex(WORLD_NAME, WORLD_NAME_RULE);

/** A name that a user gives to a fault or a snapshot. */
export const givenName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    "must be 1 to 63 of a-z, 0-9, ., _ and -, beginning with a letter or a digit",
  );

export const snapshotName = givenName.refine(
  (name) => !name.startsWith(AUTOMATIC_PREFIX) && !name.startsWith(BACKUP_PREFIX),
  `must not begin with ${AUTOMATIC_PREFIX} or ${BACKUP_PREFIX}, which are reserved for the server`,
);

const count = z.int().min(0).max(1_000_000_000_000);
const label = text(256);

const endpointId = z
  .string()
  .regex(/^ep-[a-z0-9-]{1,57}$/, "must be the id of an endpoint, like ep-dawn-king-a527wlyu");
const load = z.number().min(0).max(1_000_000);
const blocks = z.strictObject({
  hits: count.default(0),
  misses: count.default(0),
  writes: count.default(0),
});

const spanData = z.strictObject({
  written_bytes: count.default(0),
  transferred_bytes: count.default(0),
  logical_size_bytes: count.optional(),
});

/** The begin or the end of work whose duration is not known when it begins. */
export const span = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal("begin"), endpoint_id: endpointId }),
    z.strictObject({
      kind: z.literal("end"),
      endpoint_id: endpointId,
      until: instant.optional(),
      arrivals: count.default(1),
      blocks: blocks.optional(),
      load: load.optional(),
      data: spanData.optional(),
      continues: z.boolean().optional(),
    }),
  ],
  { error: 'kind: must be "begin" or "end"' },
);

export const activity = z.strictObject({
  endpoint_id: endpointId,
  at: clockInstant.optional(),
  kind: z.enum(ACTIVITY_KINDS).default("query"),
  duration_ms: z.int().min(0).max(END_OF_TIME).optional(),
  queries: count.optional(),
  connection_id: label.optional(),
  database: label.optional(),
  pooled: z.boolean().optional(),
  source: label.optional(),
  load: load.optional(),
  blocks: blocks.optional(),
});
