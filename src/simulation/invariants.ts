import type { SimTime } from "../kernel/time.ts";
import { maxConnections } from "../platform/catalog/sizes.ts";
import { planOf } from "../platform/model/account.ts";
import { cacheCapacity } from "../platform/model/cache.ts";
import { SERVICES } from "../platform/model/service-record.ts";
import { isServiceRecord, scopeOf } from "../platform/model/settings-record.ts";
import { hasOwner } from "../platform/rules/branch-data/evolve-branch-data.ts";
import { suspendDelaySeconds } from "../platform/rules/compute/autosuspend.ts";
import { countConnections, effectiveRange } from "../platform/rules/compute/open-connections.ts";
import { vpcEndpointsOf } from "../platform/rules/project/vpc-endpoint.ts";
import { recordsOf } from "../platform/rules/settings/evolve-settings-record.ts";
import { isSuspendable, reachedQuota } from "../platform/rules/usage/quota.ts";
import { ComputeTotals } from "../platform/world/compute-totals.ts";
import { findOrganization } from "../platform/world/lookup.ts";
import { profileOfWorld, type World } from "../platform/world/world.ts";
import { overdueWork } from "./due.ts";

type Violation = { readonly invariant: string; readonly message: string };

type Invariant = {
  readonly name: string;
  readonly violations: (world: World, now: SimTime) => Iterable<string>;
};

/**
 * What must hold in every world at every instant. Property tests, `verify` and the control API all use this
 * list.
 */
