import fc from "fast-check";
import { expect } from "vitest";
import type { ApiResponse } from "../answers/api-response.ts";
import { loadPublicDocument } from "../document/public-document.ts";
import { deploymentForm } from "../document/service-preparations.ts";
import type { Double } from "../double/double.ts";
import { expectBodiesUpToDate } from "./cached-bodies.ts";
import { REPLAY_PATH } from "./properties.ts";

// A walk checks only rules that hold everywhere. When a step is rejected is for other tests.

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
/** The statuses of well-formed requests. */
const ANSWERS = [200, 201, 202, 204, 404, 409, 412, 422, 423];
const NOWHERE = "br-nowhere-at-all-00000000";

const document = loadPublicDocument();

/** The objects created so far. Many of them are deleted again. */
type WalkState = {
  readonly projects: string[];
  readonly snapshots: { readonly id: string; readonly projectId: string }[];
  now: number;
};
/** Set if the world is a file, which can be closed and reopened. */
export type WalkHost = { readonly double: () => Double; readonly reopen?: () => Promise<void> };
export type WalkStep = fc.AsyncCommand<WalkState, WalkHost>;

type Branch = {
  readonly id: string;
  readonly parent_id?: string;
  readonly recovery?: object;
  readonly expires_at?: string;
} & Record<"default" | "protected", boolean>;
/** The context of a step: a project, its branches (recoverable ones last) and its computes. */
type ProjectView = {
  readonly projectId: string;
  readonly branches: readonly Branch[];
  readonly endpoints: readonly string[];
  readonly now: number;
  /** Calls an operation of the document by its path after the project. */
  callOperation(operationId: string, path: string, body?: unknown): Promise<ApiResponse>;
  /** Records an activity. */
  recordActivity(activity: object): Promise<ApiResponse<unknown>>;
};

function step(text: string, run: (state: WalkState, host: WalkHost) => Promise<void>): WalkStep {
  return {
    check: () => true,
    async run(state, host) {
      await run(state, host);
      await expectConsistent(state, host);
    },
    toString: () => text,
  };
}

/** Steps in some project, most of them while it is not busy. */
function projectStep<T extends object>(
  fields: { [K in keyof T]: fc.Arbitrary<T[K]> },
  text: (fields: NoInfer<T>) => string,
  run: (fields: NoInfer<T>, view: ProjectView, state: WalkState) => Promise<void>,
): fc.Arbitrary<WalkStep> {
  const waits = fc.constantFrom(true, true, true, true, false);
  const where = fc.record({
    project: fc.constantFrom(0, 0, 0, 1, 2),
    waits,
    gone: fc.constantFrom(...Array(19).fill(false), true),
  });
  return fc
    .tuple(where, fc.record(fields) as unknown as fc.Arbitrary<T>)
    .map(([{ project, waits, gone }, drawn]) =>
      step(
        `in ${gone ? "any" : "existing"} project ${project}${waits ? ", while it is not busy" : ""}: ${text(drawn)}`,
        async (state, host) => {
          if (waits) await advance(state, host, { by: "30s" });
          const { body } = await callApi(host.double(), "listProjects", `/projects?limit=400`);
          const existing: string[] = body.projects.map(({ id }: { id: string }) => id);
          const projectId =
            pick(gone ? state.projects : existing, project) ?? pick(state.projects, project) ?? "";
          await run(drawn, await projectView(projectId, state, host), state);
        },
      ),
    );
}

async function projectView(projectId: string, state: WalkState, { double }: WalkHost): Promise<ProjectView> {
  const callOperation = (operationId: string, path: string, body?: unknown) =>
    callApi(double(), operationId, `/projects/${projectId}${path}`, body);
  const recordActivity = (activity: object) => double().sim("POST", "/activity", activity);
  const branches =
    (
      await callOperation(
        "listProjectBranches",
        "/branches?include_deleted=true&sort_by=created_at&sort_order=asc",
      )
    ).body.branches ?? [];
  const endpoints = (await callOperation("listProjectEndpoints", "/endpoints")).body.endpoints ?? [];
  return {
    projectId,
    branches,
    endpoints: endpoints.map(({ id }: { id: string }) => id),
    now: state.now,
    callOperation,
    recordActivity,
  };
}

