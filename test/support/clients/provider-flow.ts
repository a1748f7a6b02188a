import type { FieldTypes } from "../document/published-fields.ts";

/**
 * What the community's Terraform provider sends, and which fields of the responses it reads. C: read in its
 * public source (`kislerdm/terraform-provider-neon`, up to 0.15, on `kislerdm/neon-sdk-go`), because Go is
 * not needed for the tests.
 *
 * The client decodes into Go structs. An absent optional object or number is a nil pointer: where the
 * provider reads through it, it crashes. Any other absent field is stored as zero, which plans a change on
 * every run. A fraction in an integer and a response without a body are errors.
 */

type ProviderResource = "project" | "branch" | "endpoint" | "role" | "database";

/** Ids that later requests name. */
export type ProviderIds = Record<"project" | "mainBranch" | "branch" | "endpoint", string>;

export type ProviderStep = {
  readonly resource: ProviderResource;
  readonly action: "create" | "read" | "import" | "update" | "delete";
  readonly request: readonly ["GET" | "POST" | "PATCH" | "DELETE", (ids: ProviderIds) => string];
  readonly body?: (ids: ProviderIds) => unknown;
  /**
   * Fields that the provider reads, by name in the response; `[]` stands for each item of a list with at least one
   * item. Empty: the response itself.
   */
  readonly reads: Readonly<Record<string, FieldTypes>>;
  /** The id that the provider takes from the response. */
  // biome-ignore lint/suspicious/noExplicitAny: each step of the provider reads its own shape
  readonly keeps?: readonly [keyof ProviderIds, (response: any) => string];
};

const PROJECT: FieldTypes = {
  id: "string",
  name: "string",
  org_id: "string",
  region_id: "string",
  pg_version: "integer",
  history_retention_seconds: "integer",
  provisioner: "string",
  store_passwords: "boolean",
  "default_endpoint_settings.autoscaling_limit_min_cu": "number",
  "default_endpoint_settings.autoscaling_limit_max_cu": "number",
  "default_endpoint_settings.suspend_timeout_seconds": "integer",
  // Read through without a check.
  "settings.allowed_ips.ips": "array",
  "settings.allowed_ips.protected_branches_only": "boolean",
  "settings.enable_logical_replication": "boolean",
  "settings.maintenance_window.weekdays": "array",
  "settings.maintenance_window.start_time": "string",
  "settings.maintenance_window.end_time": "string",
  "settings.block_public_connections": "boolean",
  "settings.block_vpc_connections": "boolean",
  "settings.hipaa": "boolean",
};
/** If a quota is set, each of its kinds is read through without a check. */
const PROJECT_WITH_QUOTA: FieldTypes = {
  ...PROJECT,
  "settings.quota.active_time_seconds": "integer",
  "settings.quota.compute_time_seconds": "integer",
  "settings.quota.written_data_bytes": "integer",
  "settings.quota.data_transfer_bytes": "integer",
  "settings.quota.logical_size_bytes": "integer",
};
const OPERATION: FieldTypes = { id: "string", project_id: "string", status: "string" };
/** The default compute and database of a project are chosen by these. Without a match, it crashes. */
const COMPUTE_CHOICE: FieldTypes = {
  id: "string",
  host: "string",
  type: "string",
  branch_id: "string",
  disabled: "boolean",
  created_at: "instant",
};
const DATABASE_CHOICE: FieldTypes = {
  name: "string",
  owner_name: "string",
  branch_id: "string",
  created_at: "instant",
};
const BRANCH: FieldTypes = {
  id: "string",
  name: "string",
  parent_id: "string",
  parent_lsn: "string",
  parent_timestamp: "instant",
  logical_size: "integer",
  protected: "boolean",
};
const ENDPOINT: FieldTypes = {
  id: "string",
  type: "string",
  host: "string",
  region_id: "string",
  branch_id: "string",
  autoscaling_limit_min_cu: "number",
  autoscaling_limit_max_cu: "number",
  settings: "object",
  pooler_enabled: "boolean",
  pooler_mode: "string",
  disabled: "boolean",
  proxy_host: "string",
  provisioner: "string",
  suspend_timeout_seconds: "integer",
};
const ROLE: FieldTypes = { name: "string", protected: "boolean" };
const DATABASE: FieldTypes = { name: "string", owner_name: "string" };

