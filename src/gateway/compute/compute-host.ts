import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Content, LearnedChanges } from "../../engine/content.ts";
import {
  applyContent,
  hasChanges,
  learnedChanges,
  prepareCluster,
  readAppliedContent,
  readContent,
  writeAppliedContent,
} from "../../engine/content.ts";
import { type Engine, EngineError, type RunningEngine } from "../../engine/engine.ts";
import { CACHE_STATISTICS_FILE, type FileCacheStatistics } from "../../engine/extension.ts";
import type { BranchData } from "../../platform/branch-data/branch-data.ts";
import type { BlockCounts } from "../../platform/compute/cache.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { Volume } from "../../volumes/volume.ts";
import type { WorldData } from "../data/world-data.ts";
import { ConnectionRejected, engineUnavailable } from "../errors.ts";
import { BlockStatistics } from "./block-statistics.ts";
import { EngineExited } from "./engine-exit.ts";

/** How long an engine without sessions stays up, in wall-clock time: a compute's next client comes soon. */
const IDLE_ENGINE_MS = 60_000;

/** What a compute's engine needs to know of the world, read when it starts. */
export type EnginePlan = {
  readonly historyId: string;
  readonly branchId: string;
  readonly pgVersion: number;
  readonly data: BranchData | undefined;
  readonly maxConnections: number;
  readonly logicalReplication: boolean;
  readonly content: Content;
  readonly cacheStatistics: FileCacheStatistics;
};

export type ComputeHostOptions = {
  readonly engine: Engine;
  readonly data: WorldData;
  readonly plan: () => Promise<EnginePlan>;
  /** Reports what SQL changed to the world, and returns the content that the world then has. */
  readonly learn: (changes: LearnedChanges) => Promise<Content>;
  /** Rejects if too many engines run. The function that it returns frees the place. */
  readonly reserve: () => Promise<() => void>;
  readonly onStarted: (engine: RunningEngine) => void;
  readonly onUnexpectedExit: (log: string) => void;
};

/** Runs the engine of one compute while it has sessions. */
export class ComputeHost {
  readonly #options: ComputeHostOptions;
  #running: Promise<RunningEngine> | undefined;
  /** The engine that was started last. */
  #engine: RunningEngine | undefined;
  #stopping: Promise<void> = Promise.resolve();
  #isStopping = false;
  readonly #blocks = new WeakMap<RunningEngine, BlockStatistics>();
  #volume: Volume | undefined;
  #branchId: string | undefined;
  #sessions = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #changes: Promise<void> = Promise.resolve();

  constructor(options: ComputeHostOptions) {
    this.#options = options;
  }

  /** Blocks that the sessions read since the last call; `undefined` if that is not known. */
  async sampleBlocks(): Promise<BlockCounts | undefined> {
    const running = await this.#running;
    return running === undefined ? undefined : this.#blocks.get(running)?.sample();
  }

  /** Processor time of the engine that was started last; `undefined` if it is unknown. */
  cpuMs(): number | undefined {
    return this.#engine?.cpuMs();
  }

  /** Gives the values of the world's cache model to the extension's view. The cluster may still be created. */
  publishCacheStatistics(statistics: FileCacheStatistics): void {
    const directory = this.#volume?.dataDirectory;
    if (directory !== undefined && existsSync(directory))
      writeFileSync(join(directory, CACHE_STATISTICS_FILE), JSON.stringify(statistics));
  }

  /** The branch of the engine that was started last. */
  get branchId(): string | undefined {
    return this.#branchId;
  }

  /** The volume of the engine that was started last. */
  get volume(): Volume | undefined {
    return this.#volume;
  }

