import { describe, expect, test } from "vitest";
import type { ActivePhase, Compute } from "../../../src/platform/model/compute.ts";
import type { World } from "../../../src/platform/world/world.ts";
import { checkInvariants } from "../../../src/simulation/invariants.ts";
import {
  createDev,
  createShop,
  MAIN,
  ORGANIZATION,
  SHOP,
  worldWithAccount,
} from "../../support/rules/rule-worlds.ts";
import { type CommandOf, DAY, NOW, SECOND } from "../../support/rules/rules.ts";
import { SimulatedWorld } from "../../support/rules/simulated-world.ts";

const activity = (fields: Partial<CommandOf<"RecordActivity">["activity"]>): CommandOf<"RecordActivity"> => ({
  type: "RecordActivity",
  activity: { endpointId: "ep-main", kind: "query", ...fields },
});

/** A world with rows in every table, in which all invariants hold. */
function fullWorld(): World {
  const simulated = new SimulatedWorld(worldWithAccount()).run(
    { ...createShop, compute: { ...createShop.compute, minCu: 0.25, maxCu: 1 } },
    { ms: 10 * SECOND },
    { ...createDev, computes: [{ id: "ep-dev", computeType: "read_write", options: { disabled: true } }] },
    { ms: 10 * SECOND },
    { type: "CreateAccount", id: "other", name: "Other", email: "other@example.com" },
    { type: "CreateApiKey", accountId: "owner", name: "one", hash: "hash-1" },
    {
      type: "CreateApiKey",
      accountId: "owner",
      name: "scoped",
      hash: "hash-2",
      scope: { organizationId: ORGANIZATION, projectId: "shop" },
    },
    {
      type: "CreateServiceRecord",
      ...MAIN,
      record: { kind: "auth", database: "neondb", settings: {} } as never,
    },
    { type: "CreateServiceRecord", ...MAIN, record: { kind: "authDomain", key: "d", settings: {} } as never },
    {
      type: "InviteMembers",
      accountId: "owner",
      organizationId: ORGANIZATION,
      invitations: [{ email: "other@example.com", role: "member" }],
    } as never,
    {
      type: "AssignVpcEndpoint",
      organizationId: ORGANIZATION,
      regionId: "aws-us-east-2",
      vpcEndpointId: "vpce-1",
      label: "",
    },
    { type: "RestrictProject", ...SHOP, vpcEndpointId: "vpce-1", label: "" },
    { type: "CreateSnapshot", ...MAIN },
    activity({ kind: "transaction", connectionId: "c1" }),
    activity({ kind: "connect", connectionId: "c2", pooled: true }),
  );
  simulated.world.branchData.set({ id: "br-main", volumeId: "v", at: NOW });
  now = simulated.now;
  return simulated.world;
}
let now = NOW;

const computeOf = (world: World, id = "ep-main"): Compute => world.computes.get(id) as Compute;
const branchOf = (world: World, id: string) =>
  world.branches.get(id) as NonNullable<ReturnType<World["branches"]["get"]>>;
const projectOf = (world: World) =>
  world.projects.get("shop") as NonNullable<ReturnType<World["projects"]["get"]>>;
const changeCompute = (world: World, fields: Partial<Compute>, id = "ep-main") =>
  world.computes.set({ ...computeOf(world, id), ...fields });
const changePhase = (world: World, fields: Partial<ActivePhase>) =>
  changeCompute(world, { phase: { ...(computeOf(world).phase as ActivePhase), ...fields } });
const changeBranch = (world: World, id: string, fields: object) =>
  world.branches.set({ ...branchOf(world, id), ...fields });
const connect = (world: World, id: string, fields: object = {}) =>
  world.connections.set({
    endpointId: "ep-main",
    id,
    pooled: false,
    inTransaction: false,
    waiting: false,
    ...fields,
  });
const makeFree = (world: World) => {
  const owner = world.accounts.get("owner");
  if (owner !== undefined) world.accounts.set({ ...owner, plan: "free" });
};
const addOperation = (world: World, fields: object) =>
  world.operations.set({
    id: "o1",
    number: 90,
    projectId: "shop",
    branchId: "br-main",
    endpointId: "ep-main",
    action: "apply_config",
    state: { status: "running", startedAt: now, dueAt: now + SECOND },
    durationMs: SECOND,
    cause: "request",
    createdAt: now,
    updatedAt: now,
    ...fields,
  } as never);