const INVARIANTS: readonly Invariant[] = [
  {
    name: "a branch has at most one primary read-write compute", // R
    *violations(world) {
      const primaries = new Map<string, string>();
      for (const compute of world.computes.values()) {
        if (compute.type !== "read_write") continue;
        const other = primaries.get(compute.branchId);
        if (other !== undefined) yield `branch ${compute.branchId} has ${other} and ${compute.id}`;
        primaries.set(compute.branchId, compute.id);
      }
    },
  },
  {
    name: "a compute belongs to a branch of its project", // R
    *violations(world) {
      for (const compute of world.computes.values()) {
        const branch = world.branches.get(compute.branchId);
        if (branch === undefined)
          yield `${compute.id} is on branch ${compute.branchId}, which does not exist`;
        else if (branch.projectId !== compute.projectId)
          yield `${compute.id} is of project ${compute.projectId}, its branch of ${branch.projectId}`;
      }
    },
  },
  {
    name: "the totals of computes are their sums",
    *violations({ computes, computeTotals }) {
      const counted = new ComputeTotals();
      for (const compute of computes.values()) counted.replace(undefined, compute);
      const [found, expected] = [computeTotals, counted].map(({ byState, activeCu }) =>
        JSON.stringify({ byState, activeCu }),
      );
      if (found !== expected) yield `the totals are ${found}, the sums ${expected}`;
    },
  },
  {
    name: "data belongs to a branch or to a snapshot",
    *violations(world) {
      for (const { id } of world.branchData.values())
        if (!hasOwner(world, id)) yield `there is data of ${id}, which does not exist`;
    },
  },
  {
    name: "a branch belongs to a project, and its parent is in the same one",
    *violations(world) {
      for (const branch of world.branches.values()) {
        if (world.projects.get(branch.projectId) === undefined)
          yield `${branch.id} is of project ${branch.projectId}, which does not exist`;
        if (
          branch.parentId !== undefined &&
          world.branches.get(branch.parentId)?.projectId !== branch.projectId
        ) {
          yield `${branch.id} has the parent ${branch.parentId}, which is not in its project`;
        }
      }
    },
  },
  {
    name: "a project has exactly one default branch", // S
    *violations(world) {
      for (const project of world.projects.values()) {
        if (project.deletedAt !== undefined) continue;
        let defaults = 0;
        for (const branch of world.branches.by("project", project.id).values()) {
          if (branch.default && branch.deletedAt === undefined) defaults += 1;
        }
        if (defaults !== 1) yield `project ${project.id} has ${defaults} default branches`;
      }
    },
  },
  {
    name: "branch names are unique within a project", // D
    *violations(world) {
      const seen = new Set<string>();
      for (const branch of world.branches.values()) {
        if (branch.deletedAt !== undefined) continue;
        const name = `${branch.projectId}/${branch.name}`;
        if (seen.has(name)) yield `project ${branch.projectId} has two branches named ${branch.name}`;
        seen.add(name);
      }
    },
  },
  {
    name: "a compute stays within the limits of its plan and profile", // R
    *violations(world) {
      const profile = profileOfWorld(world);
      for (const compute of world.computes.values()) {
        const account = world.accounts.get(world.projects.get(compute.projectId)?.accountId ?? "");
        if (account === undefined) continue;
        const plan = planOf(account);
        const { minCu, maxCu } = compute.range;
        if (minCu > maxCu) yield `${compute.id} has a minimum of ${minCu} and a maximum of ${maxCu} CU`;
        if (plan.onlySizeCu !== undefined && (minCu !== plan.onlySizeCu || maxCu !== plan.onlySizeCu))
          yield `${compute.id} has ${minCu} to ${maxCu} CU on the ${plan.name} plan`;
        if (!plan.readReplicas && compute.type === "read_only")
          yield `${compute.id} is a read replica on the ${plan.name} plan`;
        const delay = suspendDelaySeconds(profile, compute.suspendTimeoutSeconds);
        if (
          delay !== undefined &&
          (delay < profile.suspendTimeout.minimumS || delay > profile.suspendTimeout.maximumS)
        )
          yield `${compute.id} has a suspend timeout of ${delay} s`;
      }
    },
  },
  {
    name: "an active compute has a size within its limits and a cache within its size", // R
    *violations(world) {
      const profile = profileOfWorld(world);
      for (const compute of world.computes.values()) {
        if (compute.phase.state !== "active") continue;
        const { sizeCu, cache, range } = compute.phase;
        const { minCu, maxCu } = range;
        if (sizeCu < minCu || sizeCu > maxCu)
          yield `${compute.id} has ${sizeCu} CU, outside its range of ${minCu} to ${maxCu}`;
        if (cache.used > cacheCapacity(profile, sizeCu))
          yield `${compute.id} has ${cache.used} blocks in its cache`;
      }
    },
  },
  {
    name: "connections stay within max_connections and the pooler's limit", // R
    *violations(world, now) {
      const profile = profileOfWorld(world);
      for (const compute of world.computes.values()) {
        const open = countConnections(world, compute.id, now);
        const limit = maxConnections(profile, effectiveRange(compute));
        if (open.direct > limit)
          yield `${compute.id} has ${open.direct} direct connections; the limit is ${limit}`;
        if (open.pooled > profile.pooledConnections)
          yield `${compute.id} has ${open.pooled} pooled connections; the limit is ${profile.pooledConnections}`;
      }
    },
  },
  {
    name: "a compute that is not active has no open connections", // D
    *violations(world) {
      for (const connection of world.connections.toArray()) {
        const phase = world.computes.get(connection.endpointId)?.phase;
        const serves = phase?.state === "active" && !phase.suspending;
        if (connection.waiting === serves)
          yield `${connection.endpointId} is ${phase?.state ?? "deleted"}, connection ${connection.id} ${serves ? "waits" : "is open"}`;
      }
    },
  },
  {
    name: "the count of open transactions is correct",
    *violations(world) {
      for (const compute of world.computes.values()) {
        if (compute.phase.state !== "active") continue;
        let open = 0;
        for (const connection of world.connections.forCompute(compute.id).values()) {
          if (connection.inTransaction && !connection.waiting) open += 1;
        }
        if (open !== compute.phase.openTransactions)
          yield `${compute.id} counts ${compute.phase.openTransactions} open transactions, but there are ${open}`;
      }
    },
  },
  {
    name: "a compute that connections wait for is starting",
    *violations(world) {
      for (const compute of world.computes.values()) {
        if (compute.waiting === undefined) continue;
        const starts = world.operations
          .by("project", compute.projectId)
          .toArray()
          .some((operation) => operation.endpointId === compute.id && operation.action === "start_compute");
        if (!starts) yield `connections wait for ${compute.id}, but no operation starts it`;
      }
    },
  },
  {
    name: "a compute runs at most one operation at a time", // D
    *violations(world) {
      const running = new Set<string>();
      for (const operation of world.operations.values()) {
        if (operation.state.status !== "running" || operation.endpointId === undefined) continue;
        if (running.has(operation.endpointId)) yield `${operation.endpointId} has two running operations`;
        running.add(operation.endpointId);
      }
    },
  },
  {
    name: "an unfinished operation refers to existing objects, and the first one of a project is running",
    *violations(world) {
      for (const operation of world.operations.values()) {
        if (world.projects.get(operation.projectId) === undefined)
          yield `${operation.id} is of project ${operation.projectId}, which does not exist`;
        if (operation.branchId !== undefined && world.branches.get(operation.branchId) === undefined)
          yield `${operation.id} is on branch ${operation.branchId}, which does not exist`;
        if (operation.endpointId !== undefined && world.computes.get(operation.endpointId) === undefined)
          yield `${operation.id} is on ${operation.endpointId}, which does not exist`;
      }
      for (const project of world.projects.values()) {
        const [first] = world.operations.by("project", project.id).values();
        if (first !== undefined && first.state.status !== "running")
          yield `project ${project.id} waits for operation ${first.id}, which is not running`;
      }
    },
  },
  {
    name: "an unfinished operation has failed at most as often as its fault allows",
    *violations(world) {
      for (const { id, failures } of world.operations.values()) {
        if (failures === undefined) continue;
        const { count, times, ends } = failures;
        if (count > times || (ends === "failed" && count === times))
          yield `${id} has failed ${count} times; its fault allows ${times}`;
      }
    },
  },
  {
    name: "a fault triggers at most as often as it matches and as its limits allow",
    *violations(world) {
      for (const { name, seen, hits, timing } of world.faults.values()) {
        const maxHits = Math.min(
          seen,
          timing.limit ?? seen,
          timing.first ?? seen,
          Math.floor(seen / (timing.every ?? 1)),
        );
        if (hits > maxHits)
          yield `fault ${name} has triggered ${hits} times; at most ${maxHits} of ${seen} matches are allowed`;
        if (seen > (timing.first ?? seen))
          yield `fault ${name} has matched ${seen} times, but ends after the first ${timing.first}`;
      }
    },
  },
  {
    name: "all due work has run",
    *violations(world, now) {
      for (const work of overdueWork(world, now)) yield `${work.kind} ${work.id} was due before ${now}`;
    },
  },
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
        const { of } = SERVICES[kind];
        if (of !== undefined && recordsOf(world, scope, of).length === 0)
          yield `${name} is recorded, but ${of} is not`;
        const databases = world.branches.get(scope)?.databases ?? [];
        if (fields.database !== undefined && !databases.some((database) => database.name === fields.database))
          yield `${name} serves the database "${fields.database}", which does not exist`;
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
  {
    name: "the usage of a project is at least the sum of its branches",
    *violations(world) {
      const usedByBranches = new Map<string, number>();
      for (const branch of world.branches.values()) {
        const used = world.usage.get(branch.id)?.cuMs ?? 0;
        usedByBranches.set(branch.projectId, (usedByBranches.get(branch.projectId) ?? 0) + used);
      }
      for (const [projectId, cuMs] of usedByBranches) {
        const used = world.usage.get(projectId)?.cuMs ?? 0;
        if (cuMs > used) yield `project ${projectId} has used ${used} CU-ms; its branches sum to ${cuMs}`;
      }
    },
  },
  {
    name: "a project over its quota has no active compute", // S
    *violations(world, now) {
      for (const project of world.projects.values()) {
        // Suspends caused by the current instant may not have run yet.
        const reached = project.updatedAt < now ? reachedQuota(world, project, now - 1) : undefined;
        if (reached === undefined || reachedQuota(world, project, now) === undefined) continue;
        for (const compute of world.computes.by("project", project.id).values()) {
          if (isSuspendable(compute) && (compute.startedAt ?? now) < now)
            yield `${compute.id} is active, but its project has reached its ${reached}`;
        }
      }
    },
  },
  {
    name: "hourly usage is consistent: at most the total, and day and month are at least their hours",
    *violations(world) {
      for (const usage of world.usage.values()) {
        if (usage.hour === undefined) continue;
        const { beforeHour, beforeDay, beforeMonth } = usage.hour;
        const inOrder = [0, beforeMonth.activeMs, beforeDay.activeMs, beforeHour.activeMs, usage.activeMs];
        if (inOrder.some((value, index) => value < (inOrder[index - 1] ?? 0)))
          yield `${usage.id} has used ${inOrder.slice(1).join(", ")} ms before its month, its day, its hour, and now; these must not decrease`;
      }
    },
  },
  {
    name: "no event is later than now",
    *violations(world, now) {
      if (world.at > now) yield `the last event was at ${world.at}, but the clock shows ${now}`;
    },
  },
];

export type InvariantReport = {
  readonly ok: boolean;
  readonly checked: number;
  readonly violations: readonly Violation[];
};

export function checkInvariants(world: World, now: SimTime): InvariantReport {
  const violations: Violation[] = [];
  for (const invariant of INVARIANTS) {
    for (const message of invariant.violations(world, now))
      violations.push({ invariant: invariant.name, message });
  }
  return { ok: violations.length === 0, checked: INVARIANTS.length, violations };
}
