import { expectSuccess, type Ids, makeBusy, type Scene } from "./contract-scene.ts";

/** A request that succeeds in a scene as it was made. */
export type Example = {
  readonly title?: string;
  /** Ids of the path where they are not the scene's own. */
  readonly ids?: (scene: Scene) => Partial<Ids>;
  readonly query?: (scene: Scene) => string;
  readonly body?: (scene: Scene) => unknown;
  /** What must have happened before. */
  readonly before?: (scene: Scene) => Promise<unknown>;
};

const plain: readonly Example[] = [{}];
const onChild = (scene: Scene) => ({ branch_id: scene.childId });
const onReplica = (scene: Scene) => ({ endpoint_id: scene.replicaId });

const suspended = async ({ double, ids }: Scene) => {
  await expectSuccess(double.api("POST", `/projects/${ids.project_id}/endpoints/${ids.endpoint_id}/suspend`));
  await double.advance("10s");
};

const active = async ({ double, ids }: Scene) => {
  await double.sim("POST", "/activity", { endpoint_id: ids.endpoint_id, duration_ms: 60_000, blocks: { hits: 9, misses: 1, writes: 1 } });
};

const computeSettings = {
  autoscaling_limit_min_cu: 0.5,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 600,
  settings: { pg_settings: { work_mem: "64MB" }, pgbouncer_settings: { default_pool_size: "20" } },
};

const projectSettings = {
  default_endpoint_settings: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 2, suspend_timeout_seconds: -1 },
  history_retention_seconds: 3600,
  settings: { allowed_ips: { ips: ["10.0.0.1"], protected_branches_only: true }, enable_logical_replication: true },
};

