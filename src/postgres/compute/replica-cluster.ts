import { hasExpired } from "../content/cluster-content.ts";
import type { WorldData } from "../data/world-data.ts";
import { type Engine, type RunningEngine, type RunningStandby, TooFewConnections } from "../engine/engine.ts";
import type { FileCacheStatistics } from "../rights/extension.ts";
import type { Scratch } from "../volumes/volume.ts";
import type { ComputeCluster } from "./compute-cluster.ts";
import type { ComputeHost } from "./compute-host.ts";
import type { EnginePlan } from "./primary-cluster.ts";

export type ReplicaClusterOptions = {
  readonly engine: Engine;
  readonly data: WorldData;
  readonly endpointId: string;
  readonly plan: EnginePlan;
  /** Runs the engine of the branch's primary compute. */
  readonly writer: ComputeHost;
  /** Called when it cannot follow its primary any more, and must be opened again. */
  readonly onOutdated: () => void;
};

/**
 * A copy of the volume of a branch, which follows the engine of the primary compute while that runs. It starts that
 * engine for a moment, so that it begins with the roles, the databases and the rows of now. It is deleted when it is
 * not used any more.
 */
export class ReplicaCluster implements ComputeCluster {
  readonly branchId: string;
  readonly dataDirectory: string;
  readonly cacheStatistics: FileCacheStatistics;
  readonly #options: ReplicaClusterOptions;
  readonly #copy: Scratch;
  readonly #primary: RunningEngine;
  readonly #until: string;
  readonly #release: () => void;
  #standby: RunningStandby | undefined;
  #unfollow: () => void = () => undefined;

  private constructor(
    options: ReplicaClusterOptions,
    { copy, until }: { readonly copy: Scratch; readonly until: string },
    primary: RunningEngine,
    release: () => void,
  ) {
    this.branchId = options.plan.branchId;
    this.dataDirectory = copy.dataDirectory;
    this.cacheStatistics = options.plan.cacheStatistics;
    this.#options = options;
    this.#copy = copy;
    this.#until = until;
    this.#primary = primary;
    this.#release = release;
  }

  static async open(options: ReplicaClusterOptions): Promise<ReplicaCluster> {
    const { data, endpointId, writer } = options;
    const { engine: primary, release } = await borrow(writer);
    try {
      return new ReplicaCluster(options, await data.copyRunning(primary, endpointId), primary, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async start(): Promise<RunningEngine> {
    const { engine, plan, endpointId } = this.#options;
    const primary = this.#primary;
    this.#standby = await engine.startStandby({
      dataDirectory: this.dataDirectory,
      maxConnections: plan.maxConnections,
      mostConnections: plan.mostConnections,
      mostWorkers: plan.mostWorkers,
      settings: plan.settings,
      name: endpointId,
      primary: primary.address,
      until: this.#until,
      startsAt: plan.now,
      checkpoint: async () => {
        await primary.query("CHECKPOINT");
        return primary.logPosition();
      },
    });
    return this.#standby;
  }

  async prepare(): Promise<void> {
    this.#unfollow = this.#options.data.follow(this.branchId, (primary) => {
      // A standby that was stopped in the meantime does not follow.
      this.#follow(primary).catch(() => undefined);
    });
  }

  async #follow(primary: RunningEngine): Promise<void> {
    await this.#standby?.follow(primary.address);
    try {
      // The log begins with the settings of the primary.
      await this.#standby?.replayed(await primary.logPosition());
    } catch (error) {
      if (error instanceof TooFewConnections) this.#options.onOutdated();
      else throw error;
    }
  }

  release(): void {
    this.#release();
  }

  /** Waits until the primary has applied the content of the world and this replica has replayed it. */
  async syncContent(): Promise<void> {
    const { writer } = this.#options;
    const { engine: primary, release } = await borrow(writer);
    try {
      await writer.contentIsKnown();
      await this.#standby?.replayed(await primary.logPosition());
    } finally {
      release();
    }
  }

  mayHaveExpired(role: string): boolean {
    return this.#options.writer.mayHaveExpired(role);
  }

  /** Asks the primary if it runs, because the replica may not have replayed the last change of the role. */
  async hasExpired(engine: RunningEngine, role: string): Promise<boolean> {
    const { writer } = this.#options;
    await writer.contentIsKnown();
    if (!writer.mayHaveExpired(role)) return false;
    try {
      const primary = await writer.running;
      if (primary !== undefined) return await hasExpired(primary, role);
    } catch {
      // It stops, or does not start.
    }
    return hasExpired(engine, role);
  }

  async mark(): Promise<void> {}

  async ending(): Promise<void> {
    this.#unfollow();
  }

  async ended(): Promise<void> {
    this.#unfollow();
    await this.#copy.remove();
  }
}

/** The engine of a host, which is stopped by `release` if nothing else has used it. */
async function borrow(
  host: ComputeHost,
): Promise<{ readonly engine: RunningEngine; readonly release: () => void }> {
  const wasRunning = host.isRunning;
  const engine = await host.acquire();
  return {
    engine,
    release: () => {
      host.release();
      if (!wasRunning) host.stopIfUnused()?.catch(() => undefined);
    },
  };
}
