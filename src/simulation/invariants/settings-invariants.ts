import { SERVICES } from "../../platform/model/service-record.ts";
import { isServiceRecord, scopeOf } from "../../platform/model/settings-record.ts";
import { vpcEndpointsOf } from "../../platform/rules/project/vpc-endpoint.ts";
import { recordsOf } from "../../platform/rules/settings/evolve-settings-record.ts";
import { findOrganization } from "../../platform/world/lookup.ts";
import type { Invariant } from "./invariant.ts";

/** Invariants of settings records and services. */
export const SETTINGS_INVARIANTS: readonly Invariant[] = [
  {
    name: "a settings record belongs to an existing object and refers to existing objects",
    *violations(world) {
      for (const record of world.records.values()) {
        const project = world.projects.get(record.scope);
        const scope = scopeOf(record);
        if (scope === "organization") {
          if (!findOrganization(world, record.scope).ok)
            yield `${record.kind} ${record.id} is of ${record.scope}, which is no organization`;
        } else if (
          scope === "project" ? project === undefined : world.branches.get(record.scope) === undefined
        ) {
          yield `${record.kind} ${record.id} is of ${record.scope}, which is no ${scope}`;
        }
        if (record.kind === "member" && world.accounts.get(record.fields.accountId) === undefined)
          yield `member ${record.id} is account ${record.fields.accountId}, which does not exist`;
        if (
          record.kind === "jwks" &&
          record.fields.branchId !== undefined &&
          world.branches.get(record.fields.branchId) === undefined
        )
          yield `JWKS ${record.id} is for branch ${record.fields.branchId}, which does not exist`;
        if (record.kind !== "projectVpcEndpoint" || project === undefined) continue;
        const { vpcEndpointId } = record.fields;
        const organizationId = world.accounts.get(project.accountId)?.organizationId ?? "";
        if (
          !vpcEndpointsOf(world, organizationId).some(({ fields }) => fields.vpcEndpointId === vpcEndpointId)
        )
          yield `project ${project.id} is restricted to ${vpcEndpointId}, which its organization does not own`;
      }
    },
  },
  {
    name: "a service of a branch is recorded once, with the service and the database that it needs",
    *violations(world) {
      const seen = new Set<string>();
      for (const record of world.records.values()) {
        if (!isServiceRecord(record)) continue;
        const { kind, scope, fields } = record;
        const name = `${kind} "${fields.key}" of branch ${scope}`;
        if (seen.has(name)) yield `${name} is recorded twice`;
        seen.add(name);
        const { of, owner } = SERVICES[kind];
        if (
          owner !== undefined &&
          !recordsOf(world, scope, owner.kind).some((other) => other.fields.key === owner.keyOf(fields.key))
        )
          yield `${name} is recorded, but its ${owner.kind} is not`;
        if (of !== undefined && recordsOf(world, scope, of).length === 0)
          yield `${name} is recorded, but ${of} is not`;
        const databases = world.branches.get(scope)?.databases ?? [];
        if (fields.database !== undefined && !databases.some((database) => database.name === fields.database))
          yield `${name} serves the database "${fields.database}", which does not exist`;
      }
    },
  },
];