/** Every operation that is imitated, by its id in the public document. */
export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  listApiKeys: plain,
  createApiKey: [{ body: () => ({ key_name: "ci" }) }],
  revokeApiKey: [
    { title: "of a key that was never used" },
    {
      title: "of a key that was used",
      before: ({ double, spareKey }) => expectSuccess(double.api("GET", "/projects", undefined, spareKey)),
    },
  ],

  listProjects: [
    {},
    { title: "with a search, a limit and the organization", query: ({ ids }) => `?limit=1&search=SHOP&org_id=${ids.org_id}&timeout=100` },
    { title: "of which none can be recovered", query: () => "?recoverable=true" },
    { title: "while one is active", before: active },
  ],
  listSharedProjects: [{}, { title: "with a search", query: () => "?search=x&limit=400" }],
  createProject: [
    { body: () => ({ project: {} }) },
    {
      title: "with all that can be chosen",
      body: ({ ids }) => ({
        project: {
          ...projectSettings,
          name: "all",
          branch: { name: "trunk", role_name: "alice", database_name: "app" },
          region_id: "aws-eu-central-1",
          pg_version: 17,
          provisioner: "k8s-neonvm",
          store_passwords: true,
          org_id: ids.org_id,
        },
      }),
    },
    { title: "with limits of its own", body: () => ({ project: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 } }) },
  ],
  getProject: [{}, { title: "while it is active", before: active }],
  updateProject: [
    { title: "that changes nothing", body: () => ({ project: {} }) },
    { title: "of everything", body: () => ({ project: { ...projectSettings, name: "renamed" } }) },
  ],
  deleteProject: plain,
  getConnectionURI: [
    { query: ({ ids }) => `?database_name=${ids.database_name}&role_name=${ids.role_name}` },
    {
      title: "pooled, of the replica",
      query: ({ ids, replicaId }) =>
        `?database_name=${ids.database_name}&role_name=${ids.role_name}&pooled=true&branch_id=${ids.branch_id}&endpoint_id=${replicaId}`,
    },
  ],

  listProjectOperations: [{}, { title: "while one runs", before: makeBusy }, { title: "one by one", query: () => "?limit=1" }],
  getProjectOperation: plain,

  createProjectBranch: [
    { title: "without a body" },
    { title: "that asks for nothing", body: () => ({}) },
    {
      title: "with computes and an annotation",
      body: ({ ids }) => ({
        branch: {
          name: "feature",
          parent_id: ids.branch_id,
          parent_timestamp: "2026-01-01T00:00:20Z",
          protected: true,
          init_source: "parent-data",
        },
        endpoints: [{ type: "read_write", ...computeSettings }, { type: "read_only" }],
        annotation_value: { pull_request: "42" },
      }),
    },
    { title: "from a point of the log", body: () => ({ branch: { parent_lsn: "0/1E88838" }, endpoints: [{ type: "read_write" }] }) },
  ],
  listProjectBranches: [
    {},
    { title: "sorted, searched and limited", query: () => "?limit=1&sort_by=name&sort_order=asc&search=c" },
    {
      title: "of which one is annotated and being made",
      before: ({ double, ids }) =>
        expectSuccess(double.api("POST", `/projects/${ids.project_id}/branches`, { annotation_value: { a: "b" } })),
    },
  ],
  countProjectBranches: [{}, { title: "with a search", query: () => "?search=child" }],
  getProjectBranch: [{}, { title: "with a parent", ids: onChild }, { title: "while it is active", before: active }],
  updateProjectBranch: [
    { title: "that changes nothing", body: () => ({ branch: {} }) },
    { title: "of everything", body: () => ({ branch: { name: "renamed", protected: true, expires_at: null } }) },
  ],
  deleteProjectBranch: [
    { ids: onChild },
    { title: "with an active compute", ids: onChild, before: (scene) => createOnChild(scene).then(() => scene.double.advance("10s")) },
  ],
  setDefaultProjectBranch: [{ ids: onChild }, { title: "that is it already" }],
  listProjectBranchRoles: plain,
  getProjectBranchRole: plain,
  getProjectBranchRolePassword: plain,
  listProjectBranchDatabases: plain,
  getProjectBranchDatabase: plain,

  createProjectEndpoint: [
    { title: "as primary", body: ({ childId }) => ({ endpoint: { branch_id: childId, type: "read_write" } }) },
    {
      title: "as replica, with all that can be chosen",
      body: ({ ids }) => ({
        endpoint: {
          ...computeSettings,
          branch_id: ids.branch_id,
          type: "read_only",
          region_id: "aws-us-east-2",
          name: "reports",
          provisioner: "k8s-neonvm",
          pooler_enabled: true,
          pooler_mode: "transaction",
          passwordless_access: false,
        },
      }),
    },
    { title: "disabled", body: ({ childId }) => ({ endpoint: { branch_id: childId, type: "read_write", disabled: true } }) },
  ],
  listProjectEndpoints: [
    {},
    { title: "while one works", before: active },
    { title: "while one is being made", before: createOnChild },
    { title: "while one is idle", before: suspended },
  ],
  listProjectBranchEndpoints: [{}, { title: "of a branch without any", ids: onChild }],
  getProjectEndpoint: [
    {},
    { title: "while it works", before: active },
    { title: "while it is being suspended", ids: onReplica, before: makeBusy },
    { title: "while it is idle", before: suspended },
  ],
  updateProjectEndpoint: [
    { title: "to another branch", body: ({ childId }) => ({ endpoint: { branch_id: childId } }) },
    { title: "of the size", body: () => ({ endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 8 } }) },
    { title: "of the delay alone", body: () => ({ endpoint: { suspend_timeout_seconds: -1 } }) },
    { title: "that disables it", body: () => ({ endpoint: { disabled: true } }) },
    { title: "that changes nothing", body: () => ({ endpoint: {} }) },
    {
      title: "of everything else",
      body: () => ({
        endpoint: { ...computeSettings, name: "main", provisioner: "k8s-pod", pooler_enabled: true, pooler_mode: "transaction" },
      }),
    },
  ],
  deleteProjectEndpoint: [
    {},
    { title: "while it works", before: active },
    { title: "while it is being suspended", ids: onReplica, before: makeBusy },
  ],
  startProjectEndpoint: [{ title: "that is idle", before: suspended }, { title: "that is active already" }],
  suspendProjectEndpoint: [
    { title: "that is active", before: active },
    { title: "that is idle already", before: suspended },
  ],
  restartProjectEndpoint: [{ title: "that is active" }, { title: "that is idle", before: suspended }],

  getCurrentUserInfo: plain,
  getCurrentUserOrganizations: plain,
  getOrganization: plain,
  getActiveRegions: [{}, { title: "of the organization", query: ({ ids }) => `?org_id=${ids.org_id}` }],
  getAuthDetails: plain,
};

async function createOnChild({ double, ids, childId }: Scene): Promise<unknown> {
  return expectSuccess(
    double.api("POST", `/projects/${ids.project_id}/endpoints`, { endpoint: { branch_id: childId, type: "read_write" } }),
  );
}