const project = ({ project: id }: ProviderIds) => `/projects/${id}`;
const branches = (ids: ProviderIds) => `${project(ids)}/branches`;
const mainBranch = (ids: ProviderIds) => `${branches(ids)}/${ids.mainBranch}`;
const branch = (ids: ProviderIds) => `${branches(ids)}/${ids.branch}`;
const endpoints = (ids: ProviderIds) => `${project(ids)}/endpoints`;
const endpoint = (ids: ProviderIds) => `${endpoints(ids)}/${ids.endpoint}`;
const role = (ids: ProviderIds) => `${mainBranch(ids)}/roles/qux`;
const database = (name: string) => (ids: ProviderIds) => `${mainBranch(ids)}/databases/${name}`;
const ownerPassword = (ids: ProviderIds) => `${mainBranch(ids)}/roles/role-foo/reveal_password`;

type Action = ProviderStep["action"];

/** All of a project and its default branch, for its state. */
function projectReading(action: Action): readonly ProviderStep[] {
  const step = { resource: "project", action } as const;
  return [
    { ...step, request: ["GET", project], reads: { project: PROJECT_WITH_QUOTA } },
    {
      ...step,
      request: ["GET", branches],
      reads: { "branches[]": { id: "string", name: "string", default: "boolean", primary: "boolean" } },
    },
    {
      ...step,
      request: ["GET", (ids) => `${mainBranch(ids)}/endpoints`],
      reads: { "endpoints[]": COMPUTE_CHOICE },
    },
    {
      ...step,
      request: ["GET", (ids) => `${mainBranch(ids)}/databases`],
      reads: { "databases[]": DATABASE_CHOICE },
    },
    { ...step, request: ["GET", ownerPassword], reads: { "": { password: "string" } } },
  ];
}

/** An import looks for the object in all projects. */
function listOfProjects(resource: ProviderResource): ProviderStep {
  return {
    resource,
    action: "import",
    request: ["GET", () => "/projects?limit=400"],
    reads: { "projects[]": { id: "string" }, pagination: { cursor: "string" } },
  };
}

const roleReading = (action: Action): ProviderStep => ({
  resource: "role",
  action,
  request: ["GET", role],
  reads: { role: ROLE },
});
const rolePassword = (action: Action): ProviderStep => ({
  resource: "role",
  action,
  request: ["GET", (ids) => `${role(ids)}/reveal_password`],
  reads: { "": { password: "string" } },
});
const branchReading = (action: Action): ProviderStep => ({
  resource: "branch",
  action,
  request: ["GET", branch],
  reads: { branch: BRANCH },
});
const endpointReading = (action: Action): ProviderStep => ({
  resource: "endpoint",
  action,
  request: ["GET", endpoint],
  reads: { endpoint: ENDPOINT },
});
const databaseReading = (action: Action, name: string): ProviderStep => ({
  resource: "database",
  action,
  request: ["GET", database(name)],
  reads: { database: DATABASE },
});

