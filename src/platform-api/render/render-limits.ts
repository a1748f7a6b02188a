import { MAX } from "../../input-limits/limits.ts";
import type { ProjectLimits } from "../../platform/rules/project/project-limits.ts";

/** C: a client that compares with a limit takes -1 for none. */
const UNLIMITED = -1;

/**
 * C: the names, from clients of this undocumented call. A: every quantity that no rule limits here is
 * unlimited, and no feature is named.
 */
export function renderProjectLimits(limits: ProjectLimits) {
  return {
    limits: {
      max_projects: limits.projects,
      max_branches: limits.branches,
      max_snapshots: limits.snapshots,
      max_protected_branches: UNLIMITED,
      max_active_endpoints: UNLIMITED,
      max_read_only_endpoints: limits.readReplicas,
      max_autoscaling_cu: limits.maxAutoscaledCu,
      max_fixed_size_cu: limits.maxFixedCu,
      min_autosuspend_seconds: limits.minSuspendTimeoutS,
      max_history_retention_seconds: limits.maxHistoryRetentionS,
      max_monitoring_retention_hours: UNLIMITED,
      max_allowed_ips: MAX.apiEntries,
      active_time: UNLIMITED,
      cpu_seconds: UNLIMITED,
      max_compute_time_non_primary: UNLIMITED,
      max_data_transfer: UNLIMITED,
    },
    features: {},
  };
}
