import { test } from "vitest";
import { createScene, expectSuccess, type Scene } from "../../support/document/contract-scene.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { expectRejected, type RequestDifference } from "../../support/document/refused-request.ts";
import type { DoubleOptions } from "../../support/double/double.ts";

// Valid requests that are not allowed: each error has the documented format and changes nothing.

const document = loadPublicDocument();

type Refusal = {
  readonly status: 409 | 412 | 422;
  readonly code: string;
  readonly message?: string | RegExp;
};
type Before = (scene: Scene) => Promise<unknown>;

const PRIMARY: Refusal = {
  status: 409,
  code: "READ_WRITE_ENDPOINT_EXISTS",
  message: "read_write endpoint already exists",
};
const TAKEN: Refusal = {
  status: 409,
  code: "BRANCH_ALREADY_EXISTS",
  message: 'branch already exists; branch_name:"main"',
};
const SIZE: Refusal = {
  status: 422,
  code: "COMPUTE_SIZE_NOT_ALLOWED",
  message: /autoscaling_limit_m(in|ax)_cu/,
};
const DELAY: Refusal = {
  status: 422,
  code: "SUSPEND_TIMEOUT_NOT_ALLOWED",
  message: /suspend_timeout_seconds/,
};
const PLAN: Refusal = { status: 422, code: "PLAN_LIMIT_EXCEEDED", message: /free plan/ };
const SUSPEND: Refusal = { status: 412, code: "SUSPEND_TIMEOUT_NOT_PERMITTED", message: /free plan/ };
const REGION: Refusal = { status: 422, code: "REGION_NOT_SUPPORTED" };
const LIBRARY: Refusal = {
  status: 422,
  code: "PRELOAD_LIBRARY_NOT_AVAILABLE",
  message: /settings\.preload_libraries/,
};
const PROTECTED: Refusal = { status: 422, code: "BRANCH_IS_PROTECTED" };
const HISTORY: Refusal = { status: 422, code: "PARENT_TIMESTAMP_NOT_ALLOWED" };
const DISABLED: Refusal = { status: 422, code: "ENDPOINT_DISABLED" };
const QUOTA: Refusal = { status: 422, code: "QUOTA_EXCEEDED" };
const NO_RESTORE: Refusal = { status: 422, code: "RESTORE_NOT_ALLOWED" };
const EXPIRATION: Refusal = { status: 422, code: "BRANCH_EXPIRATION_NOT_ALLOWED", message: /expir/ };

const ENABLED: Refusal = { status: 409, code: "SERVICE_RECORD_EXISTS", message: /is already enabled for/ };
const EXISTS: Refusal = { status: 409, code: "SERVICE_RECORD_EXISTS", message: /already exists$/ };

const nothing = () => ({});
const project = (fields: object) => () => ({ body: { project: fields } });
const defaults = (fields: object) => project({ default_endpoint_settings: fields });
const branch = (fields: object) => () => ({ body: { branch: fields } });
const computes =
  (...endpoints: object[]) =>
  () => ({ body: { endpoints } });
const compute = (fields: object) => (scene: Scene) => ({
  body: { endpoint: { branch_id: scene.childId, type: "read_write", ...fields } },
});
const change = (fields: object) => () => ({ body: { endpoint: fields } });
const unknownLibrary = { settings: { preload_libraries: { enabled_libraries: ["no_such_library"] } } };

const projectPath = ({ ids }: Scene) => `/projects/${ids.project_id}`;

async function done(scene: Scene, method: string, path: string, body?: unknown): Promise<void> {
  await expectSuccess(scene.double.api(method, `${projectPath(scene)}${path}`, body));
  await scene.double.advance("10s");
}

const withPrimaryOnChild: Before = (scene) =>
  done(scene, "POST", "/endpoints", { endpoint: { branch_id: scene.childId, type: "read_write" } });
