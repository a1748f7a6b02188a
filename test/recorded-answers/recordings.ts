/**
 * What the platform answered to a public client in January 2024, as facts: the fields of each answer and their
 * formats, without the recorded text. The answers are in the files `tests/cassettes/test_integration/` of
 * github.com/neondatabase/neon-api-python, of an account on the free plan with projects in aws-us-east-2.
 */
import {
  ACTIVITY,
  at,
  BRANCH,
  CHANGED_PROJECT,
  CONNECTION_URI,
  CREATED_API_KEY,
  CREATED_PROJECT,
  DATABASE,
  ENDPOINT,
  LISTED_API_KEY,
  LISTED_PROJECT,
  OPERATION,
  READ_ENDPOINT,
  READ_PROJECT,
  REVOKED_API_KEY,
  ROLE,
  type Shape,
  USER,
} from "./shapes.ts";

export type RecordedCall = {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** A parameter stands for the object of this kind that an answer had last. */
  readonly path: string;
  readonly operationId: string;
  readonly body?: unknown;
  readonly status: number;
  readonly fields: Shape;
  /** Fields that the answer lacks, although other answers have them in the same object. */
  readonly absent?: readonly string[];
};

export type Recording = {
  /** The name of its file, without `.yaml`. */
  readonly file: string;
  readonly commit: string;
  /** What the account had at the first call: a project, or one whose compute was active before. */
  readonly before?: "project" | "active project";
  readonly calls: readonly RecordedCall[];
};

export function sourceOf({ file, commit }: Recording): string {
  return `https://github.com/neondatabase/neon-api-python/blob/${commit}/tests/cassettes/test_integration/${file}.yaml`;
}

const FIRST = "d8c9d6186f51e134c719dca9717a532e6a73f44e"; // Recorded on January 23.
const SECOND = "92fa584e365ca2132ac6c6d873800ddc9a94cb6c"; // January 23.
const THIRD = "261d4b2af0c9d1d494fd89d3d6e85fe30d2e13eb"; // January 25.

const getUser: RecordedCall = {
  method: "GET",
  path: "/users/me",
  operationId: "getCurrentUserInfo",
  status: 200,
  fields: USER,
};

const createApiKey: RecordedCall = {
  method: "POST",
  path: "/api_keys",
  operationId: "createApiKey",
  body: { key_name: "pytest" },
  status: 200,
  fields: CREATED_API_KEY,
};

const listApiKeys: RecordedCall = {
  method: "GET",
  path: "/api_keys",
  operationId: "listApiKeys",
  status: 200,
  fields: at("[]", LISTED_API_KEY),
};

const revokeApiKey: RecordedCall = {
  method: "DELETE",
  path: "/api_keys/{key_id}",
  operationId: "revokeApiKey",
  status: 200,
  fields: REVOKED_API_KEY,
  absent: ["key"],
};

const listProjects: RecordedCall = {
  method: "GET",
  path: "/projects",
  operationId: "listProjects",
  status: 200,
  fields: { ...at("projects[]", LISTED_PROJECT), "pagination.cursor": "project id" },
  absent: ["projects[].owner"],
};

const listNoProjects: RecordedCall = {
  ...listProjects,
  fields: { projects: "empty list" },
  absent: ["pagination"],
};

const listSharedProjects: RecordedCall = {
  ...listNoProjects,
  path: "/projects/shared",
  operationId: "listSharedProjects",
};

const createProject: RecordedCall = {
  method: "POST",
  path: "/projects",
  operationId: "createProject",
  body: { project: { name: "pytest" } },
  status: 201,
  fields: {
    ...at("project", CREATED_PROJECT),
    ...at("connection_uris[]", CONNECTION_URI),
    ...at("roles[]", { ...ROLE, password: "text" }),
    ...at("databases[]", DATABASE),
    ...at("operations[]", OPERATION),
    ...at("operations[0]", { action: ["create_timeline"], status: ["running"] }),
    ...at("operations[1]", {
      action: ["start_compute"],
      status: ["scheduling"],
      endpoint_id: "endpoint id",
    }),
    ...at("branch", BRANCH),
    ...at("endpoints[]", ENDPOINT),
  },
  absent: [
    "project.owner",
    "project.quota_reset_at",
    "operations[0].endpoint_id",
    "endpoints[0].last_active",
  ],
};

const createProjectOfNothing: RecordedCall = {
  ...createProject,
  body: {},
  status: 400,
  fields: { code: [""], message: "text" },
  absent: ["request_id"],
};

const getProject: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}",
  operationId: "getProject",
  status: 200,
  fields: at("project", READ_PROJECT),
};