  /** Marks what the clients have committed. */
  async mark(idleSince: () => SimTime | undefined): Promise<void> {
    const running = await this.#running;
    if (running !== undefined) await this.#options.data.mark(running, idleSince);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Starts the engine unless it runs. Each call is followed by one of `release`. */
  async acquire(): Promise<RunningEngine> {
    this.#sessions += 1;
    clearTimeout(this.#idleTimer);
    try {
      await this.#stopping;
      this.#running ??= this.#start();
      return await this.#running;
    } catch (error) {
      this.release();
      if (error instanceof EngineError) throw new ConnectionRejected(engineUnavailable(error.message));
      throw error;
    }
  }

  release(): void {
    this.#sessions -= 1;
    if (this.#sessions > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#sessions === 0) this.stop().catch(() => undefined);
    }, IDLE_ENGINE_MS).unref();
  }

  /** Stops the engine. A later start waits until the process has exited. */
  stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined) return this.#stopping;
    this.#isStopping = true;
    this.#stopping = running
      .then(
        async (engine) => {
          await this.#changes;
          await this.#options.data.ending(engine);
          await engine.stop();
        },
        () => undefined,
      )
      .finally(() => {
        this.#isStopping = false;
      });
    return this.#stopping;
  }

  /** Stops an engine without sessions; `undefined` if this would free no place. */
  stopIfUnused(): Promise<void> | undefined {
    if (this.#isStopping) return this.#stopping;
    return this.isRunning && this.#sessions === 0 ? this.stop() : undefined;
  }

  /** Reads the roles and databases of the cluster, and reports what SQL has changed. */
  syncContent(): Promise<void> {
    const running = this.#running;
    if (running === undefined) return this.#changes;
    const done = this.#changes.then(async () => {
      const { content } = await this.#options.plan();
      await this.#reconcile(await running, content);
    });
    // A failure is reported once, and prevents neither later changes nor the stop.
    this.#changes = done.catch(() => undefined);
    return done;
  }

  /** Resolves when the world knows all roles and databases that SQL has changed so far. */
  contentIsKnown(): Promise<void> {
    return this.#changes;
  }

  async #start(): Promise<RunningEngine> {
    let free = () => {};
    try {
      free = await this.#options.reserve();
      return await this.#startOn(free);
    } catch (error) {
      this.#running = undefined;
      free();
      throw error;
    }
  }

  async #startOn(free: () => void): Promise<RunningEngine> {
    const { engine: engines, data, plan } = this.#options;
    const { content, cacheStatistics, maxConnections, logicalReplication, ...branch } = await plan();
    const opened = await data.open(branch);
    const { volume } = opened;
    const { dataDirectory } = volume;
    this.#volume = volume;
    this.#branchId = branch.branchId;
    let isStarted = false;
    try {
      this.publishCacheStatistics(cacheStatistics);
      const engine = await engines.start({ dataDirectory, maxConnections, logicalReplication });
      isStarted = true;
      this.#engine = engine;
      this.#options.onStarted(engine);
      let hasExited = false;
      engine.exited.then((log) => {
        hasExited = true;
        free();
        data.ended(volume);
        if (this.#running === undefined) return;
        this.#running = undefined;
        this.#options.onUnexpectedExit(log);
      });
      try {
        await prepareCluster(engine);
        await this.#reconcile(engine, content);
        await data.began(branch.branchId, opened, engine);
        const blocks = new BlockStatistics(engine);
        await blocks.sample();
        this.#blocks.set(engine, blocks);
      } catch (error) {
        await engine.stop();
        // Its exit was reported.
        throw hasExited ? new EngineExited("Postgres has exited", { cause: error }) : error;
      }
      return engine;
    } finally {
      if (!isStarted) data.ended(volume);
      opened.release();
    }
  }

  /** First what SQL has changed goes to the world, then what the API has changed goes to the cluster. */
  async #reconcile(engine: RunningEngine, content: Content): Promise<void> {
    const applied = await readAppliedContent(engine);
    const changes = learnedChanges(applied, await readContent(engine));
    const wanted = hasChanges(changes) ? await this.#options.learn(changes) : content;
    const before = withLearned(withIdsOf(applied, wanted), wanted, changes);
    await applyContent(engine, before, wanted);
    if (JSON.stringify(applied) !== JSON.stringify(wanted)) await writeAppliedContent(engine, wanted);
  }
}

/** The databases of a branch have other ids than those of the branch that it was copied from. */
function withIdsOf(applied: Content, wanted: Content): Content {
  const wantedIds = new Set(wanted.databases.map(({ id }) => id));
  const idOfName = new Map(wanted.databases.map(({ id, name }) => [name, id]));
  return {
    roles: applied.roles,
    databases: applied.databases.map((database) =>
      wantedIds.has(database.id) ? database : { ...database, id: idOfName.get(database.name) ?? database.id },
    ),
  };
}

/** The content that the cluster has: what was applied, and what was learned since. */
function withLearned(applied: Content, wanted: Content, changes: LearnedChanges): Content {
  const learnedRoles = new Set(
    [...changes.createdRoles, ...changes.changedPasswords].map(({ name }) => name),
  );
  const learnedDatabases = new Set(
    [...changes.createdDatabases, ...changes.changedOwners].map(({ name }) => name),
  );
  const droppedRoles = new Set(changes.droppedRoles);
  const droppedDatabases = new Set(changes.droppedDatabases);
  return {
    roles: [
      ...applied.roles.filter(({ name }) => !learnedRoles.has(name) && !droppedRoles.has(name)),
      ...wanted.roles.filter(({ name }) => learnedRoles.has(name)),
    ],
    databases: [
      ...applied.databases.filter(({ name }) => !learnedDatabases.has(name) && !droppedDatabases.has(name)),
      ...wanted.databases.filter(({ name }) => learnedDatabases.has(name)),
    ],
  };
}
