import type { SimTime } from "../../kernel/time.ts";
import type { BranchData } from "../../platform/model/branch-data.ts";
import { readAppliedContent, removeEarlierForm, writeAppliedContent } from "../content/applied-content.ts";
import { applyContent, clientDatabases, hasExpired, readContent } from "../content/cluster-content.ts";
import {
  asApplied,
  type Content,
  hasChanges,
  type LearnedChanges,
  learnedChanges,
} from "../content/content.ts";
import { knownContent } from "../content/known-content.ts";
import { ownsSubscriptions, takeOverSubscriptions } from "../content/own-subscriptions.ts";
import type { OpenedData } from "../data/branch-volumes.ts";
import type { WorldData } from "../data/world-data.ts";
import { type Engine, type EngineSettings, type RunningEngine, StatementRejected } from "../engine/engine.ts";
import { ensureRights, type RevokedRights } from "../rights/cluster-rights.ts";
import type { FileCacheStatistics } from "../rights/extension.ts";
import type { ComputeCluster } from "./compute-cluster.ts";

/** `unique_violation` while another session creates the same, `duplicate_database`, `duplicate_object`. */
const NAME_TAKEN = new Set(["23505", "42P04", "42710"]);

/** Facts of the world that the engine of a compute needs, read when it starts. */
export type EnginePlan = {
  readonly historyId: string;
  readonly branchId: string;
  readonly pgVersion: number;
  readonly data: BranchData | undefined;
  /** Whether clients only read. */
  readonly isReplica: boolean;
  readonly maxConnections: number;
  /** `max_connections` of the largest compute. */
  readonly mostConnections: number;
  /** `max_worker_processes` of the largest compute. */
  readonly mostWorkers: number;
  readonly settings: EngineSettings;
  readonly logicalReplication: boolean;
  /** The world's instant. */
  readonly now: SimTime;
  readonly content: Content;
  readonly cacheStatistics: FileCacheStatistics;
};

export type PrimaryClusterOptions = {
  readonly engine: Engine;
  readonly data: WorldData;
  readonly plan: () => Promise<EnginePlan>;
  /** Reports what SQL changed to the world, and returns the content that the world then has. */
  readonly learn: (changes: LearnedChanges) => Promise<Content>;
  /** Roles of a branch had rights that no client may have. They do not have them any more. */
  readonly onRevoked: (rights: RevokedRights, branchId: string) => void;
  /** The world has learned these changes, and the cluster still differs from it. */
  readonly onRepeated: (changes: LearnedChanges, branchId: string) => void;
};

/** The volume of a branch, which the clients of its primary compute write to. */
export class PrimaryCluster implements ComputeCluster {
  readonly branchId: string;
  readonly dataDirectory: string;
  readonly volumeId: string;
  readonly cacheStatistics: FileCacheStatistics;
  readonly #options: PrimaryClusterOptions;
  readonly #plan: EnginePlan;
  readonly #opened: OpenedData;
  #expiringRoles: ReadonlySet<string> = new Set();
  /** What was learned last, unless the cluster has had no changes since. */
  #learned: { readonly changes: string; isApplied: boolean; isReported: boolean } | undefined;

  private constructor(options: PrimaryClusterOptions, plan: EnginePlan, opened: OpenedData) {
    this.branchId = plan.branchId;
    this.dataDirectory = opened.volume.dataDirectory;
    this.volumeId = opened.volume.id;
    this.cacheStatistics = plan.cacheStatistics;
    this.#options = options;
    this.#plan = plan;
    this.#opened = opened;
  }

  static async open(options: PrimaryClusterOptions): Promise<PrimaryCluster> {
    const plan = await options.plan();
    return new PrimaryCluster(options, plan, await options.data.open(plan));
  }

