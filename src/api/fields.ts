import * as z from "zod";
import type { ComputeOptions } from "../platform/compute.ts";

/** S: the pattern of all ids but those of keys and operations. */
export const id = z.string().regex(/^[a-z0-9-]{1,60}$/, "must be 1 to 60 of a-z, 0-9 and -");
export const name = z.string().min(1).max(256);
/** A query parameter that is `true` or `false`. */
export const flag = z.enum(["true", "false"]).transform((text) => text === "true");

export const keyId = z
  .string()
  .regex(/^\d{1,15}$/, "must be an integer")
  .transform(Number);

/** Which sizes there are is for the rules to say; that it is a number is for here. */
const computeUnits = z.number();
const textMap = z.record(z.string(), z.string());

const endpointSettings = z.object({
  pg_settings: textMap.optional(),
  pgbouncer_settings: textMap.optional(),
  preload_libraries: z.object({ use_defaults: z.boolean().optional(), enabled_libraries: z.array(z.string()).optional() }).optional(),
});

export const computeType = z.enum(["read_write", "read_only"]);
const endpointName = z.string().min(1).max(64);

/** What may be chosen for a compute wherever one is made or changed. */
export const computeFields = {
  autoscaling_limit_min_cu: computeUnits.optional(),
  autoscaling_limit_max_cu: computeUnits.optional(),
  suspend_timeout_seconds: z.int().optional(),
  settings: endpointSettings.optional(),
  provisioner: z.string().min(1).max(64).optional(),
};

export const endpointFields = {
  ...computeFields,
  name: endpointName.optional(),
  pooler_enabled: z.boolean().optional(),
  pooler_mode: z.enum(["transaction"]).optional(),
  disabled: z.boolean().optional(),
  passwordless_access: z.boolean().optional(),
};

export const defaultEndpointSettings = z.object({
  pg_settings: textMap.optional(),
  pgbouncer_settings: textMap.optional(),
  autoscaling_limit_min_cu: computeUnits.optional(),
  autoscaling_limit_max_cu: computeUnits.optional(),
  suspend_timeout_seconds: z.int().optional(),
});

type EndpointFields = z.infer<z.ZodObject<typeof endpointFields>>;

export function computeOptions(fields: EndpointFields): ComputeOptions {
  return {
    name: fields.name,
    minCu: fields.autoscaling_limit_min_cu,
    maxCu: fields.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: fields.suspend_timeout_seconds,
    settings: fields.settings,
    poolerEnabled: fields.pooler_enabled,
    passwordlessAccess: fields.passwordless_access,
    disabled: fields.disabled,
    provisioner: fields.provisioner,
  };
}