const addRecord = (world: World, fields: object) =>
  world.records.set({ id: "r1", number: 90, createdAt: now, updatedAt: now, ...fields } as never);
const addFault = (world: World, fields: object) =>
  world.faults.set({
    name: "f",
    scope: {},
    timing: {},
    effect: { kind: "drop" },
    setAt: 0,
    seen: 0,
    hits: 0,
    ...fields,
  } as never);
const setQuota = (world: World, seconds: number, updatedAt: number) =>
  world.projects.set({
    ...projectOf(world),
    updatedAt,
    settings: { quota: { active_time_seconds: seconds } },
  } as never);

const violationsOf = (change: (world: World) => void, at?: number) => {
  const world = fullWorld();
  change(world);
  return checkInvariants(world, at ?? now).violations.map(({ message }) => message);
};

test("all invariants hold in a world with rows in every table", () => {
  expect(checkInvariants(fullWorld(), now)).toMatchObject({ ok: true, violations: [] });
});

test("a report names the invariant", () => {
  const world = fullWorld();
  expect(checkInvariants(world, world.at - 1)).toEqual({
    ok: false,
    checked: checkInvariants(world, now).checked,
    violations: [
      {
        invariant: "no event is later than now",
        message: `the last event was at ${world.at}, but the clock shows ${world.at - 1}`,
      },
    ],
  });
});

