import type { BranchData } from "../platform/model/branch-data.ts";
import type { FailureReport } from "./hosted/store-failure.ts";
import type { HostedWorld } from "./hosted-world.ts";
import { StoreUnavailable } from "./world-handle.ts";
import type { WorldStorage } from "./world-storage.ts";

/**
 * Data to which worlds and snapshots of worlds refer; `undefined` if one of them cannot be read. Worlds that are
 * closed are not opened. A world that is deleted meanwhile is not a failure.
 */
export async function allBranchData(
  storage: WorldStorage,
  open: ReadonlyMap<string, HostedWorld>,
  onFailure: FailureReport,
): Promise<readonly BranchData[] | undefined> {
  const found: BranchData[] = [];
  for (const name of storage.worlds()) {
    const world = open.get(name);
    try {
      if (world === undefined || world.isDormant) found.push(...storage.branchData(name));
      else found.push(...(await world.transact((view) => view.world.branchData.toArray())));
      for (const snapshot of storage.snapshotNames(name)) found.push(...storage.branchData(name, snapshot));
    } catch (error) {
      if (!storage.worlds().includes(name)) continue;
      // Its deletion asks again when it has ended.
      if (world?.isShuttingDown !== true) onFailure(error, `the data of world "${name}" could not be listed`);
      return undefined;
    }
  }
  return found;
}

/**
 * Whether the world has data that may have changed since its position was stored. A world that cannot be opened is
 * copied as it is.
 */
export async function hasOpenData(world: HostedWorld): Promise<boolean> {
  try {
    return await world.transact((view) =>
      view.world.branchData.toArray().some(({ isOpen }) => isOpen === true),
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}