/** Every answer fits the document. */
async function callApi(
  double: Double,
  operationId: string,
  path: string,
  body?: unknown,
): Promise<ApiResponse> {
  const { method } = document.operation(operationId);
  const response = await double.api(method, path, body);
  const { status } = response;
  const described = `${operationId} ${path} ${JSON.stringify(body)}: ${status} ${JSON.stringify(response.body)}`;
  expect(ANSWERS, described).toContain(status);
  expect(document.answerFaults(operationId, status, response.body), described).toEqual([]);
  return response;
}

async function advance(state: WalkState, { double }: WalkHost, destination: object): Promise<void> {
  const { status, body } = await double().sim("POST", "/clock/advance", destination);
  expect(status, JSON.stringify(body)).toBe(200);
  state.now = Date.parse(body.now);
}

async function expectConsistent(state: WalkState, { double }: WalkHost): Promise<void> {
  const invariants = await double().sim("GET", "/invariants");
  expect(invariants.body).toMatchObject({ ok: true, violations: [] });
  await expectBodiesUpToDate(double());
  for (const id of state.projects) {
    const { status, body } = await callApi(double(), "listProjectBranches", `/projects/${id}/branches`);
    if (status === 200) expectBranchTree(body.branches, state.now);
  }
}

/**
 * D: every parent is visible. An expiring branch has no children, is neither protected nor default, and
 * expires in the future.
 */
function expectBranchTree(branches: readonly Branch[], now: number): void {
  const byId = new Map(branches.map((branch) => [branch.id, branch]));
  expect(branches.filter((branch) => branch.default)).toHaveLength(1);
  for (const branch of branches) {
    expect(branch).not.toHaveProperty("recovery");
    if (branch.expires_at !== undefined) {
      expect(branch, "what expires").toMatchObject({ default: false, protected: false });
      expect(Date.parse(branch.expires_at), `the end of ${branch.id}`).toBeGreaterThan(now - SECOND);
    }
    if (branch.parent_id === undefined) continue;
    const parent = byId.get(branch.parent_id);
    expect(parent, `the parent of ${branch.id}`).toBeDefined();
    expect(parent, `the parent of ${branch.id}`).not.toHaveProperty("expires_at");
    const line = new Set([branch.id]);
    for (let at = parent; at !== undefined; at = byId.get(at.parent_id ?? "")) {
      expect(line, `the ancestors of ${branch.id}`).not.toContain(at.id);
      line.add(at.id);
    }
  }
}

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list[index % Math.max(1, list.length)];
}

