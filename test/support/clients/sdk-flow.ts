/** Values from earlier responses that later calls need. */
export type SdkState = Record<
  "org" | "project" | "main" | "branch" | "endpoint" | "snapshot" | "restored" | "permission" | "credential",
  string
> & { key: number; operations: unknown };

/** A method of the ergonomic client, by its path, with its parameters. */
export type SdkCall = readonly [
  method: string,
  params: (state: SdkState) => unknown,
  // biome-ignore lint/suspicious/noExplicitAny: each method of the client returns its own shape
  keep?: (data: any, state: SdkState) => void,
];

const project = ({ project: projectId }: SdkState) => ({ projectId });
const branch = (state: SdkState) => ({ ...project(state), branchId: state.branch });
const endpoint = (state: SdkState) => ({ ...project(state), endpointId: state.endpoint });
const role = (state: SdkState) => ({ ...branch(state), roleName: "alice" });
const database = (state: SdkState) => ({ ...branch(state), databaseName: "app" });
const dataApi = (state: SdkState) => ({ ...branch(state), databaseName: "neondb" });
const oauthProvider = (state: SdkState) => ({ ...branch(state), providerId: "github" });
const trustedDomain = (state: SdkState) => ({ ...branch(state), auth_provider: "better_auth" });
const DOMAIN = "https://shop.example";
const history = () => ({
  from: "2026-01-01T00:00:00Z",
  to: "2026-01-02T00:00:00Z",
  granularity: "daily",
});
const metrics = () => ({ ...history(), metrics: ["compute_unit_seconds"] });

