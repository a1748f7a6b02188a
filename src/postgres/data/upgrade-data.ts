import type { BranchData } from "../../platform/model/branch-data.ts";
import { replacedData } from "../../platform/rules/branch-data/evolve-branch-data.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { deleteRows } from "../content/delete-rows.ts";
import type { Engine, RunningEngine } from "../engine/engine.ts";
import { type Carried, type CarryRequest, carryCluster } from "../upgrade/carry-cluster.ts";
import type { Volumes } from "../volumes/volumes.ts";
import type { BranchVolumes } from "./branch-volumes.ts";

/** Data of a branch that is carried to a newer version of Postgres. */
export type DataUpgrade = {
  readonly row: BranchData;
  readonly from: number;
  readonly to: number;
} & Pick<CarryRequest, "programs" | "user" | "onStep">;

export type DataUpgradeOptions = {
  readonly world: WorldHandle;
  readonly engine: Engine;
  readonly volumes: Volumes;
  readonly branchVolumes: BranchVolumes;
};

const CONNECTIONS = { maxConnections: 10, logicalReplication: false, isScratch: true };

/**
 * Creates a volume of the new version from what the branch has now, and makes it the branch's data in one transaction.
 * Before it, the branch has all of its previous data, which is not changed. Nothing refers to what an upgrade that was
 * killed leaves, so that the next server or upgrade removes it. The previous volume stays for points in time of the branch
 * until its retention ends, and for other branches and snapshots that begin with it.
 */
export async function upgradeData(options: DataUpgradeOptions, upgrade: DataUpgrade): Promise<Carried> {
  const { world, engine, volumes, branchVolumes } = options;
  const { row, from, to, programs, user, onStep } = upgrade;
  const { volumeId } = row;
  if (volumeId === undefined) throw new Error(`branch ${row.id} has no data`);
  const historyId = world.history().id;
  onStep("copying the data");
  let carried: Carried | undefined;
  const empty = await engine.emptyCluster(to);
  const base = await volumes.createBase(historyId, async (dataDirectory) => {
    await engine.copyCluster({ base: empty, to: dataDirectory });
    const carry = async (source: RunningEngine) => {
      if (row.schemaOnly === true) await deleteRows(source);
      const target = await engine.start({ dataDirectory, ...CONNECTIONS });
      return stoppedAfter(target, () =>
        carryCluster({ source, sourceVersion: from, target, programs, user, onStep }),
      );
    };
    carried =
      row.writes === true
        ? await branchVolumes.onLatest(historyId, volumeId, carry)
        : await branchVolumes.onCopy(historyId, { ...row, volumeId }, carry);
    await engine.dropLog(dataDirectory);
    onStep("syncing the new data");
  });
  try {
    // Nobody writes to this volume. The branch copies it when its first client connects.
    const { volume, release } = await volumes.create(historyId, row.id, async () => ({
      bases: [{ path: base.path }],
    }));
    try {
      onStep("replacing the data");
      await world.transact((transaction) => {
        const current = transaction.world.branchData.get(row.id);
        const projectId = transaction.world.branches.get(row.id)?.projectId;
        if (current?.volumeId !== volumeId || projectId === undefined)
          throw new Error(`the data of branch ${row.id} was replaced`);
        const retention = transaction.world.projects.get(projectId)?.historyRetentionSeconds ?? 0;
        const { now } = transaction;
        transaction.storeBranchData({
          id: row.id,
          volumeId: volume.id,
          at: now,
          past: replacedData(current, now, retention),
        });
      });
    } finally {
      release();
    }
  } finally {
    base.release();
  }
  if (carried === undefined) throw new Error("the data was not carried");
  return carried;
}

async function stoppedAfter<T>(engine: RunningEngine, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await engine.stop();
  }
}
