import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { World } from "../../platform/world/world.ts";
import { Labels } from "../../scenario/file/labels.ts";
import type { SeedFile } from "../../scenario/file/seed-schema.ts";
import { accountDescriptions } from "../../scenario/file/world-description.ts";
import type { WorldDescription } from "../../scenario/file/world-schema.ts";

/** The API key of an account. Fixed, so that a scenario creates the same world on every run. */
export function keyOf(account: string): string {
  return `key-of-${account}`;
}

/** Replaces a key of an imported world, of which only the hash is stored. */
export function placeholderKey(keyId: number): string {
  return `recorded-key-${keyId}`;
}

/** Labels for an imported world: ids for accounts, projects and computes, names for branches. */
export function addLabels(labels: Labels, world: World): void {
  for (const { id } of world.accounts.values()) labels.add({ kind: "account", label: id, id, account: id });
  for (const { id, accountId } of world.projects.values())
    labels.add({ kind: "project", label: id, id, account: accountId });
  for (const { id, projectId, name } of world.branches.values()) {
    labels.add({
      kind: "branch",
      label: `${projectId}/${name}`,
      id,
      account: world.projects.get(projectId)?.accountId ?? "",
    });
  }
  for (const { id, projectId, branchId } of world.computes.values()) {
    const branch = world.branches.get(branchId)?.name ?? branchId;
    labels.add({
      kind: "compute",
      label: `${projectId}/${branch}/${id}`,
      id,
      account: world.projects.get(projectId)?.accountId ?? "",
    });
  }
}

const branchId = (project: string, branch: string) => `br-${project}-${branch}`;
const computeId = (project: string, branch: string, compute: string) => `ep-${project}-${branch}-${compute}`;

export function createLabels(description: WorldDescription): Labels {
  const labels = new Labels();
  for (const { label: account, projects } of accountDescriptions(description)) {
    labels.add({ kind: "account", label: account, id: account, account });
    for (const { label: project, branches } of projects) {
      labels.add({ kind: "project", label: project, id: project, account });
      for (const [branch, { computes }] of Object.entries(branches)) {
        labels.add({ kind: "branch", label: `${project}/${branch}`, id: branchId(project, branch), account });
        for (const compute of Object.keys(computes)) {
          labels.add({
            kind: "compute",
            label: `${project}/${branch}/${compute}`,
            id: computeId(project, branch, compute),
            account,
          });
        }
      }
    }
  }
  return labels;
}

/** The description as a seed file. Its ids contain the labels. */
export function seedFileOf(description: WorldDescription): SeedFile {
  return {
    version: 1,
    accounts: accountDescriptions(description).map(({ label: account, plan, projects }) => ({
      ...{ id: account, name: account, plan },
      keys: [{ name: "scenario", key: keyOf(account) }],
      projects: projects.map(({ label: project, branches, ...rest }) => ({
        ...{ ...rest, id: project, name: project },
        branches: Object.entries(branches).map(([branch, { parent, computes, ...branchFields }]) => ({
          ...{ ...branchFields, id: branchId(project, branch), name: branch },
          ...omitUndefined({ parent: parent === undefined ? undefined : branchId(project, parent) }),
          endpoints: Object.entries(computes).map(([compute, fields]) => ({
            ...fields,
            id: computeId(project, branch, compute),
          })),
        })),
      })),
    })),
  };
}
