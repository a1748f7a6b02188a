import { maxConnections } from "../../platform/catalog/sizes.ts";
import { planOf } from "../../platform/model/account.ts";
import { cacheCapacity } from "../../platform/model/cache.ts";
import { suspendDelaySeconds } from "../../platform/rules/compute/autosuspend.ts";
import { countConnections, effectiveRange } from "../../platform/rules/compute/open-connections.ts";
import { ComputeTotals } from "../../platform/world/compute-totals.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import { type Invariant, violationsIn } from "./invariant.ts";

/** Invariants of computes and their connections. */
export const COMPUTE_INVARIANTS: readonly Invariant[] = [
  {
    name: "a branch has at most one primary read-write compute", // R
    *violations(world) {
      const primaries = new Map<string, string>();
      yield* violationsIn(world.computes.values(), function* (compute) {
        if (compute.type !== "read_write") return;
        const other = primaries.get(compute.branchId);
        if (other !== undefined) yield `branch ${compute.branchId} has ${other} and ${compute.id}`;
        primaries.set(compute.branchId, compute.id);
      });
    },
  },
  {
    name: "a compute belongs to a branch of its project", // R
    *violations(world) {
      yield* violationsIn(world.computes.values(), function* (compute) {
        const branch = world.branches.get(compute.branchId);
        if (branch === undefined)
          yield `${compute.id} is on branch ${compute.branchId}, which does not exist`;
        else if (branch.projectId !== compute.projectId)
          yield `${compute.id} is of project ${compute.projectId}, its branch of ${branch.projectId}`;
      });
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
    name: "a compute stays within the limits of its plan and profile", // R
    *violations(world) {
      const profile = profileOfWorld(world);
      yield* violationsIn(world.computes.values(), function* (compute) {
        const account = world.accounts.get(world.projects.get(compute.projectId)?.accountId ?? "");
        if (account === undefined) return;
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
      });
    },
  },
  {
    name: "an active compute has a size within its limits and a cache within its size", // R
    *violations(world) {
      const profile = profileOfWorld(world);
      yield* violationsIn(world.computes.values(), function* (compute) {
        if (compute.phase.state !== "active") return;
        const { sizeCu, cache, range } = compute.phase;
        const { minCu, maxCu } = range;
        if (sizeCu < minCu || sizeCu > maxCu)
          yield `${compute.id} has ${sizeCu} CU, outside its range of ${minCu} to ${maxCu}`;
        if (cache.used > cacheCapacity(profile, sizeCu))
          yield `${compute.id} has ${cache.used} blocks in its cache`;
      });
    },
  },
  {
    name: "connections stay within max_connections and the pooler's limit", // R
    *violations(world, now) {
      const profile = profileOfWorld(world);
      yield* violationsIn(world.computes.values(), function* (compute) {
        const open = countConnections(world, compute.id, now);
        const limit = maxConnections(profile, effectiveRange(compute));
        if (open.direct > limit)
          yield `${compute.id} has ${open.direct} direct connections; the limit is ${limit}`;
        if (open.pooled > profile.pooledConnections)
          yield `${compute.id} has ${open.pooled} pooled connections; the limit is ${profile.pooledConnections}`;
      });
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
      yield* violationsIn(world.computes.values(), function* (compute) {
        if (compute.phase.state !== "active") return;
        let open = 0;
        for (const connection of world.connections.forCompute(compute.id).values()) {
          if (connection.inTransaction && !connection.waiting) open += 1;
        }
        if (open !== compute.phase.openTransactions)
          yield `${compute.id} counts ${compute.phase.openTransactions} open transactions, but there are ${open}`;
      });
    },
  },
  {
    name: "a compute that connections wait for is starting",
    *violations(world) {
      yield* violationsIn(world.computes.values(), function* (compute) {
        if (compute.waiting === undefined) return;
        const starts = world.operations
          .by("project", compute.projectId)
          .toArray()
          .some((operation) => operation.endpointId === compute.id && operation.action === "start_compute");
        if (!starts) yield `connections wait for ${compute.id}, but no operation starts it`;
      });
    },
  },
];
