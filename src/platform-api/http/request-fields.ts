import * as z from "zod";
import { text } from "../../http/fields.ts";
import { fitsPostgresIdentifier } from "../../kernel/text.ts";
import { problemOfPgSetting } from "../../platform/catalog/pg-settings.ts";
import type { ComputeOptions } from "../../platform/model/compute.ts";
import { bySettingField, chosenSettings } from "../../platform/model/compute.ts";

export const name = text(256);
export const lsn = z
  .string()
  .regex(/^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/i, "must be a log sequence number like 0/1E88838");

/**
 * S: a point in history is given by its instant or its log sequence number, not both. Arguments for `refine`.
 */
export function atMostOne<Lsn extends string, Timestamp extends string>(
  lsnField: Lsn,
  timestampField: Timestamp,
) {
  const check = (input: { readonly [field in Lsn | Timestamp]?: unknown }) =>
    input[lsnField] === undefined || input[timestampField] === undefined;
  const issue: { message: string; path: PropertyKey[] } = {
    message: `cannot be used with ${timestampField}`,
    path: [lsnField],
  };
  return [check, issue] as const;
}

/** Postgres' rule for names of new databases and roles. Existing names are looked up unchecked. */
export const postgresName = z.string().min(1).refine(fitsPostgresIdentifier, "must be at most 63 bytes long");
/** C: the spellings of Go's ParseBool, which the platform's servers accept. The Python client sends `True`. */
const TRUE = ["true", "True", "TRUE", "t", "T", "1"];
const FALSE = ["false", "False", "FALSE", "f", "F", "0"];

/** A query parameter that is `true` or `false`. */
export const flag = z
  .string()
  .refine((text) => TRUE.includes(text) || FALSE.includes(text), "must be true or false")
  .transform((text) => TRUE.includes(text));

export const email = z.email("must be an email address like somebody@example.com").max(256);

export const keyId = z
  .string()
  .regex(/^\d{1,15}$/, "must be an integer")
  .transform(Number);

/** Which sizes exist is decided by the rules of the platform. */
const computeUnits = z.number();
const textMap = z.record(z.string(), z.string());

const pgSettings = textMap.superRefine((settings, context) => {
  for (const [name, value] of Object.entries(settings)) {
    const message = problemOfPgSetting(name, value);
    if (message !== undefined) context.addIssue({ code: "custom", path: [name], message });
  }
});

/**
 * Which libraries exist depends on the project's version of Postgres, so the rules of the platform decide.
 */
export const preloadLibraries = z.object({
  use_defaults: z.boolean().optional(),
  enabled_libraries: z.array(z.string()).optional(),
});

const endpointSettings = z.object({
  pg_settings: pgSettings.optional(),
  pgbouncer_settings: textMap.optional(),
  preload_libraries: preloadLibraries.optional(),
});

export const settingFields = bySettingField({ flag: z.boolean().optional(), text: text(64).optional() });
export const computeType = z.enum(["read_write", "read_only"]);

/** Fields that every call that creates or changes a compute accepts. */
export const computeFields = {
  autoscaling_limit_min_cu: computeUnits.optional(),
  autoscaling_limit_max_cu: computeUnits.optional(),
  suspend_timeout_seconds: z.int().optional(),
  settings: endpointSettings.optional(),
  provisioner: settingFields.provisioner,
};

export const endpointFields = {
  ...computeFields,
  ...settingFields,
  pooler_mode: z.enum(["transaction"]).optional(),
};

export const defaultEndpointSettings = z.object({
  pg_settings: pgSettings.optional(),
  pgbouncer_settings: textMap.optional(),
  autoscaling_limit_min_cu: computeUnits.optional(),
  autoscaling_limit_max_cu: computeUnits.optional(),
  suspend_timeout_seconds: z.int().optional(),
});

type EndpointFields = z.infer<z.ZodObject<typeof endpointFields>>;

export function computeOptions(fields: EndpointFields): ComputeOptions {
  return {
    minCu: fields.autoscaling_limit_min_cu,
    maxCu: fields.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: fields.suspend_timeout_seconds,
    settings: fields.settings,
    ...chosenSettings(fields),
  };
}
