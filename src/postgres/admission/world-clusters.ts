import { primaryComputeOf } from "../../platform/world/lookup.ts";
import type { WorldHandle } from "../../worlds/world-handle.ts";
import { enginePlan, learnContent } from "../compute/branch-content.ts";
import type { ComputeCluster } from "../compute/compute-cluster.ts";
import type { ComputeHost } from "../compute/compute-host.ts";
import { type EnginePlan, PrimaryCluster } from "../compute/primary-cluster.ts";
import { ReplicaCluster } from "../compute/replica-cluster.ts";
import { changedNames } from "../content/content.ts";
import type { WorldData } from "../data/world-data.ts";
import type { Engine } from "../engine/engine.ts";

export type WorldClustersOptions = {
  readonly engine: Engine;
  readonly data: WorldData;
  /**
   * The host of a primary compute. Without one, that of a branch: it writes to the branch as the compute `replicaId`
   * would, if that was a primary one.
   */
  readonly writer: (
    primaryId: string | undefined,
    replica: { readonly branchId: string; readonly replicaId: string },
  ) => ComputeHost;
  /** Ends the sessions of a replica and stops its engine. The next session starts it again. */
  readonly stopReplica: (replicaId: string) => void;
  readonly onError: (error: unknown, message: string) => void;
};

/** Opens the data of the computes of a world. */
export class WorldClusters {
  readonly #world: WorldHandle;
  readonly #options: WorldClustersOptions;

  constructor(world: WorldHandle, options: WorldClustersOptions) {
    this.#world = world;
    this.#options = options;
  }

  async open(endpointId: string): Promise<ComputeCluster> {
    const plan = await this.#plan(endpointId);
    if (!plan.isReplica) return this.openPrimary(endpointId);
    const { engine, data, writer, stopReplica } = this.#options;
    const { branchId } = plan;
    const primaryId = await this.#world.transact(({ world }) => primaryComputeOf(world, branchId)?.id);
    const host = writer(primaryId, { branchId, replicaId: endpointId });
    return ReplicaCluster.open({
      engine,
      data,
      endpointId,
      plan,
      writer: host,
      onOutdated: () => stopReplica(endpointId),
    });
  }

  openPrimary(endpointId: string): Promise<ComputeCluster> {
    const { engine, data, onError } = this.#options;
    return PrimaryCluster.open({
      engine,
      data,
      plan: () => this.#plan(endpointId),
      onRevoked: (rights, branchId) =>
        onError(
          new Error(rights.join("; ")),
          `clients of ${branchId} had rights that no client may have; they were taken back`,
        ),
      onRepeated: (changes, branchId) =>
        onError(
          new Error(changedNames(changes).join(", ")),
          `changes of roles or databases of ${branchId} by SQL do not reach the world`,
        ),
      learn: async (changes) => {
        const content = await this.#world.transact((transaction) =>
          learnContent(transaction, endpointId, changes),
        );
        if (content instanceof Error) throw content;
        return content;
      },
    });
  }

  async #plan(endpointId: string): Promise<EnginePlan> {
    return this.#world.transact((transaction) =>
      enginePlan(transaction, this.#world.history().id, endpointId),
    );
  }
}