  start(): Promise<RunningEngine> {
    const { maxConnections, logicalReplication, settings, now: startsAt, isReplica } = this.#plan;
    const { dataDirectory } = this;
    const request = { dataDirectory, maxConnections, logicalReplication, settings, startsAt };
    // Workers need a compute that they keep active.
    if (isReplica) return this.#options.engine.start(request);
    const isOwner = ownsSubscriptions(dataDirectory, this.volumeId);
    return this.#options.engine.start({ ...request, subscriptions: isOwner ? "connect" : "blocked" });
  }

  async prepare(engine: RunningEngine, onWritten: (bytes: number) => void): Promise<void> {
    if (!ownsSubscriptions(this.dataDirectory, this.volumeId))
      await takeOverSubscriptions(engine, this.dataDirectory, this.volumeId);
    engine.unblockSubscriptions();
    await this.#options.engine.ensureExtension(engine);
    await this.#reconcile(engine, this.#plan.content);
    await removeEarlierForm(engine, await clientDatabases(engine));
    await this.#options.data.began(this.branchId, this.#opened, engine, onWritten);
  }

  async isOutdated(): Promise<boolean> {
    return startOf(await this.#options.plan()) !== startOf(this.#plan);
  }

  release(): void {
    this.#opened.release();
  }

  async syncContent(engine: RunningEngine): Promise<void> {
    const reconcile = async () => this.#reconcile(engine, (await this.#options.plan()).content);
    await reconcile().catch((error: unknown) => {
      if (!(error instanceof StatementRejected && NAME_TAKEN.has(error.code))) throw error;
      // SQL has created a role or database of this name since they were read.
      return reconcile();
    });
  }

  mayHaveExpired(role: string): boolean {
    return this.#expiringRoles.has(role);
  }

  async hasExpired(engine: RunningEngine, role: string): Promise<boolean> {
    return this.mayHaveExpired(role) && (await hasExpired(engine, role));
  }

  mark(engine: RunningEngine, idleSince: () => SimTime | undefined): Promise<void> {
    return this.#options.data.mark(engine, idleSince);
  }

  ending(engine: RunningEngine): Promise<void> {
    return this.#options.data.ending(engine);
  }

  async ended(): Promise<void> {
    this.#options.data.ended(this.#opened.volume);
  }

  /** First what SQL has changed goes to the world, then what the API has changed goes to the cluster. */
  async #reconcile(engine: RunningEngine, content: Content): Promise<void> {
    const revoked = await ensureRights(engine);
    if (revoked.length > 0) this.#options.onRevoked(revoked, this.branchId);
    const applied = await readAppliedContent(engine);
    const current = await readContent(engine);
    this.#expiringRoles = current.expiringRoles;
    const changes = learnedChanges(applied, current);
    const wanted = await this.#learn(changes, content);
    const target = asApplied(wanted);
    await applyContent(engine, knownContent(applied, target, changes), wanted);
    if (JSON.stringify(applied) !== JSON.stringify(target)) await writeAppliedContent(engine, target);
    if (this.#learned !== undefined) this.#learned.isApplied = true;
  }

  /**
   * The content that the world has with these changes. Changes that are found twice in a row are not learned again, because each
   * learning of a password is an event, and each event is applied.
   */
  async #learn(changes: LearnedChanges, content: Content): Promise<Content> {
    const found = hasChanges(changes) ? JSON.stringify(changes) : undefined;
    const before = this.#learned;
    if (found === undefined) this.#learned = undefined;
    else if (found !== before?.changes) {
      const learned = await this.#options.learn(changes);
      this.#learned = { changes: found, isApplied: false, isReported: false };
      return learned;
    } else if (before.isApplied && !before.isReported) {
      before.isReported = true;
      this.#options.onRepeated(changes, this.branchId);
    }
    return content;
  }
}

/** Settings with which the engine was started, for comparison. */
function startOf({ branchId, pgVersion, maxConnections, settings, logicalReplication }: EnginePlan): string {
  return JSON.stringify([branchId, maxConnections, settings(pgVersion), logicalReplication]);
}
