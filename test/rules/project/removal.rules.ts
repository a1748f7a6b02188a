import { expect, test } from "vitest";
import { DEV, MAIN, ORGANIZATION, SHOP, worldWithBranch } from "../../support/rules/rule-worlds.ts";
import { after, DAY, given, HOUR, type Step } from "../../support/rules/rules.ts";

// What is left of a project or a branch: nothing but history, and the numbers that are taken.

const vpcEndpoint = { vpcEndpointId: "vpce-1", label: "office" };
const createKey = (name: string, scope?: { organizationId: string; projectId?: string }): Step => ({
  type: "CreateApiKey",
  accountId: "owner",
  name,
  hash: name,
  scope,
});
const addJwks = (name: string, branchId?: string): Step => ({
  type: "AddJwks",
  ...SHOP,
  jwksUrl: `https://${name}.example.com/jwks.json`,
  providerName: name,
  ...(branchId === undefined ? {} : { branchId }),
});

/** Project "blog" of the same account stays. Records 1 and 2 belong to the organization. */
const full: Step = [
  worldWithBranch({ computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] }),
  {
    type: "CreateProject",
    accountId: "owner",
    id: "blog",
    branch: { id: "br-blog" },
    compute: { id: "ep-blog" },
  },
  after(HOUR),
  { type: "SetSpendingLimit", organizationId: ORGANIZATION, cents: 100 },
  { type: "AssignVpcEndpoint", organizationId: ORGANIZATION, regionId: "aws-us-east-2", ...vpcEndpoint },
  { type: "RestrictProject", ...SHOP, ...vpcEndpoint },
  { type: "GrantPermission", ...SHOP, email: "guest@example.com" },
  { type: "GrantPermission", accountId: "owner", projectId: "blog", email: "guest@example.com" },
  addJwks("all"),
  addJwks("dev", "br-dev"),
  createKey("person"),
  createKey("organization", { organizationId: ORGANIZATION }),
  createKey("shop", { organizationId: ORGANIZATION, projectId: "shop" }),
  createKey("blog", { organizationId: ORGANIZATION, projectId: "blog" }),
  { type: "CreateSnapshot", ...MAIN, name: "one" },
  { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "connect", connectionId: "c1" } },
  {
    type: "ScheduleActivity",
    activity: { endpointId: "ep-main", kind: "query" },
    at: Date.UTC(2027, 0),
  },
];

/** The ids in each table, and which keys are valid. */
function contents(...past: readonly Step[]) {
  return given(...past).asking((world) => ({
    projects: world.projects.toArray().map(({ id }) => id),
    branches: world.branches.toArray().map(({ id }) => id),
    computes: world.computes.toArray().map(({ id }) => id),
    snapshots: world.branchSnapshots.size,
    records: world.records.toArray().map(({ kind, scope }) => `${kind} of ${scope}`),
    validKeys: world.apiKeys
      .toArray()
      .flatMap(({ name, revokedAt }) => (revokedAt === undefined ? [name] : [])),
    connections: [...world.connections.forCompute("ep-main").values()].length,
    scheduled: world.scheduledActivities.size,
    usage: world.usage.toArray().map(({ id }) => id),
  }));
}

const organizationRecords = [
  `spendingLimit of ${ORGANIZATION}`,
  `organizationVpcEndpoint of ${ORGANIZATION}`,
];

test("a project that is removed takes everything of its own with it", () => {
  const removed: Step = [
    { type: "DeleteProject", ...SHOP },
    after(8 * DAY),
    { kind: "projectRemoval", id: "shop" },
  ];
  const left = contents(full, removed);
  expect(left).toMatchObject({
    projects: ["blog"],
    branches: ["br-blog"],
    computes: ["ep-blog"],
    snapshots: 0,
    validKeys: ["person", "organization", "blog"],
    connections: 0,
    scheduled: 0,
  });
  expect(left.records).toEqual([...organizationRecords, "projectPermission of blog"]);
  expect(left.usage).not.toContain("shop");
});

test("a branch that is removed takes the key sets with it that name it, and no others", () => {
  const removed: Step = [{ type: "DeleteBranch", ...DEV, hard: true }, after(HOUR)];
  const left = contents(full, removed);
  expect(left.branches).toEqual(["br-main", "br-blog"]);
  expect(left.computes).toEqual(["ep-main", "ep-blog"]);
  expect(left.records.filter((record) => record.startsWith("jwks"))).toEqual(["jwks of shop"]);
  expect(contents(full).records.filter((record) => record.startsWith("jwks"))).toHaveLength(2);
});

test("a reset leaves the accounts, what belongs to the organization, and keys to no single project", () => {
  const left = contents(full, { type: "ResetWorld" });
  expect(left).toEqual({
    projects: [],
    branches: [],
    computes: [],
    snapshots: 0,
    records: organizationRecords,
    validKeys: ["person", "organization"],
    connections: 0,
    scheduled: 0,
    usage: [],
  });
});

test("a revoked key stays revoked since then when its project is removed or the world is reset", () => {
  const revoked: Step = [
    full,
    { type: "RevokeApiKey", accountId: "owner", organizationId: ORGANIZATION, keyId: 3 },
    after(HOUR),
  ];
  const revokedAt = (...past: readonly Step[]) =>
    given(...past).asking((world) => world.apiKeys.get("3")?.revokedAt);
  const at = revokedAt(revoked);
  expect(at).toBeGreaterThan(0);
  expect(revokedAt(revoked, { type: "ResetWorld" })).toBe(at);
  expect(
    revokedAt(revoked, { type: "DeleteProject", ...SHOP }, after(8 * DAY), {
      kind: "projectRemoval",
      id: "shop",
    }),
  ).toBe(at);
});

test("a recovered project is like before, and may be changed", () => {
  const recovered: Step = [
    { type: "DeleteProject", ...SHOP },
    after(HOUR),
    { type: "RecoverProject", ...SHOP },
  ];
  const project = given(full, recovered).asking((world) => world.projects.get("shop"));
  expect(project).not.toHaveProperty("deletedAt");
  expect(project).not.toHaveProperty("recoverableUntil");
  expect(contents(full, recovered)).toMatchObject({
    branches: ["br-main", "br-dev", "br-blog"],
    snapshots: 1,
  });
});