test.each<[change: (world: World) => void, message: string | RegExp | readonly string[]]>([
  [
    (world) => changeCompute(world, { branchId: "br-main" }, "ep-dev"),
    "branch br-main has ep-main and ep-dev",
  ],
  [
    (world) => changeCompute(world, { branchId: "br-x" }, "ep-dev"),
    "ep-dev is on branch br-x, which does not exist",
  ],
  [
    (world) => changeCompute(world, { projectId: "blog" }, "ep-dev"),
    "ep-dev is of project blog, its branch of shop",
  ],
  [(world) => world.branchData.set({ id: "br-x", at: 0 }), "there is data of br-x, which does not exist"],
  [
    (world) => changeBranch(world, "br-dev", { parentId: "br-x" }),
    "br-dev has the parent br-x, which is not in its project",
  ],
  [(world) => changeBranch(world, "br-dev", { default: true }), "project shop has 2 default branches"],
  [(world) => changeBranch(world, "br-main", { default: false }), "project shop has 0 default branches"],
  [
    (world) => changeBranch(world, "br-dev", { name: branchOf(world, "br-main").name }),
    /^project shop has two branches named /,
  ],
  [
    (world) => changeCompute(world, { range: { minCu: 2, maxCu: 1 } }),
    "ep-main has a minimum of 2 and a maximum of 1 CU",
  ],
  [makeFree, "ep-main has 0.25 to 1 CU on the free plan"],
  [
    (world) => {
      makeFree(world);
      changeCompute(world, { range: { minCu: 0.25, maxCu: 0.25 } });
      changeCompute(world, { type: "read_only" }, "ep-dev");
    },
    "ep-dev is a read replica on the free plan",
  ],
  [(world) => changeCompute(world, { suspendTimeoutSeconds: 59 }), "ep-main has a suspend timeout of 59 s"],
  [
    (world) => changeCompute(world, { suspendTimeoutSeconds: 604_801 }),
    "ep-main has a suspend timeout of 604801 s",
  ],
  [(world) => changePhase(world, { sizeCu: 0.1 }), "ep-main has 0.1 CU, outside its range of 0.25 to 1"],
  [(world) => changePhase(world, { sizeCu: 2 }), "ep-main has 2 CU, outside its range of 0.25 to 1"],
  [
    (world) => changePhase(world, { cache: { hits: 0, misses: 0, writes: 0, used: 104_858 } }),
    "ep-main has 104858 blocks in its cache",
  ],
  [
    (world) => {
      for (let number = 0; number < 112; number += 1) connect(world, `x${number}`);
    },
    /^ep-main has 113 direct connections; the limit is 112$/,
  ],
  [
    (world) => {
      for (let number = 0; number < 10_000; number += 1) connect(world, `x${number}`, { pooled: true });
    },
    "ep-main has 10001 pooled connections; the limit is 10000",
  ],
  [(world) => connect(world, "w", { waiting: true }), "ep-main is active, connection w waits"],
  [(world) => connect(world, "w", { endpointId: "ep-x" }), "ep-x is deleted, connection w is open"],
  [(world) => connect(world, "w", { endpointId: "ep-dev" }), "ep-dev is idle, connection w is open"],
  [
    (world) => connect(world, "t", { inTransaction: true }),
    "ep-main counts 1 open transactions, but there are 2",
  ],
  [
    (world) =>
      changeCompute(
        world,
        { waiting: { longestMs: 0, queries: 1, blocks: { hits: 0, misses: 0, writes: 0 } } },
        "ep-dev",
      ),
    "connections wait for ep-dev, but no operation starts it",
  ],
  [
    (world) => {
      addOperation(world, { action: "start_compute" });
      addOperation(world, { action: "start_compute", id: "o2", number: 91 });
    },
    "ep-main has two running operations",
  ],
  [(world) => addOperation(world, { projectId: "blog" }), "o1 is of project blog, which does not exist"],
  [(world) => addOperation(world, { branchId: "br-x" }), "o1 is on branch br-x, which does not exist"],
  [(world) => addOperation(world, { endpointId: "ep-x" }), "o1 is on ep-x, which does not exist"],
  [
    (world) => addOperation(world, { state: { status: "scheduling" } }),
    "project shop waits for operation o1, which is not running",
  ],
  [
    (world) => addOperation(world, { failures: { count: 3, times: 2, ends: "finished" } }),
    "o1 has failed 3 times; its fault allows 2",
  ],
  [
    (world) => addOperation(world, { failures: { count: 2, times: 2, ends: "failed" } }),
    "o1 has failed 2 times; its fault allows 2",
  ],
  [
    (world) => addFault(world, { seen: 1, hits: 2 }),
    "fault f has triggered 2 times; at most 1 of 1 matches are allowed",
  ],
  [
    (world) => addFault(world, { seen: 5, hits: 3, timing: { limit: 2 } }),
    "fault f has triggered 3 times; at most 2 of 5 matches are allowed",
  ],
  [
    (world) => addFault(world, { seen: 5, hits: 3, timing: { every: 2 } }),
    "fault f has triggered 3 times; at most 2 of 5 matches are allowed",
  ],
  [
    (world) => addFault(world, { seen: 3, hits: 3, timing: { first: 2 } }),
    [
      "fault f has triggered 3 times; at most 2 of 3 matches are allowed",
      "fault f has matched 3 times, but ends after the first 2",
    ],
  ],
  [
    (world) => addFault(world, { seen: 3, timing: { first: 2 } }),
    "fault f has matched 3 times, but ends after the first 2",
  ],
  [
    (world) =>
      world.apiKeys.set({ id: 90, accountId: "nobody", name: "", hash: "hash-9", createdAt: now } as never),
    "API key 90 is of account nobody, which does not exist",
  ],
  [
    (world) =>
      world.apiKeys.set({ id: 90, accountId: "owner", name: "", hash: "hash-1", createdAt: now } as never),
    "API key 90 has the same secret as another key",
  ],
  [
    (world) =>
      world.apiKeys.set({
        id: 90,
        accountId: "owner",
        name: "",
        hash: "hash-9",
        createdAt: now,
        scope: { organizationId: "org-x" },
      } as never),
    "API key 90 is of organization org-x, which does not exist",
  ],
  [
    (world) =>
      world.apiKeys.set({
        id: 90,
        accountId: "owner",
        name: "",
        hash: "hash-9",
        createdAt: now,
        scope: { organizationId: ORGANIZATION, projectId: "blog" },
      } as never),
    `API key 90 is scoped to project blog, which organization ${ORGANIZATION} does not own`,
  ],
  [
    (world) =>
      addRecord(world, { kind: "member", scope: "org-x", fields: { accountId: "other", role: "member" } }),
    "member r1 is of org-x, which is no organization",
  ],
  [
    (world) => addRecord(world, { kind: "jwks", scope: "blog", fields: { jwksUrl: "u", roleNames: [] } }),
    "jwks r1 is of blog, which is no project",
  ],
  [
    (world) => addRecord(world, { kind: "bucket", scope: "br-x", fields: { key: "k", settings: {} } }),
    "bucket r1 is of br-x, which is no branch",
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "member",
        scope: ORGANIZATION,
        fields: { accountId: "nobody", role: "member" },
      }),
    "member r1 is account nobody, which does not exist",
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "jwks",
        scope: "shop",
        fields: { branchId: "br-x", jwksUrl: "u", roleNames: [] },
      }),
    "JWKS r1 is for branch br-x, which does not exist",
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "projectVpcEndpoint",
        scope: "shop",
        fields: { vpcEndpointId: "vpce-9", label: "" },
      }),
    "project shop is restricted to vpce-9, which its organization does not own",
  ],
  [
    (world) => addRecord(world, { kind: "authDomain", scope: "br-main", fields: { key: "d", settings: {} } }),
    'authDomain "d" of branch br-main is recorded twice',
  ],
  [
    (world) => addRecord(world, { kind: "authDomain", scope: "br-dev", fields: { key: "e", settings: {} } }),
    'authDomain "e" of branch br-dev is recorded, but auth is not',
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "dataApi",
        scope: "br-dev",
        fields: { key: "x", database: "x", settings: {} },
      }),
    'dataApi "x" of branch br-dev serves the database "x", which does not exist',
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "member",
        scope: ORGANIZATION,
        fields: { accountId: "owner", role: "admin" },
      }),
    `account owner in ${ORGANIZATION} is a member twice`,
  ],
  [
    (world) =>
      addRecord(world, {
        kind: "member",
        scope: ORGANIZATION,
        fields: { accountId: "other", role: "admin" },
      }),
    `account other in ${ORGANIZATION} is a member twice`,
  ],
  [
    (world) => world.usage.set({ id: "br-main", activeMs: 0, cuMs: 1_000_000 } as never),
    /^project shop has used \d+ CU-ms; its branches sum to 1000000$/,
  ],
  [
    (world) => setQuota(world, 1, now - 1),
    "ep-main is active, but its project has reached its active_time_seconds",
  ],
])("a violation is found: %#", (change, message) => {
  const messages = violationsOf(change);
  expect(messages).toEqual(message instanceof RegExp ? [expect.stringMatching(message)] : [message].flat());
});