const withChildOfChild: Before = (scene) =>
  done(scene, "POST", "/branches", { branch: { parent_id: scene.childId } });
const withChildProtected: Before = (scene) =>
  done(scene, "PATCH", `/branches/${scene.childId}`, { branch: { protected: true } });
const withChildAsDefault: Before = (scene) =>
  done(scene, "POST", `/branches/${scene.childId}/set_as_default`);
const withDisabled: Before = (scene) =>
  done(scene, "PATCH", `/endpoints/${scene.ids.endpoint_id}`, { endpoint: { disabled: true } });
const withQuotaReached: Before = (scene) =>
  done(scene, "PATCH", "", { project: { settings: { quota: { active_time_seconds: 1 } } } });

/** Creates as many snapshots as the plan allows. */
async function withAllProjects({ double }: Scene): Promise<void> {
  const { projects_limit } = (await double.api("GET", "/users/me")).body;
  for (let count = 1; count < projects_limit; count += 1)
    await expectSuccess(double.api("POST", "/projects", { project: {} }));
}

async function withAllBranches(scene: Scene): Promise<void> {
  const { branches_limit } = (await scene.double.api("GET", "/users/me")).body;
  const { count: there } = (await scene.double.api("GET", `${projectPath(scene)}/branches/count`)).body;
  for (let count = there; count < branches_limit; count += 1) await done(scene, "POST", "/branches");
}

function refuses(
  operationId: string,
  refusal: Refusal,
  because: string,
  difference: (scene: Scene) => RequestDifference | Promise<RequestDifference>,
  before: Before = async () => undefined,
  options: DoubleOptions = refusal === PLAN || refusal === SUSPEND || refusal.code.endsWith("_LIMIT_EXCEEDED")
    ? { plan: "free" }
    : {},
): void {
  test(`${operationId} answers ${refusal.status} where ${because}`, async () => {
    const scene = await createScene(options);
    await before(scene);
    await expectRejected(document, scene, document.operation(operationId), await difference(scene), refusal);
  });
}

refuses("createProjectEndpoint", PRIMARY, "the branch has a primary", (scene) =>
  compute({ branch_id: scene.ids.branch_id })(scene),
);
refuses(
  "updateProjectEndpoint",
  PRIMARY,
  "the other branch has one",
  (scene) => change({ branch_id: scene.childId })(),
  withPrimaryOnChild,
);
refuses(
  "createProjectBranch",
  PRIMARY,
  "it asks for two primaries",
  computes({ type: "read_write" }, { type: "read_write" }),
);
refuses("createProjectBranch", TAKEN, "the name is in use", branch({ name: "main" }));
refuses("updateProjectBranch", TAKEN, "the name is in use", ({ childId }) => ({
  ...branch({ name: "main" })(),
  ids: { branch_id: childId },
}));

refuses(
  "getProjectBranchRolePassword",
  { status: 412, code: "PASSWORDS_NOT_STORED" },
  "the project does not store passwords",
  async ({ double }) => {
    const created = await expectSuccess(
      double.api("POST", "/projects", { project: { store_passwords: false } }),
    );
    return {
      ids: { project_id: created.project.id, branch_id: created.branch.id, role_name: created.roles[0].name },
    };
  },
);

