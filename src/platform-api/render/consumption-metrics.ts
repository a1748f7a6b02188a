/** Metrics that every timeframe has, and those that it has only on request. */
export const METRICS = [
  "active_time_seconds",
  "compute_time_seconds",
  "written_data_bytes",
  "synthetic_storage_size_bytes",
] as const;
export const OPTIONAL_METRICS = [
  "data_storage_bytes_hour",
  "logical_size_bytes",
  "logical_size_bytes_hour",
] as const;
export const BRANCH_METRICS = [
  "compute_unit_seconds",
  "root_branch_bytes_month",
  "child_branch_bytes_month",
  "instant_restore_bytes_month",
  "public_network_transfer_bytes",
  "private_network_transfer_bytes",
] as const;
export const PROJECT_METRICS = [
  ...BRANCH_METRICS,
  "extra_branches_month",
  "snapshot_storage_bytes_month",
] as const;
