// @ts-nocheck
import type { WorldEvent } from "../client/types.ts";

/** Events that change nothing of the tree. */
const WITHOUT_CHANGE = new Set([
  "ActivityRecorded",
  "ActivityScheduled",
  "ActivityDropped",
  "SpanBegan",
  "SpanEnded",
  "ApiKeyCreated",
  "ApiKeyRevoked",
  "ApiKeyRemoved",
  "FaultSet",
  "FaultRemoved",
  "FaultMatched",
  "FaultHit",
]);

/** Finds the project of a branch, a compute or an operation that the page knows. */
export type ProjectLookup = {
  readonly ofBranch: (id: string) => string | undefined;
  readonly ofCompute: (id: string) => string | undefined;
  readonly ofOperation: (id: string) => string | undefined;
};

/** The projects that events have changed; `all` if that cannot be known. */
export function affectedProjects(
  events: readonly WorldEvent[],
  lookup: ProjectLookup,
): ReadonlySet<string> | "all" {
  const projects = new Set<string>();
  // An object that these events create is not known yet.
  const created = new Map<string, string>();
  for (const event of events) {
    if (WITHOUT_CHANGE.has(event.type)) continue;
    const { branch, compute, operation, project } = event as unknown as EventObjects;
    for (const object of [branch, compute, operation])
      if (object !== undefined) created.set(object.id, object.project_id);
    const { project_id, branch_id, endpoint_id, operation_id } = event as EventIds;
    const found =
      project?.id ??
      (branch ?? compute ?? operation)?.project_id ??
      project_id ??
      created.get(branch_id ?? endpoint_id ?? operation_id ?? "") ??
      (branch_id && lookup.ofBranch(branch_id)) ??
      (endpoint_id && lookup.ofCompute(endpoint_id)) ??
      (operation_id && lookup.ofOperation(operation_id));
    if (found === undefined || found === "") return "all";
    projects.add(found);
  }
  return projects;
}

type Owned = { readonly id: string; readonly project_id: string };
type EventObjects = {
  readonly project?: { readonly id: string };
  readonly branch?: Owned;
  readonly compute?: Owned;
  readonly operation?: Owned;
};
type EventIds = {
  readonly project_id?: string;
  readonly branch_id?: string;
  readonly endpoint_id?: string;
  readonly operation_id?: string;
};