refuses("createProject", SIZE, "there is no such size", project({ autoscaling_limit_min_cu: 3.5 }));
refuses("createProject", SIZE, "there is no such default size", defaults({ autoscaling_limit_max_cu: 11 }));
refuses("createProject", DELAY, "the default delay is too short", defaults({ suspend_timeout_seconds: 59 }));
refuses("createProject", PLAN, "the plan has one size", project({ autoscaling_limit_max_cu: 1 }));
refuses("createProject", REGION, "there is no such region", project({ region_id: "mars-1" }));
refuses("createProject", LIBRARY, "a library is not available", project(unknownLibrary));
refuses("updateProject", LIBRARY, "a library is not available", project(unknownLibrary));
refuses(
  "createProject",
  { status: 422, code: "PROJECTS_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  project({}),
  withAllProjects,
);
refuses(
  "updateProject",
  SIZE,
  "the minimum is above the maximum",
  defaults({ autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 2 }),
);
refuses(
  "updateProject",
  DELAY,
  "the default delay is too long",
  defaults({ suspend_timeout_seconds: 604_801 }),
);
refuses("updateProject", SUSPEND, "the plan's delay is fixed", defaults({ suspend_timeout_seconds: 600 }));
refuses("deleteProject", PROTECTED, "a branch is protected", nothing, withChildProtected);

refuses(
  "createProjectBranch",
  { status: 422, code: "BRANCHES_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  branch({}),
  withAllBranches,
);
refuses(
  "createProjectBranch",
  HISTORY,
  "the instant lies in the future",
  branch({ parent_timestamp: "2027-01-01T00:00:00Z" }),
);
refuses(
  "createProjectBranch",
  HISTORY,
  "the parent did not exist yet",
  branch({ parent_timestamp: "2025-12-31T23:59:59Z" }),
);
refuses(
  "createProjectBranch",
  SIZE,
  "the compute size does not exist",
  computes({ type: "read_only", autoscaling_limit_min_cu: 0 }),
);
refuses(
  "createProjectBranch",
  DELAY,
  "a compute's delay is too short",
  computes({ type: "read_write", suspend_timeout_seconds: 1 }),
);
refuses("createProjectBranch", PLAN, "the plan has no replicas", computes({ type: "read_only" }));
refuses(
  "deleteProjectBranch",
  { status: 422, code: "BRANCH_IS_DEFAULT" },
  "it is the default",
  ({ ids }) => ({ ids }),
);
refuses(
  "deleteProjectBranch",
  { status: 422, code: "BRANCH_IS_ROOT" },
  "it is the root",
  ({ ids }) => ({ ids }),
  withChildAsDefault,
);
refuses(
  "deleteProjectBranch",
  { status: 422, code: "BRANCH_HAS_CHILDREN" },
  "it has children",
  nothing,
  withChildOfChild,
);
refuses("deleteProjectBranch", PROTECTED, "it is protected", nothing, withChildProtected);

refuses(
  "createProjectEndpoint",
  REGION,
  "the project is in another region",
  compute({ region_id: "aws-eu-central-1" }),
);
refuses("createProjectEndpoint", LIBRARY, "a library is not available", compute(unknownLibrary));
refuses("updateProjectEndpoint", LIBRARY, "a library is not available", change(unknownLibrary));
refuses("createProjectEndpoint", SIZE, "there is no such size", compute({ autoscaling_limit_max_cu: 0.75 }));
refuses("createProjectEndpoint", DELAY, "the delay is too short", compute({ suspend_timeout_seconds: 59 }));
refuses("createProjectEndpoint", PLAN, "the plan has no replicas", compute({ type: "read_only" }));
refuses(
  "createProjectEndpoint",
  SUSPEND,
  "the plan's delay is fixed",
  compute({ suspend_timeout_seconds: 600 }),
);
refuses(
  "updateProjectEndpoint",
  SIZE,
  "the minimum is above the maximum",
  change({ autoscaling_limit_min_cu: 4, autoscaling_limit_max_cu: 2 }),
);
refuses(
  "updateProjectEndpoint",
  SIZE,
  "the size is beyond the largest",
  change({ autoscaling_limit_max_cu: 1e9 }),
);
refuses(
  "updateProjectEndpoint",
  DELAY,
  "the delay is too long",
  change({ suspend_timeout_seconds: 604_801 }),
);
refuses(
  "updateProjectEndpoint",
  DELAY,
  "the delay is negative, and not -1",
  change({ suspend_timeout_seconds: -2 }),
);
refuses(
  "updateProjectEndpoint",
  SUSPEND,
  "the plan's delay is fixed",
  change({ suspend_timeout_seconds: -1 }),
);
refuses("updateProjectEndpoint", PLAN, "the plan has one size", change({ autoscaling_limit_max_cu: 0.5 }));
refuses("startProjectEndpoint", DISABLED, "it is disabled", nothing, withDisabled);
refuses("startProjectEndpoint", QUOTA, "the project is at its quota", nothing, withQuotaReached);
refuses("restartProjectEndpoint", QUOTA, "the project is at its quota", nothing, withQuotaReached);
refuses("restartProjectEndpoint", DISABLED, "it is disabled", nothing, withDisabled);

const aYearFromNow = { expires_at: "2027-01-01T00:00:00Z" };
refuses("createProjectBranch", EXPIRATION, "it would live too long", branch(aYearFromNow));
refuses("updateProjectBranch", EXPIRATION, "it would live too long", ({ childId }) => ({
  ...branch(aYearFromNow)(),
  ids: { branch_id: childId },
}));
refuses(
  "updateProjectBranch",
  EXPIRATION,
  "it is the default",
  branch({ expires_at: "2026-01-10T00:00:00Z" }),
);

const restored =
  (fields: object, source?: "itself") =>
  ({ ids, childId }: Scene) => ({
    ids: { branch_id: source === "itself" ? ids.branch_id : childId },
    body: { source_branch_id: ids.branch_id, ...fields },
  });
const LONG_AGO = "2025-12-31T23:59:59Z";
refuses(
  "restoreProjectBranch",
  TAKEN,
  "preserve_under_name is in use",
  restored({ preserve_under_name: "main" }),
);
refuses("restoreProjectBranch", PROTECTED, "it is protected", restored({}), withChildProtected);
refuses(
  "restoreProjectBranch",
  HISTORY,
  "the source did not exist yet",
  restored({ source_timestamp: LONG_AGO }),
);
refuses(
  "restoreProjectBranch",
  NO_RESTORE,
  "it has children, but preserve_under_name is missing",
  restored({}),
  withChildOfChild,
);
refuses(
  "restoreProjectBranch",
  NO_RESTORE,
  "it is its own source without an instant",
  restored({ preserve_under_name: "before" }, "itself"),
);
refuses(
  "restoreProjectBranch",
  { status: 422, code: "BRANCHES_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  restored({ preserve_under_name: "b" }),
  withAllBranches,
);
refuses("finalizeRestoreBranch", NO_RESTORE, "it was not restored", ({ childId }) => ({
  ids: { branch_id: childId },
}));
refuses("finalizeRestoreBranch", TAKEN, "the name for what it replaces is taken", () => ({
  body: { name: "main" },
}));
refuses("restoreSnapshot", TAKEN, "the name is in use", () => ({ body: { name: "main" } }));
refuses(
  "restoreSnapshot",
  { status: 422, code: "BRANCHES_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  nothing,
  withAllBranches,
);
refuses("createSnapshot", HISTORY, "the branch was not yet there", () => ({
  query: `?timestamp=${LONG_AGO}`,
}));
refuses(
  "createSnapshot",
  { status: 422, code: "SNAPSHOTS_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  nothing,
);
refuses(
  "createSnapshot",
  { status: 422, code: "SNAPSHOT_EXPIRATION_NOT_ALLOWED" },
  "the expiration is in the past",
  () => ({
    query: `?expires_at=${LONG_AGO}`,
  }),
);

const role =
  (name: string, more: object = {}) =>
  () => ({ body: { role: { name, ...more } } });
const database = (name: string) => (scene: Scene) => ({
  body: { database: { name, owner_name: scene.ids.role_name } },
});
const DATABASE_TAKEN = {
  status: 409,
  code: "DATABASE_ALREADY_EXISTS",
  message: 'database already exists; database_name:"neondb"',
} as const;
const ROLE_TAKEN = {
  status: 409,
  code: "ROLE_ALREADY_EXISTS",
  message: 'role already exists; role_name:"neondb_owner"',
} as const;
const withAnotherDatabase: Before = (scene) =>
  done(scene, "POST", `/branches/${scene.ids.branch_id}/databases`, {
    database: { name: "app", owner_name: scene.ids.role_name },
  });
const withRoleOfNobody: Before = (scene) =>
  done(scene, "POST", `/branches/${scene.ids.branch_id}/roles`, role("readers", { no_login: true })().body);
refuses("createProjectBranchRole", ROLE_TAKEN, "the name is in use", role("neondb_owner"));
refuses(
  "createProjectBranchRole",
  { status: 422, code: "ROLE_NAME_NOT_ALLOWED" },
  "the name is reserved",
  role("pg_monitor"),
);
refuses(
  "deleteProjectBranchRole",
  { status: 422, code: "ROLE_OWNS_DATABASE" },
  "it owns a database",
  ({ ids }) => ({ ids }),
);
refuses(
  "resetProjectBranchRolePassword",
  { status: 422, code: "ROLE_HAS_NO_PASSWORD" },
  "it cannot log in",
  () => ({ ids: { role_name: "readers" } }),
  withRoleOfNobody,
);
refuses("createProjectBranchDatabase", DATABASE_TAKEN, "the name is in use", database("neondb"));
refuses(
  "createProjectBranchDatabase",
  { status: 422, code: "DATABASE_NAME_NOT_ALLOWED" },
  "the name is reserved by Postgres",
  database("postgres"),
);
refuses(
  "updateProjectBranchDatabase",
  DATABASE_TAKEN,
  "the name is in use",
  () => ({ ids: { database_name: "app" }, body: { database: { name: "neondb" } } }),
  withAnotherDatabase,
);

const withTakenName: Before = async (scene) => {
  await done(scene, "DELETE", `/branches/${scene.childId}`);
  await done(scene, "POST", "/branches", { branch: { name: "child" } });
};
const withDeletedParent: Before = async (scene) => {
  await done(scene, "POST", "/branches", { branch: { name: "middle" } });
  const { branches } = (await scene.double.api("GET", `${projectPath(scene)}/branches?search=middle`)).body;
  await done(scene, "POST", `/branches/${scene.childId}/restore`, { source_branch_id: branches[0].id });
  await done(scene, "DELETE", `/branches/${scene.childId}`);
  await done(scene, "DELETE", `/branches/${branches[0].id}`);
};
refuses(
  "recoverProjectBranch",
  { status: 409, code: "BRANCH_ALREADY_EXISTS", message: 'branch already exists; branch_name:"child"' },
  "the name is in use meanwhile",
  nothing,
  withTakenName,
);
refuses(
  "recoverProjectBranch",
  { status: 422, code: "BRANCH_NOT_RECOVERABLE" },
  "its parent is deleted",
  nothing,
  withDeletedParent,
);
refuses(
  "recoverProject",
  { status: 422, code: "PROJECTS_LIMIT_EXCEEDED" },
  "the plan limit is reached",
  nothing,
  async (scene) => {
    await done(scene, "DELETE", "");
    await scene.double.api("POST", "/projects", { project: {} });
    await withAllProjects(scene);
  },
);

refuses("createNeonAuth", ENABLED, "auth is enabled", nothing);
refuses("createProjectBranchDataAPI", ENABLED, "the Data API is enabled", ({ ids }) => ({
  ids: { branch_id: ids.branch_id },
}));
refuses("addBranchNeonAuthTrustedDomain", EXISTS, "the domain is trusted already", () => ({
  body: { auth_provider: "better_auth", domain: "https://shop.example" },
}));
refuses("addBranchNeonAuthOauthProvider", EXISTS, "the provider exists", () => ({ body: { id: "github" } }));
refuses("createProjectBranchBucket", EXISTS, "the bucket exists", () => ({ body: { name: "files" } }));
