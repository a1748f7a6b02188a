import { expectSuccess, type Ids, makeBusy, type SceneApi, type Scene as SceneOf } from "./contract-scene.ts";
import { RECORDED_EXAMPLES } from "./recorded-examples.ts";

type Scene = SceneOf<SceneApi>;

/** A request that succeeds in a new scene. */
export type Example = {
  readonly title?: string;
  /** Ids of the path that differ from those of the scene. */
  readonly ids?: (scene: Scene) => Partial<Ids>;
  readonly query?: (scene: Scene) => string;
  readonly body?: (scene: Scene) => unknown;
  /** Prepares the scene. */
  readonly before?: (scene: Scene) => Promise<unknown>;
};

const plain: readonly Example[] = [{}];
const onChild = (scene: Scene) => ({ branch_id: scene.childId });
const onRestored = (scene: Scene) => ({ branch_id: scene.restoredId });
const onReplica = (scene: Scene) => ({ endpoint_id: scene.replicaId });

const suspended = async ({ double, ids }: Scene) => {
  await expectSuccess(double.api("POST", `/projects/${ids.project_id}/endpoints/${ids.endpoint_id}/suspend`));
  await double.advance("10s");
};

const active = async ({ double, ids }: Scene) => {
  await double.sim("POST", "/activity", {
    endpoint_id: ids.endpoint_id,
    duration_ms: 60_000,
    blocks: { hits: 9, misses: 1, writes: 1 },
  });
};

const computeSettings = {
  autoscaling_limit_min_cu: 0.5,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 600,
  settings: { pg_settings: { work_mem: "64MB" }, pgbouncer_settings: { default_pool_size: "20" } },
};

const projectSettings = {
  default_endpoint_settings: {
    autoscaling_limit_min_cu: 1,
    autoscaling_limit_max_cu: 2,
    suspend_timeout_seconds: -1,
  },
  history_retention_seconds: 3600,
  settings: {
    quota: {
      active_time_seconds: 3600,
      compute_time_seconds: 0,
      written_data_bytes: 1,
      data_transfer_bytes: 1,
      logical_size_bytes: 1,
    },
    allowed_ips: { ips: ["10.0.0.1"], protected_branches_only: true },
    enable_logical_replication: true,
    maintenance_window: { weekdays: [6, 7], start_time: "01:00", end_time: "02:00" },
    preload_libraries: { use_defaults: true, enabled_libraries: [] },
  },
};

const V1_METRICS = "active_time_seconds,data_storage_bytes_hour,logical_size_bytes,logical_size_bytes_hour";
const V2_METRICS =
  "compute_unit_seconds,root_branch_bytes_month,child_branch_bytes_month,public_network_transfer_bytes";
const FREQUENCIES = [
  { frequency: "hourly", retention_seconds: 3_600 },
  { frequency: "daily", hour: 3, retention_seconds: 604_800 },
  { frequency: "weekly", hour: 3, day: 7 },
  { frequency: "monthly", hour: 0, day: 31, retention_seconds: 7_776_000 },
  { frequency: "yearly", hour: 23, day: 31, month: 12 },
];
const afterDays = ({ double }: Scene) => double.advance("40h");

