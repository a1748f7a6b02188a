import { describe, expect, test } from "vitest";
import { createScene, send, UNKNOWN_IDS } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { expectRejected } from "../../support/document/refused-request.ts";
import { API_KEY } from "../../support/double/double.ts";

// Invalid input gets 400, which names the field and what is allowed.

const document = loadPublicDocument();
const BAD = { status: 400, code: "BAD_REQUEST" };

const served = document.operations.filter(({ operationId }) => operationId in EXAMPLES);
const taking = [
  "createApiKey",
  "createProject",
  "updateProject",
  "createProjectBranch",
  "updateProjectBranch",
  "createProjectEndpoint",
  "updateProjectEndpoint",
  "restoreProjectBranch",
  "createProjectBranchRole",
  "createProjectBranchDatabase",
  "updateProjectBranchDatabase",
  "updateSnapshot",
  "setSnapshotSchedule",
];

for (const operation of served) {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)]
    .map(([, name]) => name ?? "")
    // Names of objects, and ids that another service may have made, have no form.
    .filter((name) => !name.endsWith("_name") && name !== "object_key" && name !== "auth_user_id");
  for (const name of names) {
    test(`${operation.operationId} refuses a ${name} that cannot be one`, async () => {
      const scene = await createScene();
      for (const id of ["Not_An_Id", "-1.5", "a b", "x".repeat(61), "é"]) {
        // These characters are all allowed in an id.
        if (id === "-1.5" && name !== "key_id") continue;
        await expectRejected(
          document,
          scene,
          operation,
          { ids: { [name]: id } },
          { ...BAD, message: new RegExp(`^${name}: `) },
        );
      }
    });
  }
}

describe.each(taking)("%s", (operationId) => {
  const operation = document.operation(operationId);

  test("rejects a body that is not a JSON object", async () => {
    const scene = await createScene();
    for (const body of ["{", "{'a':1}", "[]", '"text"', "1", "true", "null"])
      await expectRejected(document, scene, operation, { body }, BAD);
  });

  test("rejects a body with another Content-Type", async () => {
    const headers = {
      Authorization: `Bearer ${API_KEY}`,
      "Content-Type": "application/x-www-form-urlencoded",
    };
    await expectRejected(
      document,
      await createScene(),
      operation,
      { body: "a=b", headers },
      { ...BAD, message: /^Content-Type: .*application\/json/ },
    );
  });

  test("rejects an invalid body before it looks for the resource", async () => {
    await expectRejected(document, await createScene(), operation, { ids: UNKNOWN_IDS, body: "{" }, BAD);
  });

  // S: a branch can be created without a body.
  if (operationId === "createProjectBranch") return;

  test("rejects a missing or empty body", async () => {
    const scene = await createScene();
    for (const body of [undefined, "{}"]) await expectRejected(document, scene, operation, { body }, BAD);
  });
});

const project = (fields: object) => ({ project: fields });
const branch = (fields: object) => ({ branch: fields });
const endpoint = (fields: object) => ({ endpoint: { branch_id: "br-a-b-1", type: "read_write", ...fields } });

const DEFAULTS = "project.default_endpoint_settings";
const WINDOW = "project.settings.maintenance_window";
const LSN = "0/1E88838";
const INSTANT = "2026-01-01T00:00:05Z";

