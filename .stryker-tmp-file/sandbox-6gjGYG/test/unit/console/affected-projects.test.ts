// @ts-nocheck
import { expect, test } from "vitest";
import { affectedProjects } from "../../../src/console/state/affected-projects.ts";
import { replaceProjects } from "../../../src/console/state/replace-projects.ts";

const lookup = {
  ofBranch: (id: string) => (id === "br-1" ? "p1" : undefined),
  ofCompute: (id: string) => (id === "ep-1" ? "p1" : undefined),
  ofOperation: (id: string) => (id === "op-1" ? "p1" : undefined),
};
const affected = (...events: object[]) => affectedProjects(events as never, lookup);

test("events name their project, or something of a known project", () => {
  expect(affected({ type: "ProjectCreated", project: { id: "p2" } })).toEqual(new Set(["p2"]));
  expect(affected({ type: "BranchUpdated", branch_id: "br-1" })).toEqual(new Set(["p1"]));
  expect(affected({ type: "ComputeSuspended", endpoint_id: "ep-1" })).toEqual(new Set(["p1"]));
  expect(affected({ type: "OperationFinished", operation_id: "op-1" })).toEqual(new Set(["p1"]));
  expect(affected({ type: "ActivityRecorded", activity: { endpoint_id: "ep-9" } })).toEqual(new Set());
});

test("an object that the same events create is known", () => {
  const created = { type: "OperationScheduled", operation: { id: "op-2", project_id: "p3" } };
  expect(affected(created, { type: "OperationStarted", operation_id: "op-2" })).toEqual(new Set(["p3"]));
});

test("an event of something unknown, or of the whole world, affects everything", () => {
  expect(affected({ type: "BranchUpdated", branch_id: "br-9" })).toBe("all");
  expect(affected({ type: "WorldReset" })).toBe("all");
  expect(affected({ type: "AccountCreated", account: { id: "a" } })).toBe("all");
});

test("rows of a project are replaced in place, removed, and added at the end", () => {
  const row = (id: string, project_id: string, name = id) => ({ id, project_id, name });
  const state = (branches: object[]) =>
    ({ seq: 1, at: "", accounts: [], projects: [], endpoints: [], operations: [], branches }) as never;
  const before = state([row("a", "p1"), row("b", "p2"), row("c", "p1")]);
  const after = replaceProjects(before, new Set(["p1"]), state([row("a", "p1", "new"), row("d", "p1")]));
  expect(after.branches).toEqual([row("a", "p1", "new"), row("b", "p2"), row("d", "p1")]);
});
