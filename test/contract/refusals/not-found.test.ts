import { describe, expect, test } from "vitest";
import { createScene, type Ids, UNKNOWN_IDS } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { expectRejected, sendExample } from "../../support/document/refused-request.ts";

// Unknown resources and those of another account both get 404.

const document = loadPublicDocument();

const CODES: Ids = {
  project_id: "PROJECT_NOT_FOUND",
  branch_id: "BRANCH_NOT_FOUND",
  endpoint_id: "ENDPOINT_NOT_FOUND",
  operation_id: "OPERATION_NOT_FOUND",
  key_id: "API_KEY_NOT_FOUND",
  org_id: "ORGANIZATION_NOT_FOUND",
  role_name: "ROLE_NOT_FOUND",
  database_name: "DATABASE_NOT_FOUND",
  jwks_id: "JWKS_NOT_FOUND",
  permission_id: "PERMISSION_NOT_FOUND",
  vpc_endpoint_id: "VPC_ENDPOINT_NOT_FOUND",
  region_id: "REGION_NOT_FOUND",
  request_id: "TRANSFER_REQUEST_NOT_FOUND",
  member_id: "MEMBER_NOT_FOUND",
  source_org_id: "ORGANIZATION_NOT_FOUND",
  snapshot_id: "SNAPSHOT_NOT_FOUND",
  oauth_provider_id: "SERVICE_RECORD_NOT_FOUND",
  bucket_name: "SERVICE_RECORD_NOT_FOUND",
  token_id: "SERVICE_RECORD_NOT_FOUND",
  auth_user_id: "SERVICE_RECORD_NOT_FOUND",
  auth_provider: "NOT_ENABLED",
  slug: "SERVICE_RECORD_NOT_FOUND",
  object_key: "SERVICE_RECORD_NOT_FOUND",
};
/**
 * Parameters that name nothing of an account: every branch has this role, database, bucket and OAuth provider,
 * and regions are global.
 */
const NAMES: readonly string[] = [
  "role_name",
  "database_name",
  "bucket_name",
  "oauth_provider_id",
  "auth_provider",
  "slug",
  "object_key",
  "region_id",
];
/**
 * Assigning creates the named endpoint; accepting needs the request of another account (see
 * transfers.test.ts).
 */
const MAKING: readonly string[] = [
  "assignOrganizationVPCEndpoint",
  "assignProjectVPCEndpoint",
  "createProjectBranchFunctionDeployment",
  "presignProjectBranchBucketObject",
];
/** The parameters that name what these make. */
const MADE: readonly string[] = ["vpc_endpoint_id", "slug", "object_key"];
const CLAIMING = "acceptProjectTransferRequest";

const onObjects = document.operations.filter(
  ({ operationId, path }) => operationId in EXAMPLES && path.includes("{") && operationId !== CLAIMING,
);
const parametersOf = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof Ids);

for (const operation of onObjects) {
  describe(operation.operationId, () => {
    for (const parameter of parametersOf(operation.path)) {
      if (MADE.includes(parameter) && MAKING.includes(operation.operationId)) continue;
      test(`does not find an unknown ${parameter}`, async () => {
        const ids = { [parameter]: UNKNOWN_IDS[parameter] };
        await expectRejected(
          document,
          await createScene(),
          operation,
          { ids },
          { status: 404, code: CODES[parameter] },
        );
      });

      if (NAMES.includes(parameter)) continue;
      test(`does not find another account's ${parameter}`, async () => {
        const scene = await createScene();
        const ids = { [parameter]: scene.others.ids[parameter] };
        await expectRejected(document, scene, operation, { ids }, { status: 404, code: CODES[parameter] });
      });
    }

    test("does not find resources of another account", async () => {
      const scene = await createScene();
      const { ids } = scene.others;
      await expectRejected(
        document,
        scene,
        operation,
        { ids },
        { status: 404, code: CODES[parametersOf(operation.path)[0] ?? "project_id"] },
      );
    });
  });
}

test("resources of another account and missing ones get the same answer", async () => {
  const scene = await createScene();
  for (const operation of onObjects) {
    const [first] = parametersOf(operation.path);
    if (first === undefined) continue;
    const others = await sendExample(scene, operation, { ids: { [first]: scene.others.ids[first] } });
    const unknown = await sendExample(scene, operation, { ids: { [first]: UNKNOWN_IDS[first] } });
    const reported = (response: typeof others, id: string) => ({
      ...response.body,
      message: response.body.message.replaceAll(id, "…"),
      request_id: "",
    });
    expect(reported(others, scene.others.ids[first])).toEqual(reported(unknown, UNKNOWN_IDS[first]));
  }
});

