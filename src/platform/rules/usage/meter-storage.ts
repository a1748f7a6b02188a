import type { SimTime } from "../../../kernel/time.ts";
import type { Branch } from "../../model/branch.ts";
import { NO_STORAGE } from "../../model/storage-use.ts";
import type { World } from "../../world/world.ts";
import { bookData } from "./book-data.ts";
import { storedSinceBooking } from "./stored-data.ts";

/**
 * Books what a branch has stored since the last booking, for the branch and its project. To be called before
 * what it stores changes.
 */
export function meterStorage(world: World, branchId: string, at: SimTime): void {
  const branch = world.branches.get(branchId);
  if (branch === undefined) return;
  for (const interval of storedSinceBooking(world, branch, at)) {
    bookData(world, branchId, interval);
    bookData(world, branch.projectId, interval);
  }
}

export function meterProjectStorage(world: World, projectId: string, at: SimTime): void {
  for (const { id } of world.branches.by("project", projectId).toArray()) meterStorage(world, id, at);
}

/** From this instant on, what the branch stores is recorded, if it has data. */
export function beginStorage(world: World, { id, logicalSizeBytes }: Branch, at: SimTime): void {
  if (world.settings.storageUse !== true) return;
  const data = world.usage.get(id)?.data;
  if (data?.storage?.until === at || (data === undefined && logicalSizeBytes === undefined)) return;
  bookData(world, id, { from: at, to: at, stored: NO_STORAGE });
}

export function beginProjectStorage(world: World, projectId: string, at: SimTime): void {
  for (const branch of world.branches.by("project", projectId).toArray()) beginStorage(world, branch, at);
}
