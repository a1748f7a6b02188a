import { findOrganization } from "../../platform/world/lookup.ts";
import type { Invariant } from "./invariant.ts";

/** Invariants of accounts, their keys and the objects that they own. */
export const ACCOUNT_INVARIANTS: readonly Invariant[] = [
  {
    name: "every API key belongs to an account, and no two have the same secret", // R
    *violations(world) {
      const hashes = new Set<string>();
      for (const apiKey of world.apiKeys.values()) {
        if (world.accounts.get(apiKey.accountId) === undefined)
          yield `API key ${apiKey.id} is of account ${apiKey.accountId}, which does not exist`;
        if (hashes.has(apiKey.hash)) yield `API key ${apiKey.id} has the same secret as another key`;
        hashes.add(apiKey.hash);
      }
    },
  },
  {
    name: "a project belongs to an account, and a project-scoped key belongs to that account's organization",
    *violations(world) {
      for (const project of world.projects.values()) {
        if (world.accounts.get(project.accountId) === undefined)
          yield `project ${project.id} is of account ${project.accountId}, which does not exist`;
      }
      for (const { id, scope, revokedAt } of world.apiKeys.values()) {
        if (scope === undefined || revokedAt !== undefined) continue;
        const owner = findOrganization(world, scope.organizationId);
        if (!owner.ok) yield `API key ${id} is of organization ${scope.organizationId}, which does not exist`;
        else if (
          scope.projectId !== undefined &&
          world.projects.get(scope.projectId)?.accountId !== owner.value.id
        )
          yield `API key ${id} is scoped to project ${scope.projectId}, which organization ${scope.organizationId} does not own`;
      }
    },
  },
  {
    name: "an account is in an organization once",
    *violations(world) {
      const seen = new Set<string>();
      for (const record of world.records.values()) {
        if (record.kind !== "member") continue;
        const member = `${record.fields.accountId} in ${record.scope}`;
        const owner = findOrganization(world, record.scope);
        if (seen.has(member) || (owner.ok && owner.value.id === record.fields.accountId))
          yield `account ${member} is a member twice`;
        seen.add(member);
      }
    },
  },
];