/** Invalid bodies, each with the field that the error must name. */
const BODIES: Readonly<Record<string, readonly (readonly [unknown, string])[]>> = {
  createApiKey: [
    [{ key_name: "" }, "key_name"],
    [{ key_name: 7 }, "key_name"],
    [{ key_name: null }, "key_name"],
    [{ key_name: "x".repeat(65) }, "key_name"],
  ],
  createProject: [
    [project({ name: 7 }), "project.name"],
    [project({ name: "x".repeat(257) }), "project.name"],
    [project({ pg_version: 13 }), "project.pg_version"],
    [project({ pg_version: "16" }), "project.pg_version"],
    [project({ history_retention_seconds: -1 }), "project.history_retention_seconds"],
    [project({ history_retention_seconds: 2_592_001 }), "project.history_retention_seconds"],
    [project({ store_passwords: "yes" }), "project.store_passwords"],
    [project({ branch: { role_name: "" } }), "project.branch.role_name"],
    [project({ branch: "main" }), "project.branch"],
    [project({ autoscaling_limit_min_cu: "1" }), "project.autoscaling_limit_min_cu"],
    [
      project({ default_endpoint_settings: { suspend_timeout_seconds: 1.5 } }),
      "project.default_endpoint_settings.suspend_timeout_seconds",
    ],
    [
      project({ default_endpoint_settings: { pg_settings: { a: 1 } } }),
      "project.default_endpoint_settings.pg_settings.a",
    ],
    [project({ settings: { allowed_ips: { ips: "10.0.0.1" } } }), "project.settings.allowed_ips.ips"],
    [
      project({ settings: { allowed_ips: { ips: ["10.0.0.1", "10.0.0.256"] } } }),
      "project.settings.allowed_ips.ips.1",
    ],
    [
      project({ settings: { maintenance_window: { weekdays: [1], start_time: "1:00", end_time: "02:00" } } }),
      `${WINDOW}.start_time`,
    ],
    [
      project({
        settings: { maintenance_window: { weekdays: [1], start_time: "01:00", end_time: "24:00" } },
      }),
      `${WINDOW}.end_time`,
    ],
    [
      project({ default_endpoint_settings: { pg_settings: { wal_level: "minimal" } } }),
      `${DEFAULTS}.pg_settings.wal_level`,
    ],
    [project({ org_id: "Not_An_Id" }), "project.org_id"],
  ],
  updateProject: [
    [project({ name: "" }), "project.name"],
    [project({ settings: [] }), "project.settings"],
    [project({ history_retention_seconds: 1e300 }), "project.history_retention_seconds"],
  ],
  createProjectBranch: [
    [branch({ name: "" }), "branch.name"],
    [branch({ parent_id: "Not_An_Id" }), "branch.parent_id"],
    [branch({ parent_lsn: "x" }), "branch.parent_lsn"],
    [branch({ parent_lsn: LSN, parent_timestamp: INSTANT }), "branch.parent_lsn"],
    [branch({ parent_timestamp: "yesterday" }), "branch.parent_timestamp"],
    [branch({ init_source: "nothing" }), "branch.init_source"],
    [branch({ protected: 1 }), "branch.protected"],
    [{ endpoints: [{ type: "write_only" }] }, "endpoints.0.type"],
    [{ endpoints: [{}] }, "endpoints.0.type"],
    [{ endpoints: {} }, "endpoints"],
    [{ annotation_value: { a: 1 } }, "annotation_value.a"],
  ],
  updateProjectBranch: [
    [branch({ name: "" }), "branch.name"],
    [branch({ protected: "yes" }), "branch.protected"],
  ],
  restoreProjectBranch: [
    [{ source_branch_id: 7 }, "source_branch_id"],
    [{ source_branch_id: "br-a-b-1", source_timestamp: "yesterday" }, "source_timestamp"],
    [{ source_branch_id: "br-a-b-1", source_lsn: "x" }, "source_lsn"],
    [{ source_branch_id: "br-a-b-1", source_lsn: LSN, source_timestamp: INSTANT }, "source_lsn"],
    [{ source_branch_id: "br-a-b-1", preserve_under_name: "" }, "preserve_under_name"],
  ],
  finalizeRestoreBranch: [[{ name: "" }, "name"]],
  restoreSnapshot: [
    [{ target_branch_id: "Not_An_Id" }, "target_branch_id"],
    [{ finalize_restore: "yes" }, "finalize_restore"],
  ],
  updateSnapshot: [[{ snapshot: { name: "" } }, "snapshot.name"]],
  setSnapshotSchedule: [
    [{ schedule: [{ frequency: "weekly", day: 8 }] }, "schedule.0.day"],
    [{ schedule: [{}] }, "schedule.0.frequency"],
    [{ schedule: [{ frequency: "secondly" }] }, "schedule.0.frequency"],
    ...[-1, 24, 1.5].map((hour): [unknown, string] => [
      { schedule: [{ frequency: "daily", hour }] },
      "schedule.0.hour",
    ]),
    ...[0, 32].map((day): [unknown, string] => [
      { schedule: [{ frequency: "monthly", day }] },
      "schedule.0.day",
    ]),
    ...[0, 13].map((month): [unknown, string] => [
      { schedule: [{ frequency: "yearly", month }] },
      "schedule.0.month",
    ]),
    [{ schedule: [{ frequency: "hourly", retention_seconds: 3_599 }] }, "schedule.0.retention_seconds"],
  ],
  createProjectBranchRole: [
    [{ role: {} }, "role.name"],
    [{ role: { name: "a".repeat(64) } }, "role.name"],
    [{ role: { name: "a", no_login: "yes" } }, "role.no_login"],
  ],
  createProjectBranchDatabase: [
    [{ database: { name: "a" } }, "database.owner_name"],
    [{ database: { name: "", owner_name: "a" } }, "database.name"],
  ],
  updateProjectBranchDatabase: [[{ database: { name: "" } }, "database.name"]],
  createProjectEndpoint: [
    [{ endpoint: { type: "read_write" } }, "endpoint.branch_id"],
    [{ endpoint: { branch_id: "br-a-b-1" } }, "endpoint.type"],
    [endpoint({ type: "primary" }), "endpoint.type"],
    [endpoint({ branch_id: "Not_An_Id" }), "endpoint.branch_id"],
    [endpoint({ autoscaling_limit_min_cu: "1" }), "endpoint.autoscaling_limit_min_cu"],
    [endpoint({ autoscaling_limit_max_cu: null }), "endpoint.autoscaling_limit_max_cu"],
    [endpoint({ suspend_timeout_seconds: 0.5 }), "endpoint.suspend_timeout_seconds"],
    [endpoint({ suspend_timeout_seconds: 1e300 }), "endpoint.suspend_timeout_seconds"],
    [endpoint({ pooler_mode: "session" }), "endpoint.pooler_mode"],
    [endpoint({ disabled: "no" }), "endpoint.disabled"],
    [endpoint({ settings: { pg_settings: [] } }), "endpoint.settings.pg_settings"],
    [
      endpoint({ settings: { pg_settings: { Max_Connections: "5000" } } }),
      "endpoint.settings.pg_settings.Max_Connections",
    ],
  ],
  updateProjectEndpoint: [
    [{ endpoint: { branch_id: 7 } }, "endpoint.branch_id"],
    [{ endpoint: { pooler_enabled: "yes" } }, "endpoint.pooler_enabled"],
    [{ endpoint: { suspend_timeout_seconds: "300" } }, "endpoint.suspend_timeout_seconds"],
    [
      { endpoint: { settings: { pg_settings: { shared_buffers: "1GB" } } } },
      "endpoint.settings.pg_settings.shared_buffers",
    ],
    [
      { endpoint: { settings: { pg_settings: { shared_preload_libraries: "x" } } } },
      "endpoint.settings.pg_settings.shared_preload_libraries",
    ],
  ],
};

