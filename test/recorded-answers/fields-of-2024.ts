import type { PublishedObject } from "../support/document/published-fields.ts";

/**
 * The fields of objects in the public document of December 2024 (`public-v2.yaml` in `@neondatabase/api-client` 1.10.3),
 * as facts. A later field of `settings` or of an owner is named by its path.
 */
export const FIELDS_OF_2024: Readonly<Partial<Record<PublishedObject, string>>> = {
  "project in a list": `active_time branch_logical_size_limit branch_logical_size_limit_bytes compute_last_active_at
    cpu_used_sec created_at creation_source default_endpoint_settings id maintenance_starts_at name org_id owner_id
    pg_version platform_id provisioner proxy_host quota_reset_at region_id settings.allowed_ips
    settings.enable_logical_replication settings.quota store_passwords synthetic_storage_size updated_at`,
  project: `active_time_seconds branch_logical_size_limit branch_logical_size_limit_bytes compute_last_active_at
    compute_time_seconds consumption_period_end consumption_period_start cpu_used_sec created_at creation_source
    data_storage_bytes_hour data_transfer_bytes default_endpoint_settings history_retention_seconds id
    maintenance_starts_at name org_id owner.branches_limit owner.email owner.subscription_type owner_id pg_version
    platform_id provisioner proxy_host quota_reset_at region_id settings.allowed_ips
    settings.enable_logical_replication settings.quota store_passwords synthetic_storage_size updated_at
    written_data_bytes`,
  branch: `active_time_seconds compute_time_seconds cpu_used_sec created_at creation_source current_state
    data_transfer_bytes default id last_reset_at logical_size name parent_id parent_lsn parent_timestamp pending_state
    primary project_id protected updated_at written_data_bytes`,
  endpoint: `autoscaling_limit_max_cu autoscaling_limit_min_cu branch_id compute_release_version created_at
    creation_source current_state disabled host id last_active passwordless_access pending_state pooler_enabled
    pooler_mode project_id provisioner proxy_host region_id settings settings.pg_settings settings.pgbouncer_settings
    suspend_timeout_seconds type updated_at`,
  operation: `action branch_id created_at endpoint_id error failures_count id project_id retry_at status
    total_duration_ms updated_at`,
  role: "branch_id created_at name password protected updated_at",
  database: "branch_id created_at id name owner_name updated_at",
  "API key in a list": "created_at id last_used_at last_used_from_addr name",
  "created API key": "created_at id key name",
  "revoked API key": "id last_used_at last_used_from_addr name revoked",
};

/** The fields of an object that the document of 2024 lacks. */
export function laterFieldsOf(kind: PublishedObject, object: object): string[] {
  const known = FIELDS_OF_2024[kind]?.split(/\s+/);
  if (known === undefined) return [];
  return Object.entries(object)
    .flatMap(([name, value]) => {
      const isOpen = known.some((field) => field.startsWith(`${name}.`));
      if (!isOpen || Object.keys(Object(value)).length === 0) return [name];
      return Object.keys(value as object).map((inner) => `${name}.${inner}`);
    })
    .filter((field) => !known.includes(field) && !known.some((other) => other.startsWith(`${field}.`)));
}
