import type { Format } from "./formats.ts";

/**
 * The fields of recorded objects, by their path: `name[]` is each item of a list, `name[1]` its second one.
 */
export type Shape = Readonly<Record<string, Format>>;

/** The fields of an object at this place of an answer. */
export function at(place: string, shape: Shape): Shape {
  return Object.fromEntries(Object.entries(shape).map(([path, format]) => [`${place}.${path}`, format]));
}

const INSTANTS: Shape = { created_at: "instant of whole seconds", updated_at: "instant of whole seconds" };

const SETTINGS_OF_EVERY_PROJECT: Shape = {
  id: "project id",
  platform_id: ["aws"],
  region_id: "region id",
  name: "text",
  provisioner: ["k8s-neonvm"],
  "default_endpoint_settings.autoscaling_limit_min_cu": "number",
  "default_endpoint_settings.autoscaling_limit_max_cu": "number",
  "default_endpoint_settings.suspend_timeout_seconds": "integer",
  "settings.allowed_ips.primary_branch_only": "boolean",
  "settings.enable_logical_replication": "boolean",
  pg_version: "integer",
  proxy_host: "host of a region",
  branch_logical_size_limit: "integer",
  branch_logical_size_limit_bytes: "integer",
  store_passwords: "boolean",
  cpu_used_sec: "integer",
  creation_source: ["console"],
  owner_id: "owner id",
  ...INSTANTS,
};

export const LISTED_PROJECT: Shape = {
  ...SETTINGS_OF_EVERY_PROJECT,
  active_time: "integer",
  synthetic_storage_size: "integer",
  quota_reset_at: "instant of whole seconds",
};

export const CREATED_PROJECT: Shape = {
  ...SETTINGS_OF_EVERY_PROJECT,
  "settings.allowed_ips.ips": "list",
  data_storage_bytes_hour: "integer",
  data_transfer_bytes: "integer",
  written_data_bytes: "integer",
  compute_time_seconds: "integer",
  active_time_seconds: "integer",
  history_retention_seconds: "integer",
  consumption_period_start: "instant of whole seconds",
  consumption_period_end: "instant of whole seconds",
};

export const CHANGED_PROJECT: Shape = { ...CREATED_PROJECT, synthetic_storage_size: "integer" };

export const READ_PROJECT: Shape = {
  ...CHANGED_PROJECT,
  quota_reset_at: "instant of whole seconds",
  "owner.email": "e-mail address",
  "owner.branches_limit": "integer",
  "owner.subscription_type": "text",
};

/** In projects whose compute was active. */
export const ACTIVITY: Shape = { compute_last_active_at: "instant of whole seconds" };

/** A branch that is being created. */
export const BRANCH: Shape = {
  id: "branch id",
  project_id: "project id",
  name: "text",
  current_state: ["init"],
  pending_state: ["ready"],
  creation_source: ["console"],
  primary: "boolean",
  cpu_used_sec: "integer",
  compute_time_seconds: "integer",
  active_time_seconds: "integer",
  written_data_bytes: "integer",
  data_transfer_bytes: "integer",
  ...INSTANTS,
};

/** A compute that is being created. */
export const ENDPOINT: Shape = {
  host: "host of an endpoint",
  id: "endpoint id",
  project_id: "project id",
  branch_id: "branch id",
  autoscaling_limit_min_cu: "number",
  autoscaling_limit_max_cu: "number",
  region_id: "region id",
  type: ["read_write"],
  current_state: ["init"],
  pending_state: ["active"],
  settings: "object",
  pooler_enabled: "boolean",
  pooler_mode: ["transaction"],
  disabled: "boolean",
  passwordless_access: "boolean",
  creation_source: ["console"],
  proxy_host: "host of a region",
  suspend_timeout_seconds: "integer",
  provisioner: ["k8s-neonvm"],
  ...INSTANTS,
};

/** The same when it is read: before the first activity, `last_active` is 2000-01-01. */
export const READ_ENDPOINT: Shape = { ...ENDPOINT, last_active: ["2000-01-01T00:00:00Z"] };

export const OPERATION: Shape = {
  id: "uuid",
  project_id: "project id",
  branch_id: "branch id",
  action: ["create_timeline", "start_compute"],
  status: ["running", "scheduling"],
  failures_count: "integer",
  total_duration_ms: "integer",
  ...INSTANTS,
};

export const ROLE: Shape = { branch_id: "branch id", name: "text", protected: "boolean", ...INSTANTS };

export const DATABASE: Shape = {
  id: "integer",
  branch_id: "branch id",
  name: "text",
  owner_name: "text",
  ...INSTANTS,
};

export const CONNECTION_URI: Shape = {
  connection_uri: "connection URI",
  "connection_parameters.database": "text",
  "connection_parameters.password": "text",
  "connection_parameters.role": "text",
  "connection_parameters.host": "host of an endpoint",
  "connection_parameters.pooler_host": "host of a pooler",
};

const API_KEY_USE: Shape = {
  last_used_at: "instant of whole seconds or null",
  last_used_from_addr: "network address or empty",
};

export const CREATED_API_KEY: Shape = {
  id: "integer",
  key: "secret of 80 letters and digits",
  name: "text",
  created_at: "instant of whole seconds",
};

export const LISTED_API_KEY: Shape = {
  id: "integer",
  name: "text",
  created_at: "instant of whole seconds",
  ...API_KEY_USE,
};

export const REVOKED_API_KEY: Shape = { id: "integer", name: "text", revoked: [true], ...API_KEY_USE };

export const USER: Shape = {
  active_seconds_limit: "integer",
  "billing_account.payment_source.type": "text or empty",
  "billing_account.subscription_type": "text",
  "billing_account.quota_reset_at_last": "instant of whole seconds",
  "billing_account.email": "e-mail address",
  "billing_account.address_city": "text or empty",
  "billing_account.address_country": "text or empty",
  "billing_account.address_line1": "text or empty",
  "billing_account.address_line2": "text or empty",
  "billing_account.address_postal_code": "text or empty",
  "billing_account.address_state": "text or empty",
  "billing_account.orb_portal_url": "URL",
  "auth_accounts[].email": "e-mail address",
  "auth_accounts[].image": "text or empty",
  "auth_accounts[].login": "text",
  "auth_accounts[].name": "text",
  "auth_accounts[].provider": "text",
  email: "e-mail address",
  id: "uuid",
  image: "text or empty",
  login: "text",
  name: "text",
  last_name: "text or empty",
  projects_limit: "integer",
  branches_limit: "integer",
  max_autoscaling_limit: "number",
  plan: "text",
};