const INDIRECT: readonly (readonly [
  string,
  string,
  (ids: Ids) => { query?: string; body?: unknown },
  keyof Ids,
])[] = [
  ["listProjects", "an organization to list", (ids) => ({ query: `?org_id=${ids.org_id}` }), "org_id"],
  [
    "createProject",
    "an organization to belong to",
    (ids) => ({ body: { project: { org_id: ids.org_id } } }),
    "org_id",
  ],
  ["getActiveRegions", "an organization to ask for", (ids) => ({ query: `?org_id=${ids.org_id}` }), "org_id"],
  [
    "createOrgApiKey",
    "a project",
    (ids) => ({ body: { key_name: "k", project_id: ids.project_id } }),
    "project_id",
  ],
  [
    "addProjectJWKS",
    "a branch",
    (ids) => ({ body: { jwks_url: "https://a.example/jwks", provider_name: "a", branch_id: ids.branch_id } }),
    "branch_id",
  ],
  ["acceptProjectTransferRequest", "an organization", (ids) => ({ body: { org_id: ids.org_id } }), "org_id"],
  ...["transferProjectsFromOrgToOrg", "transferProjectsFromUserToOrg"].map(
    (operationId) =>
      [
        operationId,
        "an organization to transfer to",
        (ids: Ids) => ({ body: { destination_org_id: ids.org_id, project_ids: ["any-project"] } }),
        "org_id",
      ] as const,
  ),
  [
    "createProjectBranch",
    "a parent",
    (ids) => ({ body: { branch: { parent_id: ids.branch_id } } }),
    "branch_id",
  ],
  ["restoreProjectBranch", "a source", (ids) => ({ body: { source_branch_id: ids.branch_id } }), "branch_id"],
  [
    "restoreSnapshot",
    "a branch to replace",
    (ids) => ({ body: { target_branch_id: ids.branch_id } }),
    "branch_id",
  ],
  [
    "getProjectBranchSchemaComparison",
    "a branch to compare with",
    (ids) => ({ query: `?db_name=neondb&base_branch_id=${ids.branch_id}` }),
    "branch_id",
  ],
  [
    "createProjectEndpoint",
    "a branch",
    (ids) => ({ body: { endpoint: { branch_id: ids.branch_id, type: "read_only" } } }),
    "branch_id",
  ],
  [
    "updateProjectEndpoint",
    "a branch to move to",
    (ids) => ({ body: { endpoint: { branch_id: ids.branch_id } } }),
    "branch_id",
  ],
];

for (const [operationId, what, difference, parameter] of INDIRECT) {
  test(`${operationId} does not find ${what} that is unknown or another account's`, async () => {
    const operation = document.operation(operationId);
    const scene = await createScene();
    for (const ids of [UNKNOWN_IDS, scene.others.ids]) {
      await expectRejected(document, scene, operation, difference(ids), {
        status: 404,
        code: CODES[parameter],
      });
    }
  });
}

test.each([
  ["getProjectBranchSchema", { query: `?db_name=${UNKNOWN_IDS.database_name}` }, "database_name"],
  ["getProjectBranchSchemaComparison", { query: `?db_name=${UNKNOWN_IDS.database_name}` }, "database_name"],
  [
    "createProjectBranchDatabase",
    { body: { database: { name: "app", owner_name: UNKNOWN_IDS.role_name } } },
    "role_name",
  ],
  ["updateProjectBranchDatabase", { body: { database: { owner_name: UNKNOWN_IDS.role_name } } }, "role_name"],
] as const)(
  "%s gets 404 for what the branch does not have: %j",
  async (operationId, difference, parameter) => {
    const expected = { status: 404, code: CODES[parameter] };
    await expectRejected(
      document,
      await createScene(),
      document.operation(operationId),
      difference,
      expected,
    );
  },
);

test("a connection URI needs an existing branch, endpoint, role and database", async () => {
  const operation = document.operation("getConnectionURI");
  const scene = await createScene();
  const { ids, childId } = scene;
  const known = { database_name: ids.database_name, role_name: ids.role_name };
  for (const [query, code] of [
    [{ ...known, branch_id: UNKNOWN_IDS.branch_id }, CODES.branch_id],
    [{ ...known, endpoint_id: UNKNOWN_IDS.endpoint_id }, CODES.endpoint_id],
    [{ ...known, branch_id: childId }, CODES.endpoint_id],
    [{ ...known, branch_id: childId, endpoint_id: ids.endpoint_id }, CODES.endpoint_id],
    [{ ...known, role_name: UNKNOWN_IDS.role_name }, CODES.role_name],
    [{ ...known, database_name: UNKNOWN_IDS.database_name }, CODES.database_name],
  ] as const) {
    await expectRejected(
      document,
      scene,
      operation,
      { query: `?${new URLSearchParams(query)}` },
      { status: 404, code },
    );
  }
});
