export type ProjectRef = { readonly accountId: string; readonly projectId: string };
export type ComputeRef = ProjectRef & { readonly computeId: string };

export type BranchRef = { readonly accountId: string; readonly projectId: string; readonly branchId: string };

export type SnapshotRef = {
  readonly accountId: string;
  readonly projectId: string;
  readonly snapshotId: string;
};
