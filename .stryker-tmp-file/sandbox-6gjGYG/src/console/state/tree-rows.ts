// @ts-nocheck
import { computed } from "@preact/signals";
import type { Account, Branch, Compute, Project } from "../client/types.ts";
import { accounts, branches, computes, projects } from "./world.ts";

/** A line of the tree. `depth` counts from 0. */
export type TreeRow = { readonly depth: number } & (
  | { readonly kind: "account"; readonly object: Account }
  | { readonly kind: "project"; readonly object: Project }
  | { readonly kind: "branch"; readonly object: Branch }
  | { readonly kind: "compute"; readonly object: Compute }
);

const projectsByAccount = computed(() => groupBy(projects.value, ({ account_id }) => account_id));
const branchesByProject = computed(() => groupBy(branches.value, ({ project_id }) => project_id));
const computesByBranch = computed(() => groupBy(computes.value, ({ branch_id }) => branch_id));

export function branchesOf(projectId: string): readonly Branch[] {
  return branchesByProject.value.get(projectId) ?? [];
}

/** Organizations, their projects, branches below the branch that they come from, and computes. */
export function treeRows(search: string): readonly TreeRow[] {
  const wanted = search.trim().toLowerCase();
  const matches = ({ id, name }: { readonly id: string; readonly name: string }) =>
    name.toLowerCase().includes(wanted) || id.includes(wanted);
  return accounts.value.flatMap((account): TreeRow[] => {
    const own = (projectsByAccount.value.get(account.id) ?? []).filter(
      (project) => wanted === "" || matches(project) || branchesOf(project.id).some(matches),
    );
    if (own.length === 0 && wanted !== "") return [];
    return [{ depth: 0, kind: "account", object: account }, ...own.flatMap(projectRows)];
  });
}

function projectRows(project: Project): TreeRow[] {
  const own = branchesOf(project.id);
  const ids = new Set(own.map(({ id }) => id));
  const children = groupBy(own, ({ parent_id = "" }) => (ids.has(parent_id) ? parent_id : ""));
  const rowsOf = (branch: Branch, depth: number): TreeRow[] => [
    { depth, kind: "branch", object: branch },
    ...(computesByBranch.value.get(branch.id) ?? []).map(
      (compute): TreeRow => ({ depth: depth + 1, kind: "compute", object: compute }),
    ),
    ...(children.get(branch.id) ?? []).flatMap((child) => rowsOf(child, depth + 1)),
  ];
  return [
    { depth: 1, kind: "project", object: project },
    ...(children.get("") ?? []).flatMap((branch) => rowsOf(branch, 2)),
  ];
}

function groupBy<T>(rows: readonly T[], keyOf: (row: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}