test("a project of an account that does not exist is found, with all that is missing because of it", () => {
  expect(violationsOf((world) => world.projects.set({ ...projectOf(world), accountId: "nobody" }))).toContain(
    "project shop is of account nobody, which does not exist",
  );
  expect(violationsOf((world) => changeBranch(world, "br-dev", { projectId: "blog" }))).toContain(
    "br-dev is of project blog, which does not exist",
  );
});

test("due work that has not run is found", () => {
  const world = fullWorld();
  changeBranch(world, "br-dev", { expiresAt: now });
  expect(checkInvariants(world, now).violations).toEqual([]);
  expect(checkInvariants(world, now + 1).violations).toEqual([
    { invariant: "all due work has run", message: `expiration br-dev was due before ${now + 1}` },
  ]);
});

test("hourly usage that decreases is found", () => {
  const hour = (beforeMonth: number, beforeDay: number, beforeHour: number) => ({
    startedAt: now,
    beforeMonth: { activeMs: beforeMonth },
    beforeDay: { activeMs: beforeDay },
    beforeHour: { activeMs: beforeHour },
  });
  const found = (before: [number, number, number], activeMs: number) =>
    violationsOf((world) => world.usage.set({ id: "x", activeMs, cuMs: 0, hour: hour(...before) } as never));
  expect(found([1, 1, 1], 1)).toEqual([]);
  expect(found([1, 2, 3], 4)).toEqual([]);
  for (const [before, activeMs] of [
    [[-1, 2, 3], 4],
    [[2, 1, 3], 4],
    [[1, 3, 2], 4],
    [[1, 2, 5], 4],
  ] as [[number, number, number], number][])
    expect(found(before, activeMs)).toEqual([
      `x has used ${[...before, activeMs].join(", ")} ms before its month, its day, its hour, and now; these must not decrease`,
    ]);
});

