import type { WorldEvent } from "../client/types.ts";
import { words } from "./format.ts";
import { findBranch, findCompute, findProject, nameOfCompute } from "./world.ts";

type EventObjects = {
  readonly [kind in "project" | "branch" | "compute"]?: { readonly id: string };
} & {
  readonly [id in "project_id" | "branch_id" | "endpoint_id"]?: string;
} & {
  readonly operation?: EventObjects & { readonly action: string };
  readonly activity?: EventObjects;
  readonly target?: EventObjects;
};

/** The object that an event concerns, by its name, if it exists now. */
export function subjectOf(event: WorldEvent): string {
  const { operation, activity, target } = event as EventObjects;
  const name = nameIn(operation ?? activity ?? target ?? (event as EventObjects));
  return [operation && words(operation.action), name].filter((part) => part !== undefined).join(", ");
}

function nameIn(event: EventObjects): string | undefined {
  const compute = findCompute(event.compute?.id ?? event.endpoint_id ?? "");
  if (compute !== undefined) return nameOfCompute(compute);
  const branch = findBranch(event.branch?.id ?? event.branch_id ?? "");
  const project = findProject(branch?.project_id ?? event.project?.id ?? event.project_id ?? "");
  return branch === undefined ? project?.name : `${project?.name} / ${branch.name}`;
}