/** Every method of the ergonomic client that uses served operations, one directly after the other. */
export const SDK_FLOW: readonly SdkCall[] = [
  ["user.me", () => ({})],
  [
    "user.organizations",
    () => ({}),
    (data, state) => {
      state.org = data.organizations?.[0]?.id ?? data[0].id;
    },
  ],
  ["regions.list", () => ({})],
  [
    "projects.create",
    () => ({ name: "shop" }),
    (data, state) => {
      state.project = data.id;
    },
  ],
  [
    "branches.getDefault",
    project,
    (data, state) => {
      state.main = data.id;
    },
  ],
  [
    "branches.create",
    (state) => ({ ...project(state), name: "dev" }),
    (data, state) => {
      state.branch = data.id;
    },
  ],
  ["branches.createAndConnect", (state) => ({ ...project(state), name: "connected" })],
  ["projects.createAndConnect", () => ({ name: "connected" })],
  ["projects.list", () => ({})],
  ["projects.get", project],
  ["projects.update", (state) => ({ ...project(state), name: "store" })],
  ["projects.permissions.list", project],
  [
    "projects.permissions.grant",
    (state) => ({ ...project(state), email: "guest@standin.example" }),
    (data, state) => {
      state.permission = data.id;
    },
  ],
  ["projects.permissions.revoke", (state) => ({ ...project(state), permissionId: state.permission })],
  ["branches.list", project],
  ["branches.get", branch],
  ["branches.update", (state) => ({ ...branch(state), name: "next" })],
  ["branches.resetFromParent", branch],
  ["branches.compareSchema", (state) => ({ ...branch(state), databaseName: "neondb" })],
  ["postgres.endpoints.list", project],
  [
    "postgres.endpoints.listByBranch",
    branch,
    (data, state) => {
      state.endpoint = data[0].id;
    },
  ],
  ["postgres.endpoints.get", endpoint],
  [
    "postgres.endpoints.create",
    (state) => ({ ...project(state), branch_id: state.branch, type: "read_only" }),
  ],
  ["postgres.endpoints.update", (state) => ({ ...endpoint(state), suspend_timeout_seconds: 600 })],
  ["postgres.endpoints.restart", endpoint],
  ["postgres.endpoints.suspend", endpoint],
  ["postgres.endpoints.start", endpoint],
  ["postgres.roles.create", (state) => ({ ...branch(state), name: "alice" })],
  ["postgres.roles.list", branch],
  ["postgres.roles.get", role],
  ["postgres.roles.password", role],
  ["postgres.roles.resetPassword", role],
  ["postgres.databases.create", (state) => ({ ...branch(state), name: "app", owner_name: "alice" })],
  ["postgres.databases.list", branch],
  ["postgres.databases.get", database],
  ["postgres.databases.update", (state) => ({ ...database(state), owner_name: "neondb_owner" })],
  [
    "postgres.connectionString",
    (state) => ({ ...branch(state), databaseName: "app", roleName: "neondb_owner" }),
  ],
  ["postgres.databases.delete", database],
  ["postgres.roles.delete", role],
  ["snapshots.setSchedule", (state) => ({ ...branch(state), schedule: [{ frequency: "daily", hour: 3 }] })],
  ["snapshots.getSchedule", branch],
  [
    "snapshots.create",
    (state) => ({ ...branch(state), name: "first" }),
    (data, state) => {
      state.snapshot = data.id;
    },
  ],
  ["snapshots.list", project],
  ["snapshots.update", (state) => ({ ...project(state), snapshotId: state.snapshot, name: "kept" })],
  [
    "snapshots.restore",
    (state) => ({ ...project(state), snapshotId: state.snapshot, name: "seen", finalize: false }),
    (data, state) => {
      state.restored = data.branch?.id ?? data.id;
    },
  ],
  ["branches.finalizeRestore", (state) => ({ ...project(state), branchId: state.restored })],
  ["snapshots.delete", (state) => ({ ...project(state), snapshotId: state.snapshot })],
  [
    "operations.list",
    project,
    (data, state) => {
      state.operations = data;
    },
  ],
  [
    "operations.get",
    (state) => ({ ...project(state), operationId: (state.operations as { id: string }[])[0]?.id }),
  ],
  ["operations.waitFor", (state) => ({ operations: state.operations })],
  [
    "apiKeys.create",
    () => ({ keyName: "ci" }),
    (data, state) => {
      state.key = data.id;
    },
  ],
  ["apiKeys.list", () => ({})],
  ["apiKeys.revoke", (state) => ({ keyId: state.key })],
  ["consumption.perProject", history],
  ["consumption.perProjectV2", (state) => ({ ...metrics(), org_id: state.org })],
  ["consumption.perBranchV2", (state) => ({ ...metrics(), org_id: state.org, project_ids: [state.project] })],
  ["auth.create", (state) => ({ ...branch(state), auth_provider: "better_auth", database_name: "neondb" })],
  ["auth.get", branch],
  ["auth.updateConfig", (state) => ({ ...branch(state), name: "shop" })],
  ["auth.oauthProviders.add", (state) => ({ ...branch(state), id: "github" })],
  ["auth.oauthProviders.update", (state) => ({ ...oauthProvider(state), client_id: "shop" })],
  ["auth.oauthProviders.list", branch],
  ["auth.oauthProviders.delete", oauthProvider],
  ["auth.trustedDomains.add", (state) => ({ ...trustedDomain(state), domain: DOMAIN })],
  ["auth.trustedDomains.list", branch],
  ["auth.trustedDomains.delete", (state) => ({ ...trustedDomain(state), domains: [{ domain: DOMAIN }] })],
  ["auth.disable", branch],
  ["postgres.dataApi.create", dataApi],
  ["postgres.dataApi.update", (state) => ({ ...dataApi(state), settings: { db_max_rows: 5 } })],
  ["postgres.dataApi.get", dataApi],
  ["postgres.dataApi.delete", dataApi],
  ["storage.buckets.create", (state) => ({ ...branch(state), name: "files" })],
  ["storage.buckets.list", branch],
  ["storage.get", branch],
  ["storage.buckets.delete", (state) => ({ ...branch(state), bucketName: "files" })],
  [
    "credentials.create",
    (state) => ({ ...branch(state), scopes: ["storage:read"], principal_type: "user" }),
    (data, state) => {
      state.credential = data.token_id;
    },
  ],
  ["credentials.list", branch],
  ["credentials.revoke", (state) => ({ ...branch(state), tokenId: state.credential })],
  ["functions.list", branch],
  ["postgres.endpoints.delete", endpoint],
  ["branches.setDefault", (state) => ({ ...project(state), branchId: state.restored })],
  ["branches.setDefault", (state) => ({ ...project(state), branchId: state.main })],
  ["branches.delete", branch],
  ["projects.delete", project],
  ["projects.recover", project],
];

/** Methods that the flow leaves out, by reason. */
export const SDK_LEFT_OUT: Readonly<Record<string, readonly RegExp[]>> = {
  "it needs operations that are refused": [/^aiGateway\./],
  "the raw functions and the commands of the CLI call the same operations": [
    /^(triggers|logs|auth\.users|storage\.objects)\./,
    /^credentials\.(reveal|rotate)$/,
    /^functions\.(?!list$)/,
  ],
  "the public document lacks the operation": [/^projects\.members\./],
  "it moves projects to another organization, which the raw functions do": [/^projects\.transfer/],
  "it is the transport": [/^client\./],
};
