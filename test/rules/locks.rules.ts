import { describe, test } from "vitest";
import type { LockScope } from "../../src/platform/model/world-settings.ts";
import {
  createDev,
  createOther,
  DEV,
  MAIN,
  MAIN_COMPUTE,
  SHOP,
  worldWithBranch,
} from "../support/rules/rule-worlds.ts";
import { after, type CommandOf, given, HOUR, queued, SECOND, type Step } from "../support/rules/rules.ts";

// "br-main" with its primary "ep-main" and its replica "ep-replica", and its child "br-dev" with "ep-dev".
function ready(locks?: LockScope): Step {
  const settings = locks === undefined ? {} : { locks };
  return [
    worldWithBranch({ computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] }, settings),
    {
      type: "CreateCompute",
      ...MAIN,
      id: "ep-replica",
      computeType: "read_only",
      options: { suspendTimeoutSeconds: 60 },
    },
    after(10 * SECOND),
  ];
}

const compute = (computeId: string) => ({ ...SHOP, computeId });
const idleMain: Step = [{ type: "SuspendCompute", ...MAIN_COMPUTE }, after(10 * SECOND)];

/** What runs. */
const RUNNING = {
  "the creation of a branch": { ...createDev, id: "br-new", name: "new" },
  "the restart of the primary compute": { type: "RestartCompute", ...MAIN_COMPUTE },
  "the restart of the replica": { type: "RestartCompute", ...compute("ep-replica") },
  "the change of the replica": {
    type: "UpdateCompute",
    ...compute("ep-replica"),
    options: { suspendTimeoutSeconds: 120 },
  },
  "the change of a role": { type: "CreateRole", ...MAIN, name: "app" },
  "the restore of the branch": {
    type: "RestoreBranch",
    ...DEV,
    sourceBranchId: "br-main",
  },
  "the deletion of the child branch": { type: "DeleteBranch", ...DEV },
  "a start that a client caused": [
    idleMain,
    { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query" } },
  ],
} as const satisfies Record<string, Step>;

/** What is called meanwhile. */
const CALLS = {
  "create a branch": { ...createDev, id: "br-other", name: "other" },
  "create a role on the branch": { type: "CreateRole", ...MAIN, name: "other" },
  "create a role on the child": { type: "CreateRole", ...DEV, name: "other" },
  "create a compute on the branch": {
    type: "CreateCompute",
    ...MAIN,
    computeType: "read_only",
    options: {},
  },
  "restart the primary compute": { type: "RestartCompute", ...MAIN_COMPUTE },
  "restart the replica": { type: "RestartCompute", ...compute("ep-replica") },
  "suspend the primary compute": { type: "SuspendCompute", ...MAIN_COMPUTE },
  "suspend the replica": { type: "SuspendCompute", ...compute("ep-replica") },
  "suspend the child's compute": { type: "SuspendCompute", ...compute("ep-dev") },
  "delete the child": { type: "DeleteBranch", ...DEV },
  "update the project": { type: "UpdateProject", ...SHOP, settings: { enable_logical_replication: true } },
  "delete the project": { type: "DeleteProject", ...SHOP },
} as const satisfies Record<string, Step>;

/** Everything that is not listed is accepted. */
const LOCKED: Readonly<Record<keyof typeof RUNNING, readonly (keyof typeof CALLS)[]>> = {
  "the creation of a branch": [
    "create a branch",
    "create a role on the branch",
    "create a compute on the branch",
  ],
  "the restart of the primary compute": ["create a role on the branch", "suspend the primary compute"],
  "the restart of the replica": ["suspend the replica"],
  "the change of the replica": ["suspend the replica"],
  "the change of a role": [
    "create a branch",
    "create a role on the branch",
    "create a compute on the branch",
    "suspend the primary compute",
  ],
  "the restore of the branch": [
    "create a branch",
    "create a role on the branch",
    "create a role on the child",
    "create a compute on the branch",
    "suspend the child's compute",
    "delete the child",
  ],
  "the deletion of the child branch": [],
  "a start that a client caused": ["suspend the primary compute"],
};
/** The child is deleted: calls that name it are refused because it does not exist. */
const GONE: readonly string[] = [
  "create a role on the child",
  "suspend the child's compute",
  "delete the child",
];

describe.each(Object.keys(RUNNING) as (keyof typeof RUNNING)[])("while %s runs", (running) => {
  const names = (Object.keys(CALLS) as (keyof typeof CALLS)[]).filter(
    (name) => running !== "the deletion of the child branch" || !GONE.includes(name),
  );
  test.each(names)("%s is refused only if it touches the same objects", (name) => {
    const call = given(ready(), RUNNING[running]).when(CALLS[name]);
    if (LOCKED[running].includes(name)) call.thenRefused("OPERATIONS_IN_PROGRESS");
    else call.thenAccepted();
  });
  test.each(names)(
    "%s is refused with locks of the whole project, except for calls of the project",
    (name) => {
      const call = given(ready("project"), RUNNING[running]).when(CALLS[name]);
      if (name.endsWith("the project")) call.thenAccepted();
      else call.thenRefused("OPERATIONS_IN_PROGRESS");
    },
  );
});

describe("while a branch is created with locks of parallel branches", () => {
  const creating = [ready("parallel-branches"), RUNNING["the creation of a branch"]] as const;
  test("another branch of the same parent can be created", () => {
    given(...creating)
      .when(CALLS["create a branch"])
      .thenAccepted();
  });

  test("everything else is locked as with narrow locks", () => {
    for (const name of LOCKED["the creation of a branch"].filter((call) => call !== "create a branch"))
      given(...creating)
        .when(CALLS[name])
        .thenRefused("OPERATIONS_IN_PROGRESS");
  });

  test("the new branch is no parent until it exists", () => {
    given(...creating)
      .when({ ...createDev, id: "br-grandchild", name: "grandchild", parentId: "br-new" })
      .thenRefused("OPERATIONS_IN_PROGRESS");
  });

  test("a change of a role still keeps its branch from becoming a parent", () => {
    given(ready("parallel-branches"), RUNNING["the change of a role"])
      .when(CALLS["create a branch"])
      .thenRefused("OPERATIONS_IN_PROGRESS");
  });

  test("a branch that is being restored is no parent, but the one that it is restored from is", () => {
    const restoring = [ready("parallel-branches"), RUNNING["the restore of the branch"]] as const;
    given(...restoring)
      .when({ ...createDev, id: "br-grandchild", name: "grandchild", parentId: "br-dev" })
      .thenRefused("OPERATIONS_IN_PROGRESS");
    given(...restoring)
      .when(CALLS["create a branch"])
      .thenAccepted();
  });
});

const restartMain: CommandOf<"RestartCompute"> = { type: "RestartCompute", ...MAIN_COMPUTE };

test("a restart that follows an update locks its compute, too", () => {
  const resized: Step = [
    ready(),
    { type: "UpdateCompute", ...MAIN_COMPUTE, options: { minCu: 1, maxCu: 1 } },
    after(2 * SECOND),
  ];
  given(resized)
    .when({ type: "StartCompute", ...MAIN_COMPUTE })
    .thenRefused("OPERATIONS_IN_PROGRESS");
});

test("locks that are configured later apply to the operations that run", () => {
  given(ready(), restartMain, { type: "ConfigureWorld", settings: { locks: "project" } })
    .when({ type: "DeleteBranch", ...DEV })
    .thenRefused("OPERATIONS_IN_PROGRESS");
  given(ready("project"), restartMain, { type: "ConfigureWorld", settings: { locks: "narrow" } })
    .when({ type: "DeleteBranch", ...DEV })
    .thenAccepted();
});

describe("while a compute starts because a client connected", () => {
  const starting = [ready(), RUNNING["a start that a client caused"]] as const;

  test("a call that starts it has nothing to do", () => {
    given(...starting)
      .when({ type: "StartCompute", ...MAIN_COMPUTE })
      .then([]);
  });

  test("a change of a role is applied after the start", () => {
    given(...starting)
      .when({ type: "CreateRole", ...MAIN, name: "app" })
      .then([{ type: "RoleCreated" }, queued("apply_config")]);
  });

  test("a change of a role is refused if a call waits for the start", () => {
    given(...starting, { type: "CreateRole", ...MAIN, name: "app" })
      .when({ type: "CreateRole", ...MAIN, name: "other" })
      .thenRefused("OPERATIONS_IN_PROGRESS");
  });

  test("a start that a call has caused is not repeated, but refused", () => {
    given(ready(), idleMain, { type: "StartCompute", ...MAIN_COMPUTE })
      .when({ type: "StartCompute", ...MAIN_COMPUTE })
      .thenRefused("OPERATIONS_IN_PROGRESS");
  });
});

describe("a transfer of the project", () => {
  const transfer: CommandOf<"TransferProjects"> = {
    type: "TransferProjects",
    accountId: "owner",
    toAccountId: "other",
    projectIds: ["shop"],
  };
  const queryMain: Step = { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query" } };

  test("is refused while an operation of a call runs", () => {
    for (const call of [RUNNING["the change of a role"], RUNNING["the restart of the replica"]])
      given(ready(), createOther, call).when(transfer).thenRefused("OPERATIONS_IN_PROGRESS");
  });

  test("is accepted while a start that traffic caused runs", () => {
    given(ready(), createOther, idleMain, queryMain).when(transfer).thenAccepted();
    given(ready("project"), createOther, idleMain, queryMain)
      .when(transfer)
      .thenRefused("OPERATIONS_IN_PROGRESS");
  });
});

test("nothing is locked when the operations have finished", () => {
  given(ready("project"), restartMain, after(HOUR)).when(restartMain).thenAccepted();
});
