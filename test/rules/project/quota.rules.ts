import { test } from "vitest";
import { createDev, MAIN_COMPUTE, SHOP, worldWithProject } from "../../support/rules/rule-worlds.ts";
import {
  after,
  type CommandOf,
  DAY,
  done,
  given,
  running,
  SECOND,
  type Step,
} from "../../support/rules/rules.ts";

const quotaIsDue = { kind: "quota", id: "shop" } as const;

/** The compute has been active for six seconds. */
function projectWithQuota(quota: Readonly<Record<string, number>>): Step {
  return worldWithProject({ settings: { quota } });
}

/** The quota of sixty seconds was reached and the compute is idle. */
const projectOverQuota: Step = [
  projectWithQuota({ active_time_seconds: 60 }),
  after(54 * SECOND),
  quotaIsDue,
];

test("a project that reaches its quota of active time has its computes suspended at once", () => {
  given(projectWithQuota({ active_time_seconds: 60 }))
    .when(quotaIsDue, after(54 * SECOND))
    .then([
      done("suspend_compute", { endpointId: "ep-main", cause: "quota", durationMs: 0 }),
      { type: "ComputeSuspended", endpointId: "ep-main", cause: "quota" },
    ]);
});

test("one millisecond before the quota nothing happens", () => {
  given(projectWithQuota({ active_time_seconds: 60 }))
    .when(quotaIsDue, after(54 * SECOND - 1))
    .then([]);
});

test("a quota of compute time counts CU-seconds", () => {
  const quarterSize = projectWithQuota({ compute_time_seconds: 60 });
  given(quarterSize)
    .when(quotaIsDue, after(234 * SECOND - 1))
    .then([]);
  given(quarterSize)
    .when(quotaIsDue, after(234 * SECOND))
    .then([done("suspend_compute", { cause: "quota" }), { type: "ComputeSuspended", cause: "quota" }]);
});

test("a quota of 0 is no limit", () => {
  given(projectWithQuota({ active_time_seconds: 0 }))
    .when(quotaIsDue, after(DAY))
    .then([]);
});

test("the quota of an unknown project is never due", () => {
  given(worldWithProject()).when({ kind: "quota", id: "unknown" }).then([]);
});

test.each<CommandOf<"StartCompute" | "RestartCompute" | "RecordActivity">>([
  { type: "StartCompute", ...MAIN_COMPUTE },
  { type: "RestartCompute", ...MAIN_COMPUTE },
  { type: "RecordActivity", activity: { endpointId: "ep-main", kind: "query" } },
])("a project over its quota refuses $type", (command) => {
  given(projectOverQuota)
    .when(command)
    .thenRefused("QUOTA_EXCEEDED", /active_time_seconds/);
});

test("with a new month the quota begins anew", () => {
  given(projectOverQuota)
    .when({ type: "StartCompute", ...MAIN_COMPUTE }, after(17 * DAY))
    .then([running("start_compute", { endpointId: "ep-main" })]);
});

test("raising the quota lets computes start again", () => {
  given(projectOverQuota, {
    type: "UpdateProject",
    ...SHOP,
    settings: { quota: { active_time_seconds: 61 } },
  })
    .when({ type: "StartCompute", ...MAIN_COMPUTE })
    .then([running("start_compute", { endpointId: "ep-main" })]);
});

test("a compute that is created over the quota stays idle", () => {
  given(projectOverQuota)
    .when({ ...createDev, computes: [{ id: "ep-dev", computeType: "read_write", options: {} }] })
    .then([
      { type: "BranchCreated" },
      { type: "ComputeCreated", compute: { id: "ep-dev", phase: { state: "idle" } } },
      running("create_branch", { branchId: "br-dev" }),
    ]);
});