function branchAt({ branches }: ProjectView, index: number): string {
  return pick(branches, index)?.id ?? NOWHERE;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function query(fields: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length === 0 ? "" : `?${given.join("&")}`;
}

const index = fc.nat(30);
const branchName = fc.constantFrom(undefined, undefined, "main", "dev", "old", "main_old");
const postgresName = fc.constantFrom("alice", "bob", "neondb_owner", "shop", "neondb");
/** An expiration, as a time from now. */
const livesMs = fc.constantFrom(undefined, undefined, undefined, 1, 20 * SECOND, HOUR, 3 * DAY, 29 * DAY);
/** A time before now. */
const agoMs = fc.constantFrom(undefined, undefined, 0, 1, 30 * SECOND, HOUR, 20 * HOUR);
const after = (now: number, ms: number | undefined | null) =>
  typeof ms === "number" ? iso(now + ms) : (ms ?? undefined);
const before = (now: number, ms: number | undefined) => (ms === undefined ? undefined : iso(now - ms));
const described = (what: string) => (fields: object) => `${what} ${JSON.stringify(fields)}`;

const createBranch = projectStep(
  {
    parent: index,
    name: branchName,
    types: fc.constantFrom<readonly string[]>(
      [],
      ["read_write"],
      ["read_write"],
      ["read_write", "read_only"],
    ),
    isProtected: fc.constantFrom(false, false, false, true),
    livesMs,
    agoMs,
    init: fc.constantFrom("parent-data", "parent-data", "parent-data", "schema-only"),
  },
  described("create a branch"),
  async ({ parent, name, types, isProtected, livesMs, agoMs, init }, view) => {
    const branch = {
      ...{ name, parent_id: branchAt(view, parent), protected: isProtected, init_source: init },
      ...{ expires_at: after(view.now, livesMs), parent_timestamp: before(view.now, agoMs) },
    };
    await view.callOperation("createProjectBranch", "/branches", {
      branch,
      endpoints: types.map((type) => ({ type })),
    });
  },
);

const updateBranch = projectStep(
  {
    of: index,
    name: branchName,
    isProtected: fc.constantFrom(undefined, undefined, true, false, false),
    livesMs: fc.oneof({ weight: 5, arbitrary: livesMs }, { weight: 1, arbitrary: fc.constant(null) }),
  },
  described("change a branch"),
  async ({ of, name, isProtected, livesMs }, view) => {
    const branch = {
      name,
      protected: isProtected,
      expires_at: livesMs === null ? null : after(view.now, livesMs),
    };
    await view.callOperation("updateProjectBranch", `/branches/${branchAt(view, of)}`, { branch });
  },
);

const setDefault = projectStep(
  { of: index },
  described("make a branch the default"),
  async ({ of }, view) => {
    await view.callOperation("setDefaultProjectBranch", `/branches/${branchAt(view, of)}/set_as_default`);
  },
);

const deleteBranch = projectStep(
  { of: index, hard: fc.constantFrom(undefined, undefined, "true") },
  described("delete a branch"),
  async (fields, view) => {
    await view.callOperation(
      "deleteProjectBranch",
      `/branches/${branchAt(view, fields.of)}${query({ hard_delete: fields.hard })}`,
    );
  },
);

/** Mostly a deleted branch. */
const recoverBranch = projectStep(
  { of: index, any: fc.constantFrom(false, false, false, true) },
  described("recover a branch"),
  async ({ of, any }, view) => {
    const deleted = view.branches.filter(({ recovery }) => any || recovery !== undefined);
    await view.callOperation("recoverProjectBranch", `/branches/${pick(deleted, of)?.id ?? NOWHERE}/recover`);
  },
);

const restoreBranch = projectStep(
  { of: index, from: fc.oneof(index, fc.constantFrom("itself", "its parent")), preserve: branchName, agoMs },
  described("restore a branch"),
  async ({ of, from, preserve, agoMs }, view) => {
    const branch = pick(view.branches, of);
    const id = branch?.id ?? NOWHERE;
    const source =
      from === "itself" ? id : from === "its parent" ? branch?.parent_id : branchAt(view, Number(from));
    await view.callOperation("restoreProjectBranch", `/branches/${id}/restore`, {
      source_branch_id: source ?? NOWHERE,
      source_timestamp: before(view.now, agoMs),
      preserve_under_name: preserve,
    });
  },
);

const createCompute = projectStep(
  { on: index, type: fc.constantFrom("read_write", "read_only") },
  described("create a compute"),
  async ({ on, type }, view) => {
    await view.callOperation("createProjectEndpoint", "/endpoints", {
      endpoint: { branch_id: branchAt(view, on), type },
    });
  },
);

const commandCompute = projectStep(
  { of: index, what: fc.constantFrom("start", "suspend", "restart") },
  described("command a compute"),
  async ({ of, what }, view) => {
    const id = pick(view.endpoints, of);
    if (id !== undefined) await view.callOperation(`${what}ProjectEndpoint`, `/endpoints/${id}/${what}`);
  },
);

const changeCompute = projectStep(
  {
    of: index,
    to: fc.option(index, { nil: undefined, freq: 2 }),
    disabled: fc.constantFrom(undefined, undefined, true, false, false),
  },
  described("change a compute"),
  async ({ of, to, disabled }, view) => {
    const id = pick(view.endpoints, of);
    const endpoint = { disabled, ...(to === undefined ? {} : { branch_id: branchAt(view, to) }) };
    if (id !== undefined) await view.callOperation("updateProjectEndpoint", `/endpoints/${id}`, { endpoint });
  },
);

const deleteCompute = projectStep({ of: index }, described("delete a compute"), async ({ of }, view) => {
  const id = pick(view.endpoints, of);
  if (id !== undefined) await view.callOperation("deleteProjectEndpoint", `/endpoints/${id}`);
});

const changeRole = projectStep(
  {
    of: index,
    name: postgresName,
    what: fc.constantFrom("create", "create", "createGroup", "delete", "reset"),
  },
  described("change a role"),
  async ({ of, name, what }, view) => {
    const path = `/branches/${branchAt(view, of)}/roles`;
    if (what === "delete") await view.callOperation("deleteProjectBranchRole", `${path}/${name}`);
    else if (what === "reset")
      await view.callOperation("resetProjectBranchRolePassword", `${path}/${name}/reset_password`);
    else
      await view.callOperation("createProjectBranchRole", path, {
        role: { name, no_login: what === "createGroup" },
      });
  },
);

const changeDatabase = projectStep(
  {
    of: index,
    name: postgresName,
    other: postgresName,
    what: fc.constantFrom("create", "create", "rename", "give", "delete"),
  },
  described("change a database"),
  async ({ of, name, other, what }, view) => {
    const path = `/branches/${branchAt(view, of)}/databases`;
    if (what === "delete") await view.callOperation("deleteProjectBranchDatabase", `${path}/${name}`);
    else if (what === "create")
      await view.callOperation("createProjectBranchDatabase", path, {
        database: { name, owner_name: other },
      });
    else
      await view.callOperation("updateProjectBranchDatabase", `${path}/${name}`, {
        database: what === "give" ? { owner_name: other } : { name: other },
      });
  },
);

/** The calls for the services of a branch, by operation: the path after the branch, and a body. */
const SERVICE_CALLS: readonly (readonly [string, string, object?])[] = [
  ["createNeonAuth", "/auth", { auth_provider: "better_auth" }],
  ["createNeonAuth", "/auth", { auth_provider: "better_auth" }],
  ["disableNeonAuth", "/auth"],
  ["getNeonAuth", "/auth"],
  ["getNeonAuthPluginConfigs", "/auth/plugins"],
  ["updateNeonAuthAllowLocalhost", "/auth/allow_localhost", { allow_localhost: false }],
  [
    "addBranchNeonAuthTrustedDomain",
    "/auth/domains",
    { auth_provider: "stack", domain: "https://a.example" },
  ],
  ["addBranchNeonAuthOauthProvider", "/auth/oauth_providers", { id: "github", client_secret: "secret" }],
  ["updateBranchNeonAuthOauthProvider", "/auth/oauth_providers/github", { client_secret: "other" }],
  ["listBranchNeonAuthOauthProviders", "/auth/oauth_providers"],
  ["createBranchNeonAuthNewUser", "/auth/users", { email: "a@a.example" }],
  ["createProjectBranchDataAPI", "/data-api/neondb", {}],
  ["createProjectBranchDataAPI", "/data-api/shop", {}],
  ["updateProjectBranchDataAPI", "/data-api/neondb", { settings: { db_max_rows: 1 } }],
  ["getProjectBranchDataAPI", "/data-api/neondb"],
  ["deleteProjectBranchDataAPI", "/data-api/neondb"],
  ["createProjectBranchBucket", "/buckets", { name: "files" }],
  ["createProjectBranchBucket", "/buckets", { name: "images" }],
  ["deleteProjectBranchBucket", "/buckets/files"],
  ["listProjectBranchBuckets", "/buckets"],
  [
    "presignProjectBranchBucketObject",
    "/buckets/files/objects/a/presign",
    { operation: "upload", expires_in_seconds: 60 },
  ],
  ["listProjectBranchBucketObjects", "/buckets/files/objects"],
  ["deleteProjectBranchBucketObjectsByPrefix", "/buckets/files/objects-by-prefix?prefix=a/"],
  ["createProjectBranchFunctionDeployment", "/functions/hello/deployments", deploymentForm({ zip: "code" })],
  ["updateProjectBranchFunction", "/functions/hello", { name: "Hello" }],
  ["deleteProjectBranchFunction", "/functions/hello"],
  ["listProjectBranchFunctions", "/functions"],
  ["createCredential", "/credentials", { principal_type: "user", scopes: ["storage:read"] }],
  ["listCredentials", "/credentials"],
  ["updateMaskingRules", "/masking_rules", { masking_rules: [] }],
  ["startAnonymization", "/anonymize"],
  ["getAnonymizedBranchStatus", "/anonymized_status"],
];

const changeService = projectStep(
  { of: index, call: fc.constantFrom(...SERVICE_CALLS) },
  described("call for a service"),
  async ({ of, call: [operationId, path, body] }, view) => {
    await view.callOperation(operationId, `/branches/${branchAt(view, of)}${path}`, body);
  },
);

const createAnonymized = projectStep(
  { parent: index, start_anonymization: fc.boolean(), archived: fc.boolean() },
  described("create an anonymized branch"),
  async ({ parent, start_anonymization, archived }, view) => {
    const branch_create = { branch: { parent_id: branchAt(view, parent), archived } };
    await view.callOperation("createProjectBranchAnonymized", "/branch_anonymized", {
      branch_create,
      start_anonymization,
    });
  },
);

const readBranch = projectStep(
  { of: index, base: index, name: postgresName, agoMs },
  described("read of a branch"),
  async ({ of, base, name, agoMs }, view) => {
    const path = `/branches/${branchAt(view, of)}`;
    const at = { db_name: name, timestamp: before(view.now, agoMs) };
    await view.callOperation("getProjectBranch", path);
    await view.callOperation("getProjectBranchSchema", `${path}/schema${query(at)}`);
    await view.callOperation(
      "getProjectBranchSchemaComparison",
      `${path}/compare_schema${query({ ...at, base_branch_id: branchAt(view, base) })}`,
    );
    await view.callOperation("listProjectBranchRoles", `${path}/roles`);
    await view.callOperation("listProjectBranchDatabases", `${path}/databases`);
    await view.callOperation("listProjectBranchEndpoints", `${path}/endpoints`);
    await view.callOperation("getSnapshotSchedule", `${path}/backup_schedule`);
    await view.callOperation("listProjectOperations", "/operations");
  },
);

const takeSnapshot = projectStep(
  { of: index, livesMs, agoMs },
  described("take a snapshot"),
  async ({ of, livesMs, agoMs }, view, state) => {
    const search = query({ expires_at: after(view.now, livesMs), timestamp: before(view.now, agoMs) });
    const { status, body } = await view.callOperation(
      "createSnapshot",
      `/branches/${branchAt(view, of)}/snapshot${search}`,
    );
    if (status === 200) state.snapshots.push({ id: body.snapshot.id, projectId: view.projectId });
  },
);

const restoreSnapshot = projectStep(
  {
    of: index,
    name: branchName,
    into: fc.option(index, { nil: undefined, freq: 2 }),
    finalize: fc.boolean(),
  },
  described("restore a snapshot"),
  async ({ of, name, into, finalize }, view, state) => {
    const { body: listed } = await view.callOperation("listSnapshots", "/snapshots");
    const id = pick<{ id: string }>(listed.snapshots ?? [], of)?.id ?? pick(state.snapshots, of)?.id;
    if (id === undefined) return;
    const target_branch_id = into === undefined ? undefined : branchAt(view, into);
    await view.callOperation("restoreSnapshot", `/snapshots/${id}/restore`, {
      name,
      target_branch_id,
      finalize_restore: finalize,
    });
  },
);

/** Mostly a restored branch. */
const finalizeRestore = projectStep(
  { of: index, name: branchName },
  described("finalize a restore"),
  async ({ of, name }, view) => {
    const restored = view.branches.filter((branch) => "restore_status" in branch);
    const id = pick(restored, of)?.id ?? branchAt(view, of);
    await view.callOperation("finalizeRestoreBranch", `/branches/${id}/finalize_restore`, { name });
  },
);

const changeSnapshot = projectStep(
  { of: index, deletes: fc.boolean() },
  described("change a snapshot"),
  async ({ of, deletes }, { callOperation }, state) => {
    const id = pick(state.snapshots, of)?.id;
    if (id === undefined) return;
    if (deletes) await callOperation("deleteSnapshot", `/snapshots/${id}`);
    else await callOperation("updateSnapshot", `/snapshots/${id}`, { snapshot: { name: "renamed" } });
  },
);

const scheduleItem = fc.record({
  frequency: fc.constantFrom("daily", "daily", "weekly", "monthly", "yearly", "hourly"),
  hour: fc.constantFrom(0, 3, 23),
  day: fc.constantFrom(1, 3, 7),
  month: fc.constantFrom(1, 2, 12),
  retention_seconds: fc.constantFrom(3_600, 90_000),
});

const setSchedule = projectStep(
  { of: index, schedule: fc.array(scheduleItem, { maxLength: 2 }) },
  described("schedule snapshots"),
  async ({ of, schedule }, view) => {
    await view.callOperation("setSnapshotSchedule", `/branches/${branchAt(view, of)}/backup_schedule`, {
      schedule,
    });
  },
);

const changeProject = projectStep(
  {
    history_retention_seconds: fc.constantFrom(undefined, undefined, 0, 3_600, 604_800),
    name: fc.constantFrom("one", "other"),
  },
  described("change the project"),
  async (project, { callOperation }) => {
    await callOperation("updateProject", "", { project });
  },
);

const deleteProject = projectStep({}, described("delete the project"), async (_, { callOperation }) => {
  await callOperation("deleteProject", "");
});

const recoverProject: fc.Arbitrary<WalkStep> = fc.nat(3).map((index) =>
  step(`recover deleted project ${index}`, async (state, { double }) => {
    const { body } = await callApi(double(), "listProjects", "/projects?recoverable=true&limit=400");
    const id = pick<{ id: string }>(body.projects, index)?.id ?? pick(state.projects, index);
    await callApi(double(), "recoverProject", `/projects/${id}/recover`);
  }),
);

const createProject: fc.Arbitrary<WalkStep> = fc.constant(
  step("create a project", async (state, host) => {
    if (state.projects.length < 3) await addProject(state, host);
  }),
);

async function addProject(state: WalkState, { double }: WalkHost): Promise<void> {
  const { status, body } = await callApi(double(), "createProject", "/projects", { project: {} });
  expect(status).toBe(201);
  state.projects.push(body.project.id);
}

const scheduleActivity = projectStep(
  {
    of: index,
    kind: fc.constantFrom("query", "query", "connect", "transaction"),
    lasts: fc.constantFrom(0, 5_000, HOUR),
    ahead: fc.constantFrom(0, 1_000, DAY),
  },
  described("activity"),
  async ({ of, kind, lasts, ahead }, { endpoints, now, recordActivity }) => {
    const endpoint_id = pick(endpoints, of);
    if (endpoint_id === undefined) return;
    const at = ahead === 0 ? undefined : iso(now + ahead);
    expect((await recordActivity({ endpoint_id, kind, duration_ms: lasts, at })).status).toBe(200);
  },
);

const jump = fc.oneof(
  fc.constantFrom(
    1,
    SECOND,
    10 * SECOND,
    300 * SECOND,
    HOUR,
    DAY,
    3 * DAY,
    7 * DAY - 1,
    7 * DAY,
    7 * DAY + 1,
  ),
  fc.integer({ min: 1, max: 9 * DAY }),
);
const advanceBy: fc.Arbitrary<WalkStep> = jump.map((by) =>
  step(`advance by ${by} ms`, (state, host) => advance(state, host, { by: `${by}ms` })),
);
const advanceToNext: fc.Arbitrary<WalkStep> = fc.constant(
  step("advance to what is due next", (state, host) => advance(state, host, { next: true })),
);

/** Closes the world and reopens it from its file. */
const reopen: fc.Arbitrary<WalkStep> = fc.constant(
  step("close the world and open it again", async (_, host) => {
    const read = async (path: string) => (await host.double().sim("GET", path)).body;
    const before = [await read("/state"), await read("/clock")];
    await host.reopen?.();
    expect([await read("/state"), await read("/clock")]).toEqual(before);
  }),
);

const BRANCHES = [
  createBranch,
  createBranch,
  createBranch,
  updateBranch,
  setDefault,
  deleteBranch,
  deleteBranch,
  recoverBranch,
  restoreBranch,
];
const SNAPSHOTS = [
  takeSnapshot,
  restoreSnapshot,
  restoreSnapshot,
  finalizeRestore,
  finalizeRestore,
  changeSnapshot,
  setSchedule,
];
const SERVICES = [changeService, changeService, changeService, createAnonymized];
const CONTENT = [changeRole, changeRole, changeDatabase, changeDatabase, readBranch];
const COMPUTES = [
  createCompute,
  commandCompute,
  changeCompute,
  deleteCompute,
  scheduleActivity,
  scheduleActivity,
];
const PROJECTS = [changeProject, deleteProject, recoverProject, recoverProject, createProject];
const TIME = [advanceBy, advanceBy, advanceToNext];
const STEPS = [
  ...BRANCHES,
  ...BRANCHES,
  ...BRANCHES,
  ...SNAPSHOTS,
  ...SNAPSHOTS,
  ...CONTENT,
  ...SERVICES,
  ...COMPUTES,
  ...PROJECTS,
  ...TIME,
  ...TIME,
];

export function walkCommands({ maxSteps = 100, restarts = false } = {}) {
  return fc.commands([...STEPS, ...(restarts ? [reopen, reopen] : [])], {
    maxCommands: maxSteps,
    size: "max",
    ...REPLAY_PATH,
  });
}

/** A chain of branches, and a snapshot of the first. */
async function fillWorld(state: WalkState, host: WalkHost): Promise<void> {
  await advance(state, host, { by: "10s" });
  for (const name of ["dev", "test"]) {
    const { callOperation, branches, projectId } = await projectView(state.projects[0] ?? "", state, host);
    await callOperation("createProjectBranch", "/branches", {
      branch: { name, parent_id: branches.at(-1)?.id },
      endpoints: [{ type: "read_write" }],
    });
    const { body } = await callOperation("createSnapshot", `/branches/${branches[0]?.id}/snapshot`);
    state.snapshots.push({ id: body.snapshot.id, projectId });
    await advance(state, host, { by: "10s" });
  }
}

/** Walks through a world that begins with one project and some content. */
export async function runWalk(steps: Iterable<WalkStep>, host: WalkHost): Promise<void> {
  const state: WalkState = { projects: [], snapshots: [], now: 0 };
  await addProject(state, host);
  await fillWorld(state, host);
  await fc.asyncModelRun(() => ({ model: state, real: host }), steps);
}
