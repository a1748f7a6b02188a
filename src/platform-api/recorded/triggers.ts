import { CronExpressionParser } from "cron-parser";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import { timestamp } from "../../http/timestamps.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { TriggerSettings } from "../../platform/model/service-settings.ts";
import { name } from "../http/request-fields.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const MAX_BYTES = 1_024; // C: of a prefix. A: of a path.
const CRON_RULE = "must be five numeric fields (minute to day of week, in UTC) such as */15 * * * *";

const short = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= MAX_BYTES, `must be at most ${MAX_BYTES} bytes`);
const common = {
  function_slug: z.string(),
  name,
  function_path: short.regex(/^\//, "must begin with /").exactOptional(),
  enabled: z.boolean().exactOptional(),
};
const schedule = z.object({ cron: z.string().refine(isCron, CRON_RULE) });
const storage_object_created = z.object({ bucket_name: z.string(), prefix: short.exactOptional() });
const changed = {
  function_slug: z.string().exactOptional(),
  name: name.exactOptional(),
  function_path: common.function_path,
  enabled: common.enabled,
};

const OF_ID = {
  kind: "trigger",
  params: { trigger_id: z.string() },
  keys: ({ params }: { readonly params: Readonly<Record<string, string>> }) => [params["trigger_id"] ?? ""],
} as const;

/** C: triggers of functions, in newer clients. They are due, but invoke nothing. */
export const TRIGGER_OPERATIONS = [
  recorded({
    route: "GET /triggers",
    kind: "trigger",
    does: "list",
    answer: (triggers) => ({ triggers: triggers.map(renderTrigger) }),
  }),
  recorded({
    route: "POST /triggers",
    status: 201,
    kind: "trigger",
    does: "create",
    body: z.discriminatedUnion("type", [
      z.object({ type: z.literal("schedule"), ...common, schedule }),
      z.object({ type: z.literal("storage_object_created"), ...common, storage_object_created }),
    ]),
    settings: (body) => ({ function_path: "/", enabled: true, version: 1, ...body }),
    answer: renderResponse,
  }),
  recorded({ ...OF_ID, route: "GET /triggers/:trigger_id", does: "read", answer: renderResponse }),
  recorded({
    ...OF_ID,
    route: "PATCH /triggers/:trigger_id",
    does: "replace",
    body: z.discriminatedUnion("type", [
      z.object({ type: z.literal("schedule"), ...changed, schedule: schedule.exactOptional() }),
      z.object({
        type: z.literal("storage_object_created"),
        ...changed,
        storage_object_created: storage_object_created.exactOptional(),
      }),
    ]),
    settings: (body, present) => {
      // The rules refuse a trigger that does not exist.
      if (present === undefined) return body as never;
      if (body.type !== present.type)
        return fail(badRequest(`type: the trigger has the type "${present.type}"`));
      return { ...present, ...body, version: present.version + 1 } as TriggerSettings;
    },
    answer: renderResponse,
  }),
  recorded({ ...OF_ID, route: "DELETE /triggers/:trigger_id", status: 204, does: "delete" }),
];

function renderResponse(shown: Shown<"trigger">) {
  return { trigger: renderTrigger(shown) };
}

function renderTrigger({ record, settings, now }: Shown<"trigger">) {
  const inherited = record.fields.isInherited === true;
  const trigger = { trigger_id: record.fields.key, ...settings, inherited };
  if (settings.type !== "schedule") return trigger;
  // C: an inherited schedule does nothing until its branch enables it.
  const isDue = settings.enabled && !inherited;
  return { ...trigger, next_run_at: isDue ? timestamp(nextRun(settings.schedule.cron, now)) : null };
}

/** After this instant, in UTC. */
function nextRun(cron: string, after: SimTime): SimTime {
  return CronExpressionParser.parse(cron, { currentDate: after, tz: "UTC" }).next().getTime();
}

function isCron(text: string): boolean {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5 || fields.some((field) => !/^[\d*,/-]+$/.test(field))) return false;
  try {
    // A date that never comes, such as the 30th of February, has no next run.
    nextRun(text, 0);
    return true;
  } catch {
    return false;
  }
}