/** Every operation that is imitated or recorded, by its id in the public document. */
export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  ...RECORDED_EXAMPLES,
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
    {
      title: "with a search, a limit and the organization",
      query: ({ ids }) => `?limit=1&search=SHOP&org_id=${ids.org_id}&timeout=100`,
    },
    { title: "of which none can be recovered", query: () => "?recoverable=true" },
    {
      title: "of which one can be recovered",
      query: () => "?recoverable=true",
      before: (scene) => done(scene, "DELETE", ""),
    },
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
    {
      title: "with limits of its own",
      body: () => ({ project: { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 } }),
    },
  ],
  getProject: [{}, { title: "while it is active", before: active }],
  updateProject: [
    { title: "that changes nothing", body: () => ({ project: {} }) },
    { title: "of everything", body: () => ({ project: { ...projectSettings, name: "renamed" } }) },
  ],
  deleteProject: plain,
  recoverProject: [{ before: (scene) => done(scene, "DELETE", "") }],
  getConnectionURI: [
    { query: ({ ids }) => `?database_name=${ids.database_name}&role_name=${ids.role_name}` },
    {
      title: "pooled, of the replica",
      query: ({ ids, replicaId }) =>
        `?database_name=${ids.database_name}&role_name=${ids.role_name}&pooled=true&branch_id=${ids.branch_id}&endpoint_id=${replicaId}`,
    },
  ],

  listProjectOperations: [
    {},
    { title: "while one runs", before: makeBusy },
    { title: "one by one", query: () => "?limit=1" },
  ],
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
    {
      title: "from a point of the log",
      body: () => ({ branch: { parent_lsn: "0/1E88838" }, endpoints: [{ type: "read_write" }] }),
    },
    { title: "as archived", body: () => ({ branch: { archived: true } }) },
  ],
  listProjectBranches: [
    {},
    { title: "sorted, searched and limited", query: () => "?limit=1&sort_by=name&sort_order=asc&search=c" },
    {
      title: "of which one is deleted and can be recovered",
      query: () => "?include_deleted=true",
      before: (scene) => done(scene, "DELETE", `/branches/${scene.childId}`),
    },
    {
      title: "of which one is annotated and being made",
      before: ({ double, ids }) =>
        expectSuccess(
          double.api("POST", `/projects/${ids.project_id}/branches`, { annotation_value: { a: "b" } }),
        ),
    },
  ],
  countProjectBranches: [{}, { title: "with a search", query: () => "?search=child" }],
  getProjectBranch: [
    {},
    { title: "with a parent", ids: onChild },
    { title: "while it is active", before: active },
  ],
  updateProjectBranch: [
    { title: "that changes nothing", body: () => ({ branch: {} }) },
    {
      title: "of everything",
      body: () => ({ branch: { name: "renamed", protected: true, expires_at: null } }),
    },
  ],
  deleteProjectBranch: [
    { ids: onChild },
    {
      title: "with an active compute",
      ids: onChild,
      before: (scene) => createOnChild(scene).then(() => scene.double.advance("10s")),
    },
  ],
  restoreProjectBranch: [
    { title: "from its parent", ids: onChild, body: ({ ids }) => ({ source_branch_id: ids.branch_id }) },
    {
      title: "from an instant of its parent",
      ids: onChild,
      body: ({ ids }) => ({ source_branch_id: ids.branch_id, source_timestamp: "2026-01-01T00:00:20Z" }),
    },
    {
      title: "in its own history, preserved, with computes that are active",
      body: ({ ids }) => ({
        source_branch_id: ids.branch_id,
        source_timestamp: "2026-01-01T00:00:05Z",
        preserve_under_name: "before",
      }),
    },
    {
      title: "from a point of the log",
      body: ({ ids }) => ({
        source_branch_id: ids.branch_id,
        source_lsn: "0/1E88838",
        preserve_under_name: "before",
      }),
    },
    {
      title: "that expires",
      ids: onChild,
      before: (scene) =>
        done(scene, "PATCH", `/branches/${scene.childId}`, {
          branch: { expires_at: "2026-01-10T00:00:00Z" },
        }),
      body: ({ ids }) => ({ source_branch_id: ids.branch_id }),
    },
  ],
  recoverProjectBranch: [
    { ids: onChild, before: (scene) => done(scene, "DELETE", `/branches/${scene.childId}`) },
    {
      title: "with a compute",
      ids: onChild,
      before: async (scene) => {
        await createOnChild(scene);
        await scene.double.advance("10s");
        await done(scene, "DELETE", `/branches/${scene.childId}`);
      },
    },
  ],
  finalizeRestoreBranch: [
    { title: "without a body", ids: onRestored },
    { title: "with a name for what it replaces", ids: onRestored, body: () => ({ name: "replaced" }) },
    { title: "while the computes are idle", ids: onRestored, before: suspended },
  ],
  getProjectBranchSchema: [
    { query: ({ ids }) => `?db_name=${ids.database_name}` },
    {
      title: "as JSON, at an instant",
      query: ({ ids }) => `?db_name=${ids.database_name}&format=json&timestamp=2026-01-01T00:00:20Z`,
    },
  ],
  getProjectBranchSchemaComparison: [
    { title: "with its parent", ids: onChild, query: ({ ids }) => `?db_name=${ids.database_name}` },
    {
      title: "with another, both at an instant",
      query: ({ ids, childId }) =>
        `?db_name=${ids.database_name}&base_branch_id=${childId}&timestamp=2026-01-01T00:00:20Z&base_timestamp=2026-01-01T00:00:20Z`,
    },
  ],
  createSnapshot: [
    {},
    { title: "that has a name and expires", query: () => "?name=nightly&expires_at=2026-02-01T00:00:00Z" },
    { title: "of an instant", query: () => "?timestamp=2026-01-01T00:00:05.250Z" },
    { title: "of a point of the log", query: () => "?lsn=0/1E88838" },
  ],
  listSnapshots: [
    {},
    {
      title: "of which a schedule made some",
      before: async (scene) => {
        await setSchedule(scene, [{ frequency: "hourly", retention_seconds: 86_400 }]);
        await scene.double.advance("3h");
      },
    },
    {
      title: "of which one expires",
      before: (scene) =>
        done(scene, "POST", `/branches/${scene.ids.branch_id}/snapshot?expires_at=2026-02-01T00:00:00Z`),
    },
  ],
  updateSnapshot: [
    { body: () => ({ snapshot: { name: "renamed" } }) },
    { title: "that changes nothing", body: () => ({ snapshot: {} }) },
  ],
  deleteSnapshot: plain,
  restoreSnapshot: [
    { title: "without a body" },
    { title: "under a name", body: () => ({ name: "again" }) },
    {
      title: "replacing another branch",
      body: ({ childId }) => ({ target_branch_id: childId, finalize_restore: true }),
    },
    { title: "replacing its source", body: () => ({ finalize_restore: true }) },
    {
      title: "whose branch has changed since",
      before: (scene) =>
        done(scene, "POST", `/branches/${scene.ids.branch_id}/databases`, {
          database: { name: "later", owner_name: scene.ids.role_name },
        }),
    },
  ],
  getSnapshotSchedule: [
    { title: "where there is none" },
    { title: "with each frequency", before: (scene) => setSchedule(scene, FREQUENCIES) },
  ],
  setSnapshotSchedule: [
    { title: "of nothing", body: () => ({ schedule: [] }) },
    ...FREQUENCIES.map((item) => ({ title: item.frequency, body: () => ({ schedule: [item] }) })),
    { title: "with each frequency", body: () => ({ schedule: FREQUENCIES }) },
  ],
  setDefaultProjectBranch: [{ ids: onChild }, { title: "that is it already" }],
  listProjectBranchRoles: plain,
  getProjectBranchRole: plain,
  getProjectBranchRolePassword: plain,
  createProjectBranchRole: [
    { body: () => ({ role: { name: "alice" } }) },
    { title: "that cannot log in", body: () => ({ role: { name: "readers", no_login: true } }) },
    { title: "on a branch without a compute", ids: onChild, body: () => ({ role: { name: "alice" } }) },
  ],
  deleteProjectBranchRole: [
    {
      ids: () => ({ role_name: "alice" }),
      before: (scene) => done(scene, "POST", rolesOf(scene), { role: { name: "alice" } }),
    },
  ],
  resetProjectBranchRolePassword: [{}, { title: "while its compute is idle", before: suspended }],
  listProjectBranchDatabases: plain,
  getProjectBranchDatabase: plain,
  createProjectBranchDatabase: [
    { body: ({ ids }) => ({ database: { name: "app", owner_name: ids.role_name } }) },
    {
      title: "while its compute is idle",
      before: suspended,
      body: ({ ids }) => ({ database: { name: "app", owner_name: ids.role_name } }),
    },
  ],
  updateProjectBranchDatabase: [
    { title: "of the name", body: () => ({ database: { name: "renamed" } }) },
    { title: "of the owner", body: ({ ids }) => ({ database: { owner_name: ids.role_name } }) },
    { title: "that changes nothing", body: () => ({ database: {} }) },
  ],
  deleteProjectBranchDatabase: plain,

  createProjectEndpoint: [
    {
      title: "as primary",
      body: ({ childId }) => ({ endpoint: { branch_id: childId, type: "read_write" } }),
    },
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
    {
      title: "disabled",
      body: ({ childId }) => ({ endpoint: { branch_id: childId, type: "read_write", disabled: true } }),
    },
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
    {
      title: "of the size",
      body: () => ({ endpoint: { autoscaling_limit_min_cu: 2, autoscaling_limit_max_cu: 8 } }),
    },
    { title: "of the delay alone", body: () => ({ endpoint: { suspend_timeout_seconds: -1 } }) },
    { title: "that disables it", body: () => ({ endpoint: { disabled: true } }) },
    { title: "that changes nothing", body: () => ({ endpoint: {} }) },
    {
      title: "of everything else",
      body: () => ({
        endpoint: {
          ...computeSettings,
          name: "main",
          provisioner: "k8s-pod",
          pooler_enabled: true,
          pooler_mode: "transaction",
        },
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

  getConsumptionHistoryPerProject: [
    {
      title: "by the hour, with all metrics",
      query: ({ ids }) => `${january("hourly", "05")}&project_ids=${ids.project_id}&metrics=${V1_METRICS}`,
    },
    {
      title: "by the day, of an organization",
      query: ({ ids }) => `${january("daily", "31")}&org_id=${ids.org_id}&include_v1_metrics=true`,
      before: afterDays,
    },
    { title: "by the month, page by page", query: () => `${january("monthly", "31")}&limit=1` },
  ],
  getConsumptionHistoryPerProjectV2: [
    { query: ({ ids }) => `${january("daily", "31")}&org_id=${ids.org_id}&metrics=${V2_METRICS}` },
    {
      title: "after days, with branches to pay for",
      query: ({ ids }) =>
        `${january("daily", "31")}&org_id=${ids.org_id}&metrics=${V2_METRICS},extra_branches_month`,
      before: afterDays,
    },
  ],
  getConsumptionHistoryPerBranchV2: [
    {
      query: ({ ids }) =>
        `${january("hourly", "05")}&org_id=${ids.org_id}&metrics=${V2_METRICS}&project_ids=${ids.project_id}&branch_ids=${ids.branch_id}`,
    },
  ],

  getProjectJWKS: plain,
  addProjectJWKS: [
    { body: () => ({ jwks_url: "https://issuer.example/.well-known/jwks.json", provider_name: "issuer" }) },
    {
      title: "with all that can be chosen",
      body: ({ childId }) => ({
        jwks_url: "https://issuer.example/jwks",
        provider_name: "issuer",
        branch_id: childId,
        jwt_audience: "shop",
        role_names: ["authenticated"],
        skip_role_creation: false,
      }),
    },
  ],
  deleteProjectJWKS: plain,
  getAvailablePreloadLibraries: plain,
  listProjectPermissions: plain,
  grantPermissionToProject: [{ body: () => ({ email: "another-guest@standin.example" }) }],
  revokePermissionFromProject: plain,
  listProjectVPCEndpoints: plain,
  assignProjectVPCEndpoint: [{ title: "that is assigned already", body: () => ({ label: "the office" }) }],
  deleteProjectVPCEndpoint: plain,
  listOrganizationVPCEndpointsAllRegions: plain,
  listOrganizationVPCEndpoints: plain,
  getOrganizationVPCEndpointDetails: plain,
  assignOrganizationVPCEndpoint: [
    { ids: () => ({ vpc_endpoint_id: "vpce-new" }), body: () => ({ label: "new" }) },
    { title: "that is assigned already", body: () => ({ label: "the office" }) },
  ],
  deleteOrganizationVPCEndpoint: plain,
  createProjectTransferRequest: [
    { title: "without a body" },
    { title: "for an hour", body: () => ({ ttl_seconds: 3600 }) },
  ],
  acceptProjectTransferRequest: [
    { ids: ({ others: { ids } }) => ({ project_id: ids.project_id, request_id: ids.request_id }) },
    {
      title: "for an organization",
      ids: ({ others: { ids } }) => ({ project_id: ids.project_id, request_id: ids.request_id }),
      body: ({ ids }) => ({ org_id: ids.org_id }),
    },
  ],
  transferProjectsFromOrgToOrg: [
    { body: ({ ids, partnerId }) => ({ destination_org_id: partnerId, project_ids: [ids.project_id] }) },
  ],
  transferProjectsFromUserToOrg: [
    { body: ({ ids, partnerId }) => ({ destination_org_id: partnerId, project_ids: [ids.project_id] }) },
  ],
  listOrgApiKeys: plain,
  createOrgApiKey: [
    { body: () => ({ key_name: "ci" }) },
    { title: "for one project", body: ({ ids }) => ({ key_name: "ci", project_id: ids.project_id }) },
  ],
  revokeOrgApiKey: [{ ids: ({ organizationKey }) => ({ key_id: organizationKey.id }) }],
  getOrganizationMembers: [
    {},
    { title: "sorted and limited", query: () => "?sort_by=email&sort_order=asc&limit=1" },
  ],
  getOrganizationMember: plain,
  updateOrganizationMember: [{ body: () => ({ role: "viewer" }) }],
  removeOrganizationMember: plain,
  getOrganizationInvitations: plain,
  createOrganizationInvitations: [
    {
      body: () => ({
        invitations: [
          { email: "new@standin.example", role: "admin" },
          { email: "newer@standin.example", role: "collaborator" },
        ],
      }),
    },
  ],
  getOrganizationSpendingLimit: [
    {},
    {
      title: "that is set",
      before: ({ double, ids }) =>
        double.api("PUT", `/organizations/${ids.org_id}/billing/spending_limit`, {
          spending_limit_cents: 5_000,
        }),
    },
  ],
  setOrganizationSpendingLimit: [{ body: () => ({ spending_limit_cents: 10_000 }) }],
  deleteOrganizationSpendingLimit: plain,

  getCurrentUserInfo: plain,
  getCurrentUserOrganizations: plain,
  getOrganization: plain,
  getActiveRegions: [{}, { title: "of the organization", query: ({ ids }) => `?org_id=${ids.org_id}` }],
  getAuthDetails: plain,
};

/** A timeframe in the month in which scenes begin. */
function january(granularity: "hourly" | "daily" | "monthly", until: string): string {
  return `?from=2026-01-01T00:00:00Z&to=2026-${granularity === "monthly" ? "02-01" : `01-${until}`}T00:00:00Z&granularity=${granularity}`;
}

const rolesOf = ({ ids }: Scene) => `/branches/${ids.branch_id}/roles`;

/** Does something in the project of the scene and lets its operations finish. */
async function done(
  { double, ids }: Scene,
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<void> {
  await expectSuccess(double.api(method, `/projects/${ids.project_id}${path}`, body));
  await double.advance("10s");
}

function setSchedule(scene: Scene, schedule: readonly object[]): Promise<void> {
  return done(scene, "PUT", `/branches/${scene.ids.branch_id}/backup_schedule`, { schedule });
}

async function createOnChild({ double, ids, childId }: Scene): Promise<unknown> {
  return expectSuccess(
    double.api("POST", `/projects/${ids.project_id}/endpoints`, {
      endpoint: { branch_id: childId, type: "read_write" },
    }),
  );
}