const getActiveProject: RecordedCall = {
  ...getProject,
  fields: at("project", { ...READ_PROJECT, ...ACTIVITY }),
};

const updateProject: RecordedCall = {
  method: "PATCH",
  path: "/projects/{project_id}",
  operationId: "updateProject",
  body: { project: { name: "pytest-renamed" } },
  status: 200,
  fields: { ...at("project", CHANGED_PROJECT), operations: "empty list" },
  absent: ["project.owner", "project.quota_reset_at"],
};

const updateActiveProject: RecordedCall = {
  ...updateProject,
  fields: { ...updateProject.fields, ...at("project", ACTIVITY) },
};

const deleteProject: RecordedCall = {
  method: "DELETE",
  path: "/projects/{project_id}",
  operationId: "deleteProject",
  status: 200,
  fields: at("project", CHANGED_PROJECT),
  absent: ["project.owner", "project.quota_reset_at", "operations"],
};

const listBranches: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/branches",
  operationId: "listProjectBranches",
  status: 200,
  fields: at("branches[]", BRANCH),
};

const listDatabases: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/branches/{branch_id}/databases",
  operationId: "listProjectBranchDatabases",
  status: 200,
  fields: at("databases[]", DATABASE),
};

const listOperations: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/operations",
  operationId: "listProjectOperations",
  status: 200,
  fields: {
    ...at("operations[]", OPERATION),
    ...at("operations[0]", {
      action: ["start_compute"],
      status: ["scheduling"],
      endpoint_id: "endpoint id",
    }),
    ...at("operations[1]", { action: ["create_timeline"], status: ["running"] }),
    "pagination.cursor": "instant with microseconds",
  },
  absent: ["operations[1].endpoint_id"],
};

const getOperation: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/operations/{operation_id}",
  operationId: "getProjectOperation",
  status: 200,
  fields: at("operation", { ...OPERATION, endpoint_id: "endpoint id" }),
};

const listEndpoints: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/endpoints",
  operationId: "listProjectEndpoints",
  status: 200,
  fields: at("endpoints[]", READ_ENDPOINT),
};

const getEndpoint: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/endpoints/{endpoint_id}",
  operationId: "getProjectEndpoint",
  status: 200,
  fields: at("endpoint", READ_ENDPOINT),
};

const listRoles: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/branches/{branch_id}/roles",
  operationId: "listProjectBranchRoles",
  status: 200,
  fields: at("roles[]", ROLE),
  absent: ["roles[0].password"],
};

const getRole: RecordedCall = {
  method: "GET",
  path: "/projects/{project_id}/branches/{branch_id}/roles/{role_name}",
  operationId: "getProjectBranchRole",
  status: 200,
  fields: at("role", ROLE),
  absent: ["role.password"],
};

/** The client's tests delete the project that an earlier one left, because the free plan had one. */
const replaceProject = [listProjects, deleteProject, createProject] as const;

export const RECORDINGS: readonly Recording[] = [
  { file: "test_api_keys_crud", commit: FIRST, calls: [createApiKey, revokeApiKey] },
  { file: "test_get_projects", commit: FIRST, before: "active project", calls: [listProjects] },
  {
    file: "test_get_project",
    commit: FIRST,
    before: "active project",
    calls: [listProjects, listProjects, getActiveProject],
  },
  {
    file: "test_update_project",
    commit: FIRST,
    before: "active project",
    calls: [listProjects, listProjects, updateActiveProject],
  },
  { file: "test_project_delete", commit: FIRST, calls: [listNoProjects, createProjectOfNothing] },
  {
    file: "test_create_project",
    commit: SECOND,
    before: "project",
    calls: [...replaceProject, deleteProject],
  },
  { file: "test_me", commit: THIRD, calls: [getUser] },
  { file: "test_api_keys", commit: THIRD, calls: [createApiKey, listApiKeys, revokeApiKey] },
  {
    file: "test_project",
    commit: THIRD,
    before: "active project",
    calls: [...replaceProject, getProject, updateProject, listProjects, listSharedProjects, deleteProject],
  },
  { file: "test_branches", commit: THIRD, calls: [listNoProjects, createProject, listBranches] },
  {
    file: "test_database",
    commit: THIRD,
    before: "project",
    calls: [...replaceProject, listBranches, listDatabases],
  },
  {
    file: "test_operations",
    commit: THIRD,
    before: "project",
    calls: [...replaceProject, listBranches, listOperations, getOperation],
  },
  {
    file: "test_endpoints",
    commit: THIRD,
    before: "project",
    calls: [...replaceProject, listEndpoints, getEndpoint],
  },
  {
    file: "test_roles",
    commit: THIRD,
    before: "project",
    calls: [...replaceProject, listBranches, listRoles, getRole],
  },
];