for (const [operationId, bodies] of Object.entries(BODIES)) {
  test.each(bodies)(`${operationId} refuses %j and names %s`, async (body, field) => {
    const scene = await createScene();
    await expectRejected(
      document,
      scene,
      document.operation(operationId),
      { body },
      { ...BAD, message: new RegExp(`^${field.replaceAll(".", "\\.")}: .+`) },
    );
  });
}

const PLACE = "&database_name=d&role_name=r";

/** Invalid query strings, each with the parameter that the error must name. */
const QUERIES: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  listProjects: [
    ...["0", "401", "-1", "1.5", "ten", "", "99999999999"].map(
      (limit) => [`?limit=${limit}`, "limit"] as const,
    ),
    ...["x", "e30", ""].map((cursor) => [`?cursor=${cursor}`, "cursor"] as const),
    ["?org_id=Not_An_Id", "org_id"],
    ["?recoverable=maybe", "recoverable"],
    ...["99", "30001", "soon"].map((timeout) => [`?timeout=${timeout}`, "timeout"] as const),
  ],
  listSharedProjects: [
    ["?limit=0", "limit"],
    ["?cursor=x", "cursor"],
  ],
  listProjectOperations: [
    ["?limit=0", "limit"],
    ["?limit=1001", "limit"],
    ["?cursor=x", "cursor"],
  ],
  listProjectBranches: [
    ["?limit=0", "limit"],
    ["?limit=10001", "limit"],
    ["?cursor=x", "cursor"],
    ["?sort_by=size", "sort_by"],
    ["?sort_order=up", "sort_order"],
    ["?include_deleted=yes", "include_deleted"],
  ],
  createSnapshot: [
    ["?timestamp=yesterday", "timestamp"],
    ["?expires_at=never", "expires_at"],
    ["?lsn=x", "lsn"],
    [`?lsn=${LSN}&timestamp=${INSTANT}`, "lsn"],
    ["?name=", "name"],
  ],
  getProjectBranchSchema: [
    ["", "db_name"],
    ["?db_name=neondb&timestamp=yesterday", "timestamp"],
    ["?db_name=neondb&format=xml", "format"],
    [`?db_name=neondb&lsn=${LSN}&timestamp=${INSTANT}`, "lsn"],
  ],
  getProjectBranchSchemaComparison: [
    ["?base_branch_id=Not_An_Id&db_name=neondb", "base_branch_id"],
    ["?db_name=neondb&base_timestamp=yesterday", "base_timestamp"],
    [`?db_name=neondb&base_lsn=${LSN}&base_timestamp=${INSTANT}`, "base_lsn"],
  ],
  deleteProjectBranch: [["?hard_delete=yes", "hard_delete"]],
  getConnectionURI: [
    ["?role_name=r", "database_name"],
    ["?database_name=d", "role_name"],
    [`?pooled=yes${PLACE}`, "pooled"],
    [`?branch_id=Not_An_Id${PLACE}`, "branch_id"],
    [`?endpoint_id=Not_An_Id${PLACE}`, "endpoint_id"],
  ],
  listProjectBranchFunctions: [
    ["?limit=0", "limit"],
    ["?limit=1001", "limit"],
    ["?cursor=x", "cursor"],
  ],
  getActiveRegions: [["?org_id=Not_An_Id", "org_id"]],
};

for (const [operationId, queries] of Object.entries(QUERIES)) {
  test.each(queries)(`${operationId} refuses %s and names %s`, async (query, parameter) => {
    const scene = await createScene();
    await expectRejected(
      document,
      scene,
      document.operation(operationId),
      { query },
      { ...BAD, message: new RegExp(`^${parameter}: .+`) },
    );
  });
}

test("a list rejects the cursor of another list", async () => {
  const { double, ids } = await createScene();
  const headers = { Authorization: `Bearer ${API_KEY}` };
  const { body } = await send(double, "GET", "/projects?limit=1", { headers });
  const { status } = await send(
    double,
    "GET",
    `/projects/${ids.project_id}/operations?cursor=${body.pagination.cursor}`,
    { headers },
  );
  expect(status).toBe(400);
});