describe("no violation is", () => {
  test.each<[string, (world: World) => void]>([
    [
      "a second compute that is a replica",
      (world) => changeCompute(world, { branchId: "br-main", type: "read_only" }, "ep-dev"),
    ],
    [
      "a deleted branch of the same name",
      (world) => changeBranch(world, "br-dev", { name: branchOf(world, "br-main").name, deletedAt: now }),
    ],
    ["a delay of 60 s or 7 days", (world) => changeCompute(world, { suspendTimeoutSeconds: 60 })],
    ["the longest delay", (world) => changeCompute(world, { suspendTimeoutSeconds: 604_800 })],
    ["no suspend", (world) => changeCompute(world, { suspendTimeoutSeconds: -1 })],
    ["a fixed size", (world) => changeCompute(world, { range: { minCu: 1, maxCu: 1 } })],
    ["the largest size", (world) => changePhase(world, { sizeCu: 1 })],
    [
      "a full cache",
      (world) => changePhase(world, { cache: { hits: 0, misses: 0, writes: 0, used: 104_857 } }),
    ],
    [
      "a key that was revoked with its organization",
      (world) =>
        world.apiKeys.set({
          id: 90,
          accountId: "owner",
          name: "",
          hash: "h",
          createdAt: now,
          revokedAt: now,
          scope: { organizationId: "org-x" },
        } as never),
    ],
    [
      "a key of an organization without a project",
      (world) =>
        world.apiKeys.set({
          id: 90,
          accountId: "owner",
          name: "",
          hash: "h",
          createdAt: now,
          scope: { organizationId: ORGANIZATION },
        } as never),
    ],
    [
      "a running operation of a project",
      (world) => addOperation(world, { branchId: undefined, endpointId: undefined }),
    ],
    [
      "failures that the fault allows",
      (world) => addOperation(world, { failures: { count: 2, times: 2, ends: "finished" } }),
    ],
    [
      "one failure of two, before the operation fails",
      (world) => addOperation(world, { failures: { count: 1, times: 2, ends: "failed" } }),
    ],
    [
      "a fault that triggers each time",
      (world) => addFault(world, { seen: 2, hits: 2, timing: { first: 2, limit: 2, every: 1 } }),
    ],
    ["a reached quota at the instant of the project's update", (world) => setQuota(world, 1, now)],
    ["a quota that is not reached", (world) => setQuota(world, 60, now - 1)],
    [
      "data of a snapshot",
      (world) => world.branchData.set({ id: world.branchSnapshots.toArray()[0]?.id ?? "", at: 0 }),
    ],
    [
      "JWKS of a branch",
      (world) =>
        addRecord(world, {
          kind: "jwks",
          scope: "shop",
          fields: { branchId: "br-main", jwksUrl: "u", roleNames: [] },
        }),
    ],
    [
      "a service without a database",
      (world) => addRecord(world, { kind: "bucket", scope: "br-dev", fields: { key: "k", settings: {} } }),
    ],
  ])("%s", (_, change) => {
    expect(violationsOf(change)).toEqual([]);
  });

  test("the missing default branch of a deleted project", () => {
    const simulated = new SimulatedWorld(worldWithAccount()).run(
      createShop,
      { ms: DAY / 24 },
      {
        type: "DeleteProject",
        ...SHOP,
      },
    );
    const { world } = simulated.wait(SECOND * 10);
    changeBranch(world, "br-main", { default: false });
    expect(checkInvariants(world, simulated.now).violations).toEqual([]);
  });
});

test("projects have branches of the same name", () => {
  const { world, now: at } = new SimulatedWorld(worldWithAccount()).run(
    createShop,
    { ...createShop, id: "blog", branch: { id: "br-blog" }, compute: { id: "ep-blog" } },
    { ms: 10 * SECOND },
  );
  expect(checkInvariants(world, at).violations).toEqual([]);
});
