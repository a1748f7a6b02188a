import type { World } from "../core/world.ts";
import type { Event } from "../events.ts";
import { defaultBranchOf } from "../lookup.ts";
import { deleteUsage } from "../usage/usage.ts";
import type { Branch } from "./branch.ts";
import { withContent } from "./branch-content.ts";
import { expirationFrom } from "./branch-expiration.ts";
import { advanceRoleNumber } from "./role.ts";

type BranchEvent = Extract<
  Event,
  {
    type:
      | "BranchCreated"
      | "BranchBecameReady"
      | "BranchUpdated"
      | "BranchExpirationSet"
      | "BranchSetAsDefault"
      | "BranchMoved"
      | "BranchRestored"
      | "BranchDeleted"
      | "BranchRecovered"
      | "BranchRemoved";
  }
>;

/** Folds what happened to a branch into the world. */
export function evolveBranch(world: World, event: BranchEvent): void {
  const { at } = event;
  if (event.type === "BranchCreated") {
    const { branch } = event;
    world.numbers.branch = branch.number;
    world.numbers.database += branch.databases.length;
    advanceRoleNumber(world, branch.roles);
    world.branches.set(branch);
    return;
  }
  const branch = world.branches.get(event.branchId);
  if (branch === undefined) throw new Error(`${event.type}: there is no branch ${event.branchId}`);
  switch (event.type) {
    case "BranchBecameReady":
      world.branches.set({ ...branch, state: "ready", stateChangedAt: at, updatedAt: at });
      return;
    case "BranchUpdated":
      world.branches.set({ ...branch, ...event.changes, updatedAt: at });
      return;
    case "BranchExpirationSet":
      world.branches.set({
        ...withoutExpiration(branch),
        ...expirationFrom(event.expiresAt, at),
        updatedAt: at,
      });
      return;
    case "BranchSetAsDefault": {
      const previous = defaultBranchOf(world, event.projectId);
      if (previous !== undefined) world.branches.set({ ...previous, default: false, updatedAt: at });
      world.branches.set({ ...branch, default: true, updatedAt: at });
      return;
    }
    case "BranchMoved":
      world.branches.set({ ...branch, parentId: event.parentId, updatedAt: at });
      return;
    case "BranchRestored": {
      const { parentLsn: _, ...rest } = withContent(world, branch, event.content, at);
      const { parentId, parentTimestamp } = event;
      const lsn = event.parentLsn === undefined ? {} : { parentLsn: event.parentLsn };
      world.branches.set({
        ...rest,
        parentId,
        parentTimestamp,
        ...lsn,
        state: "resetting",
        stateChangedAt: at,
        lastResetAt: at,
      });
      return;
    }
    case "BranchDeleted": {
      const { recoverableUntil } = event;
      world.branches.set({
        ...branch,
        deletedAt: at,
        ...(recoverableUntil === undefined ? {} : { recoverableUntil }),
      });
      return;
    }
    case "BranchRecovered": {
      const { deletedAt: _, recoverableUntil: __, ...rest } = withoutExpiration(branch);
      world.branches.set({ ...rest, updatedAt: at });
      return;
    }
    case "BranchRemoved":
      deleteUsage(world, branch.id);
      world.branches.delete(branch.id);
      return;
    default:
      event satisfies never;
  }
}

function withoutExpiration({ expiresAt: _, ttlSeconds: __, ...branch }: Branch): Branch {
  return branch;
}
