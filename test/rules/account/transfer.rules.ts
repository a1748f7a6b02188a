import { test } from "vitest";
import {
  createOther,
  createShop,
  ORGANIZATION,
  restartMain,
  SHOP,
  worldWithAccount,
  worldWithProject,
} from "../../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, HOUR, NOW, type Step } from "../../support/rules/rules.ts";

const request: CommandOf<"RequestTransfer"> = { type: "RequestTransfer", ...SHOP, ttlSeconds: 3_600 };
const acceptByOther: CommandOf<"AcceptTransfer"> = {
  type: "AcceptTransfer",
  projectId: "shop",
  requestId: "record-1",
  toAccountId: "other",
};
const transferToOther: CommandOf<"TransferProjects"> = {
  type: "TransferProjects",
  accountId: "owner",
  toAccountId: "other",
  projectIds: ["shop"],
};
const twoAccounts: Step = [worldWithProject(), createOther];
const freeOther: Step = { ...createOther, plan: "free" };
const largeProject = worldWithProject({ compute: { minCu: 1 } });

test("a transfer request expires after its time to live", () => {
  given(worldWithProject())
    .when(request)
    .then([
      {
        type: "RecordCreated",
        record: { kind: "transferRequest", scope: "shop", fields: { expiresAt: NOW + HOUR } },
      },
    ]);
});

test("requesting the transfer of a project of another account is refused", () => {
  given(twoAccounts)
    .when({ ...request, accountId: "other" })
    .thenRefused("PROJECT_NOT_FOUND");
});

test("accepting a transfer moves the project and ends the request", () => {
  given(twoAccounts, request)
    .when(acceptByOther)
    .then([
      { type: "ProjectTransferred", projectId: "shop", accountId: "other" },
      { type: "RecordDeleted", recordId: "record-1" },
    ]);
});

test("a transfer can be accepted until one millisecond before it expires", () => {
  given(twoAccounts, request)
    .when(acceptByOther, after(HOUR - 1))
    .then([{ type: "ProjectTransferred" }, { type: "RecordDeleted" }]);
  given(twoAccounts, request)
    .when(acceptByOther, after(HOUR))
    .thenRefused("TRANSFER_REQUEST_NOT_FOUND", /expired/);
});

test("without a request, the project is unknown to other accounts and the request to its owner", () => {
  given(twoAccounts).when(acceptByOther).thenRefused("PROJECT_NOT_FOUND");
  given(twoAccounts)
    .when({ ...acceptByOther, toAccountId: "owner" })
    .thenRefused("TRANSFER_REQUEST_NOT_FOUND");
});

test("accepting a transfer of one's own project is refused", () => {
  given(twoAccounts, request)
    .when({ ...acceptByOther, toAccountId: "owner" })
    .thenRefused("TRANSFER_NOT_ALLOWED");
});

test("accepting a transfer is refused when the plan of the new account does not allow the project", () => {
  given(largeProject, freeOther, request)
    .when(acceptByOther)
    .thenRefused("PLAN_NOT_SATISFIED", /0\.25 CU/);
});

test("a transfer ends network restrictions and keys of the project; guests keep their access", () => {
  const network = { vpcEndpointId: "vpce-1", label: "office" };
  given(
    twoAccounts,
    { type: "AssignVpcEndpoint", organizationId: ORGANIZATION, regionId: "aws-us-east-2", ...network },
    { type: "RestrictProject", ...SHOP, ...network },
    { type: "GrantPermission", ...SHOP, email: "guest@example.com" },
    {
      type: "CreateApiKey",
      accountId: "owner",
      name: "ci",
      hash: "0123",
      scope: { organizationId: ORGANIZATION, projectId: "shop" },
    },
  )
    .when(transferToOther)
    .then([
      { type: "ProjectTransferred", projectId: "shop", accountId: "other" },
      { type: "RecordDeleted", recordId: "record-2" },
      { type: "ApiKeyRevoked", keyId: 1 },
    ]);
});

test("several projects move together, and each only once", () => {
  given(twoAccounts, { type: "CreateProject", accountId: "owner", id: "blog" }, after(HOUR))
    .when({ ...transferToOther, projectIds: ["shop", "blog", "shop"] })
    .then([
      { type: "ProjectTransferred", projectId: "shop", accountId: "other" },
      { type: "ProjectTransferred", projectId: "blog", accountId: "other" },
    ]);
});

test("when one of several projects is unknown, none moves", () => {
  given(twoAccounts)
    .when({ ...transferToOther, projectIds: ["shop", "unknown"] })
    .thenRefused("PROJECT_NOT_FOUND", /"unknown"/);
});

test("a transfer is refused when the new account would exceed its number of projects by one", () => {
  const oneProjectEach: Step = [worldWithProject({}, { limits: { projects: 1 } }), createOther];
  given(oneProjectEach)
    .when(transferToOther)
    .then([{ type: "ProjectTransferred" }]);
  given(oneProjectEach, { ...createShop, accountId: "other", id: "blog", branch: {}, compute: {} })
    .when(transferToOther)
    .thenRefused("LIMITS_UNSATISFIED", /allows 1 projects, there would be 2/);
});

