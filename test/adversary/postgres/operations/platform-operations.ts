import { coverage } from "../../../../src/platform-api/coverage.ts";
import { expectSuccess, type Scene, type SceneApi } from "../../../support/document/contract-scene.ts";
import { EXAMPLES, type Example } from "../../../support/document/operation-examples.ts";
import { deployFunction } from "../../../support/document/service-preparations.ts";

export type PlatformOperation = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly examples: readonly Example[];
};

type AnyScene = Scene<SceneApi>;

const TRIGGER = {
  type: "schedule",
  function_slug: "hello",
  name: "hourly",
  schedule: { cron: "0 * * * *" },
};
const DOMAIN = { domain: "docs.example.com", entity_type: "function", entity_id: "hello" };
const branchOf = ({ ids }: AnyScene) => `/projects/${ids.project_id}/branches/${ids.branch_id}` as const;

/** A request on a trigger that is created before. */
function onTrigger(body?: object): Example {
  let trigger_id = "";
  return {
    before: async (scene) => {
      await deployFunction(scene);
      const created = await expectSuccess(scene.double.api("POST", `${branchOf(scene)}/triggers`, TRIGGER));
      ({ trigger_id } = (created as unknown as { trigger: { trigger_id: string } }).trigger);
    },
    ids: () => ({ trigger_id }) as object,
    ...(body === undefined ? {} : { body: () => body }),
  };
}

/** Requests that the public document has no example of, because the answer is the same. */
const MORE_EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  resetProjectBranchToParent: [{ ids: (scene: AnyScene) => ({ branch_id: scene.childId }) }],
  getProjectLimits: [{}],
  getConsumptionHistoryPerAccount: [
    { query: () => "?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&granularity=daily" },
  ],
  queryProjectBranchLogs: [{ body: () => ({}) }],
  listProjectBranchLogFields: [{}],
  listProjectBranchTriggers: [{}],
  createProjectBranchTrigger: [{ before: deployFunction, body: () => TRIGGER }],
  getProjectBranchTrigger: [onTrigger()],
  updateProjectBranchTrigger: [onTrigger({ type: "schedule", enabled: false })],
  deleteProjectBranchTrigger: [onTrigger()],
  listProjectBranchCustomDomains: [{}],
  registerProjectBranchCustomDomain: [{ before: deployFunction, body: () => DOMAIN }],
  deleteProjectBranchCustomDomain: [
    {
      before: async (scene) => {
        await deployFunction(scene);
        await expectSuccess(scene.double.api("POST", `${branchOf(scene)}/custom-domains`, DOMAIN));
      },
      ids: () => ({ domain: DOMAIN.domain }) as object,
    },
  ],
  revealCredential: [{}],
  rotateCredential: [{}],
  sendNeonAuthEmailProviderTest: [{ body: () => ({ recipient_email: "a@a.example" }) }],
  createProjectBranch: [
    {
      title: "without the rows of its parent",
      body: ({ ids }: AnyScene) => ({
        branch: { parent_id: ids.branch_id, init_source: "schema-only" },
        endpoints: [{ type: "read_write" }],
      }),
    },
  ],
  createProjectBranchRole: [
    {
      title: "with a name that ends a quoted string",
      body: () => ({ role: { name: "x'; select 1; --" } }),
    },
    { title: "with a name of 63 bytes", body: () => ({ role: { name: `"${"é".repeat(31)}` } }) },
  ],
  createProjectBranchDatabase: [
    {
      title: "with a name that ends a quoted identifier",
      body: ({ ids }: AnyScene) => ({
        database: { name: '"; drop schema public; --\n', owner_name: ids.role_name },
      }),
    },
  ],
};

/** Operations that copy or read the data of a branch, although they are only recorded or change nothing. */
const COPYING: readonly string[] = [
  "createProjectBranchAnonymized",
  "startAnonymization",
  "getProjectBranchSchema",
  "getProjectBranchSchemaComparison",
];
/** Parts of a project that no compute and no data depends on. */
const RECORDS = /\/(buckets|jwks|permissions|transfer_requests|vpc_endpoints|backup_schedule)(\/|$)/;

const { operations, client_operations } = coverage();

const served: readonly (PlatformOperation & { readonly isOnData: boolean })[] = [
  ...operations,
  ...client_operations,
]
  .filter(({ coverage: how }) => how !== "refused")
  .map(({ operation_id: operationId, method, path, coverage: how }) => ({
    operationId,
    method,
    path,
    examples: [...(EXAMPLES[operationId] ?? []), ...(MORE_EXAMPLES[operationId] ?? [])],
    isOnData:
      (how === "imitated" && method !== "GET" && path.startsWith("/projects") && !RECORDS.test(path)) ||
      COPYING.includes(operationId),
  }));

/** Operations that change projects, branches, computes, roles, databases or snapshots. */
export const BRANCH_OPERATIONS: readonly PlatformOperation[] = served.filter(({ isOnData }) => isOnData);

/** Those that read, and those that change nothing but a record. */
export const OTHER_OPERATIONS: readonly PlatformOperation[] = served.filter(({ isOnData }) => !isOnData);
