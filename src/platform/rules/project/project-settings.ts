import type { Profile } from "../../catalog/defaults-and-limits.ts";
import type { Project } from "../../model/project.ts";

/**
 * The settings of a project that has none of its own: every answer of the platform has them. Clients rely on
 * that; the Terraform provider of 2025 crashes without `allowed_ips`. D: the names, and all values except the
 * maintenance window, which the platform assigns to each project by itself (A: the same one to all).
 */
export const DEFAULT_PROJECT_SETTINGS = {
  allowed_ips: { ips: [], protected_branches_only: false },
  enable_logical_replication: false,
  maintenance_window: { weekdays: [5], start_time: "07:00", end_time: "08:00" },
  block_public_connections: false,
  block_vpc_connections: false,
  hipaa: false,
} as const;

/** S: 0 means no limit. C: where a project has a quota, the Terraform provider crashes without any of these. */
const NO_QUOTA = {
  active_time_seconds: 0,
  compute_time_seconds: 0,
  written_data_bytes: 0,
  data_transfer_bytes: 0,
  logical_size_bytes: 0,
} as const;

/** All settings of a project: its own that the profile has, and the default of each one that was never set. */
export function effectiveSettings(
  { settings }: Pick<Project, "settings">,
  { hasPrimaryBranchOnly }: Pick<Profile, "hasPrimaryBranchOnly">,
): Readonly<Record<string, unknown>> {
  const { allowed_ips, quota, ...others } = settings as { allowed_ips?: object; quota?: object };
  const { primary_branch_only = false, ...allowedIps } = { ...allowed_ips } as {
    primary_branch_only?: boolean;
  };
  return {
    ...DEFAULT_PROJECT_SETTINGS,
    ...others,
    allowed_ips: {
      ...DEFAULT_PROJECT_SETTINGS.allowed_ips,
      ...allowedIps,
      ...(hasPrimaryBranchOnly ? { primary_branch_only } : {}),
    },
    ...(quota === undefined || Object.keys(quota).length === 0 ? {} : { quota: { ...NO_QUOTA, ...quota } }),
  };
}