test.each<[string, Step]>([
  ["a larger compute", largeProject],
  ["an autosuspend delay of its own", worldWithProject({ compute: { suspendTimeoutSeconds: 60 } })],
  [
    "a read replica",
    [
      worldWithProject(),
      { type: "CreateCompute", ...SHOP, branchId: "br-main", computeType: "read_only", options: {} },
      after(HOUR),
    ],
  ],
])("transferring a project with %s to a free account is refused", (_, project) => {
  given(project, freeOther).when(transferToOther).thenRefused("LIMITS_UNSATISFIED");
});

test("transferring projects to their own account is refused, and names them", () => {
  given(twoAccounts, { type: "CreateProject", accountId: "owner", id: "blog" })
    .when({ ...transferToOther, toAccountId: "owner", projectIds: ["shop", "blog"] })
    .thenRefused("TRANSFER_NOT_ALLOWED", /already owns the project "shop", "blog"$/, {
      projectIds: ["shop", "blog"],
    });
});

const freeLimits = { projects: 1, branches: 2, endpoints: 2, snapshots: 1 };
const createReplica = (id: string): Step => [
  { type: "CreateCompute", ...SHOP, branchId: "br-main", id, computeType: "read_only", options: {} },
  after(HOUR),
];
const createBranch = (id: string): Step => [{ type: "CreateBranch", ...SHOP, id, name: id }, after(HOUR)];
const takeSnapshot = (name: string): Step => ({ type: "CreateSnapshot", ...SHOP, branchId: "br-main", name });

test.each<[string, Step, Step]>([
  ["3 branches", createBranch("br-two"), createBranch("br-three")],
  ["3 computes", createReplica("ep-two"), createReplica("ep-three")],
  ["2 snapshots", takeSnapshot("one"), takeSnapshot("two")],
])("a project with %s, one more than the plan allows, does not move", (excess, upToTheLimit, oneMore) => {
  const limited = (...steps: readonly Step[]): Step => [
    worldWithProject(),
    createOther,
    ...steps,
    { type: "ConfigureWorld", settings: { limits: freeLimits } },
  ];
  given(limited(upToTheLimit)).when(transferToOther).thenAccepted();
  given(limited(upToTheLimit, oneMore))
    .when(transferToOther)
    .thenRefused(
      "LIMITS_UNSATISFIED",
      new RegExp(`^project "shop" has ${excess}, which the paid plan does not allow$`),
    );
});

test("snapshots of a schedule do not count against the plan", () => {
  given(
    worldWithProject({}, { limits: { snapshots: 0 } }),
    createOther,
    {
      type: "SetBackupSchedule",
      ...SHOP,
      branchId: "br-main",
      items: [{ frequency: "daily", hour: 13 }],
    },
    after(2 * HOUR),
    { kind: "backup", id: "br-main" },
  )
    .when(transferToOther)
    .thenAccepted();
});

test("a refused transfer lists what each project and the account lack", () => {
  const large: Step = { ...createShop, id: "blog", branch: {}, compute: { minCu: 1 } };
  given(
    worldWithProject({}, { limits: { projects: 2 } }),
    large,
    freeOther,
    { ...createShop, accountId: "other", id: "own", branch: {}, compute: {} },
    after(HOUR),
  )
    .when({ ...transferToOther, projectIds: ["shop", "blog"] })
    .thenRefused("LIMITS_UNSATISFIED", /would be 3; project "blog" has compute sizes other than 0\.25 CU/, {
      shortfalls: [
        {
          name: "projects_count",
          code: "PROJECTS_LIMIT_EXCEEDED",
          message: "the free plan allows 2 projects, there would be 3",
          expected: "2",
          actual: "3",
        },
        {
          name: "subscription_type",
          code: "PLAN_LIMIT_EXCEEDED",
          message: 'project "blog" has compute sizes other than 0.25 CU, which the free plan does not allow',
          expected: "launch",
          actual: "free_v2",
        },
      ],
    });
});

test("a project with default sizes other than those of the plan does not move", () => {
  for (const defaultEndpointSettings of [
    { minCu: 0.25, maxCu: 1 },
    { minCu: 1, maxCu: 1 },
  ])
    given(worldWithProject({ compute: { minCu: 0.25, maxCu: 0.25 }, defaultEndpointSettings }), freeOther)
      .when(transferToOther)
      .thenRefused("LIMITS_UNSATISFIED", /compute sizes other than 0\.25 CU/);
  given(worldWithProject({ defaultEndpointSettings: { minCu: 0.25, maxCu: 0.25 } }), freeOther)
    .when(transferToOther)
    .thenAccepted();
});

test("a key that is revoked already is not revoked again by a transfer", () => {
  const scope = { organizationId: ORGANIZATION, projectId: "shop" };
  given(
    twoAccounts,
    { type: "CreateApiKey", accountId: "owner", name: "ci", hash: "0123", scope },
    { type: "RevokeApiKey", accountId: "owner", organizationId: ORGANIZATION, keyId: 1 },
  )
    .when(transferToOther)
    .then([{ type: "ProjectTransferred" }]);
});

test("moving a busy project is refused", () => {
  given(twoAccounts, request, restartMain).when(acceptByOther).thenRefused("OPERATIONS_IN_PROGRESS");
  given(twoAccounts, restartMain).when(transferToOther).thenRefused("OPERATIONS_IN_PROGRESS");
});

test.each([acceptByOther, transferToOther])("$type to an unknown account is refused", (command) => {
  given(worldWithAccount())
    .when({ ...command, toAccountId: "nobody" })
    .thenRefused("ACCOUNT_NOT_FOUND");
});
