import * as z from "zod";
import { id } from "../../http/fields.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { PG_VERSIONS } from "../../platform/catalog/defaults-and-limits.ts";
import type { DefaultEndpointSettings } from "../../platform/model/project.ts";
import { MAX_HISTORY_RETENTION_S } from "../../platform/rules/project/project-limits.ts";
import { IP_RANGE_RULE, isIpRange } from "./ip-range.ts";
import {
  defaultEndpointSettings,
  name,
  postgresName,
  preloadLibraries,
  settingFields,
} from "./request-fields.ts";

/** S: 0 means no quota. src/platform/rules/usage/quota.ts says which quotas can be reached. */
const quota = z.object({
  active_time_seconds: z.int().min(0).optional(),
  compute_time_seconds: z.int().min(0).optional(),
  written_data_bytes: z.int().min(0).optional(),
  data_transfer_bytes: z.int().min(0).optional(),
  logical_size_bytes: z.int().min(0).optional(),
});

/** S: in UTC. */
const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time of day like 09:00 or 17:30");

/** S. */
const settings = z.object({
  quota: quota.optional(),
  allowed_ips: z
    .object({
      ips: z.array(z.string().refine(isIpRange, IP_RANGE_RULE)).optional(),
      protected_branches_only: z.boolean().optional(),
      // Has no effect in profiles that do not have it.
      primary_branch_only: z.boolean().optional(),
    })
    .optional(),
  enable_logical_replication: z.boolean().optional(),
  maintenance_window: z
    .object({ weekdays: z.array(z.int().min(1).max(7)), start_time: timeOfDay, end_time: timeOfDay })
    .optional(),
  block_public_connections: z.boolean().optional(),
  block_vpc_connections: z.boolean().optional(),
  audit_log_level: z.enum(["base", "extended", "full"]).optional(),
  hipaa: z.boolean().optional(),
  preload_libraries: preloadLibraries.optional(),
});

const sharedFields = {
  name: name.optional(),
  settings: settings.optional(),
  default_endpoint_settings: defaultEndpointSettings.optional(),
  history_retention_seconds: z.int().min(0).max(MAX_HISTORY_RETENTION_S).optional(),
};

export const createProjectBody = z.object({
  project: z.object({
    ...sharedFields,
    branch: z
      .object({
        name: name.optional(),
        role_name: postgresName.optional(),
        database_name: postgresName.optional(),
        annotations: z.record(z.string(), z.string()).optional(),
      })
      .optional(),
    autoscaling_limit_min_cu: z.number().optional(),
    autoscaling_limit_max_cu: z.number().optional(),
    provisioner: settingFields.provisioner,
    region_id: z.string().optional(),
    pg_version: z.int().min(PG_VERSIONS.lowest).max(PG_VERSIONS.highest).optional(),
    store_passwords: z.boolean().optional(),
    org_id: id.optional(),
  }),
});

export const updateProjectBody = z.object({ project: z.object(sharedFields) });

export function endpointDefaultsFrom(
  fields: z.output<typeof defaultEndpointSettings>,
): DefaultEndpointSettings {
  return omitUndefined({
    pg_settings: fields.pg_settings,
    pgbouncer_settings: fields.pgbouncer_settings,
    minCu: fields.autoscaling_limit_min_cu,
    maxCu: fields.autoscaling_limit_max_cu,
    suspendTimeoutSeconds: fields.suspend_timeout_seconds,
  });
}