/** Create, read, import, update and delete of each resource, in the order of an apply and a destroy. */
export const PROVIDER_FLOW: readonly ProviderStep[] = [
  {
    resource: "project",
    action: "create",
    request: ["POST", () => "/projects"],
    body: () => ({
      project: {
        name: "acctest",
        region_id: "aws-us-west-2",
        pg_version: 16,
        history_retention_seconds: 100,
        default_endpoint_settings: {
          autoscaling_limit_min_cu: 0.25,
          autoscaling_limit_max_cu: 0.5,
          suspend_timeout_seconds: 90,
        },
        // The provider sends the kinds that are set, and reads all.
        settings: { quota: { written_data_bytes: 10_000 } },
        branch: { name: "br-foo", role_name: "role-foo", database_name: "db-foo" },
      },
    }),
    reads: {
      project: PROJECT_WITH_QUOTA,
      branch: { id: "string", name: "string" },
      "endpoints[]": COMPUTE_CHOICE,
      "databases[]": DATABASE_CHOICE,
      "operations[]": OPERATION,
    },
    keeps: ["project", (response) => response.project.id],
  },
  {
    resource: "project",
    action: "create",
    request: ["GET", branches],
    reads: { "branches[]": { id: "string", default: "boolean" } },
    keeps: [
      "mainBranch",
      (response) => response.branches.find((row: { default: boolean }) => row.default).id,
    ],
  },
  {
    resource: "project",
    action: "create",
    request: ["GET", ownerPassword],
    reads: { "": { password: "string" } },
  },
  ...projectReading("read"),
  ...projectReading("import"),
  {
    resource: "branch",
    action: "create",
    request: ["POST", branches],
    body: (ids) => ({ branch: { name: "bar", parent_id: ids.mainBranch } }),
    reads: { branch: BRANCH, "operations[]": OPERATION },
    keeps: ["branch", (response) => response.branch.id],
  },
  branchReading("read"),
  listOfProjects("branch"),
  {
    resource: "branch",
    action: "import",
    request: ["GET", branches],
    reads: { "branches[]": { id: "string" } },
  },
  branchReading("import"),
  {
    resource: "endpoint",
    action: "create",
    request: ["POST", endpoints],
    body: (ids) => ({
      endpoint: {
        branch_id: ids.branch,
        type: "read_write",
        pooler_enabled: false,
        disabled: false,
        suspend_timeout_seconds: 0,
      },
    }),
    reads: { endpoint: ENDPOINT, "operations[]": OPERATION },
    keeps: ["endpoint", (response) => response.endpoint.id],
  },
  endpointReading("read"),
  listOfProjects("endpoint"),
  {
    resource: "endpoint",
    action: "import",
    request: ["GET", endpoints],
    reads: { "endpoints[]": { id: "string" } },
  },
  endpointReading("import"),
  {
    resource: "role",
    action: "create",
    request: ["POST", (ids) => `${mainBranch(ids)}/roles`],
    body: () => ({ role: { name: "qux" } }),
    // Without the password, it reads it from a wrong path and fails.
    reads: { role: { ...ROLE, password: "string" }, "operations[]": OPERATION },
  },
  roleReading("read"),
  rolePassword("read"),
  roleReading("import"),
  rolePassword("import"),
  {
    resource: "database",
    action: "create",
    request: ["POST", (ids) => `${mainBranch(ids)}/databases`],
    body: () => ({ database: { name: "quxx", owner_name: "qux" } }),
    reads: { database: DATABASE, "operations[]": OPERATION },
  },
  databaseReading("read", "quxx"),
  databaseReading("import", "quxx"),
  {
    resource: "project",
    action: "update",
    request: ["PATCH", project],
    // The provider sends an object without fields for what is not configured.
    body: () => ({ project: { name: "renamed", settings: { allowed_ips: {} } } }),
    reads: { project: { id: "string" }, operations: {} },
  },
  ...projectReading("update"),
  {
    resource: "branch",
    action: "update",
    request: ["PATCH", branch],
    body: () => ({ branch: { name: "baz", protected: false } }),
    reads: { branch: BRANCH, operations: {} },
  },
  {
    resource: "endpoint",
    action: "update",
    request: ["PATCH", endpoint],
    body: (ids) => ({
      endpoint: {
        branch_id: ids.branch,
        autoscaling_limit_min_cu: 0.25,
        autoscaling_limit_max_cu: 1,
        provisioner: "k8s-neonvm",
        pooler_enabled: true,
        pooler_mode: "transaction",
        disabled: false,
        suspend_timeout_seconds: 90,
        settings: { pg_settings: { work_mem: "8MB" } },
      },
    }),
    reads: { endpoint: ENDPOINT, "operations[]": OPERATION },
  },
  {
    resource: "database",
    action: "update",
    request: ["PATCH", database("quxx")],
    body: () => ({ database: { name: "quux", owner_name: "qux" } }),
    reads: { database: DATABASE, "operations[]": OPERATION },
  },
  {
    resource: "database",
    action: "delete",
    request: ["DELETE", database("quux")],
    reads: { database: DATABASE, "operations[]": OPERATION },
  },
  {
    resource: "role",
    action: "delete",
    request: ["DELETE", role],
    reads: { role: ROLE, "operations[]": OPERATION },
  },
  {
    resource: "endpoint",
    action: "delete",
    request: ["DELETE", endpoint],
    reads: { endpoint: ENDPOINT, operations: {} },
  },
  {
    resource: "branch",
    action: "delete",
    request: ["DELETE", branch],
    reads: { branch: { id: "string" }, "operations[]": OPERATION },
  },
  { resource: "project", action: "delete", request: ["DELETE", project], reads: { project: PROJECT } },
];
