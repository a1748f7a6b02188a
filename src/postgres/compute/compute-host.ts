import type { SimTime } from "../../kernel/time.ts";
import { EngineExited } from "../data/engine-exit.ts";
import { type Absence, type EngineClock, EngineError, type RunningEngine } from "../engine/engine.ts";
import { CLIENT_ERRORS, ConnectionRejected, engineUnavailable } from "../protocol/errors.ts";
import { type FileCacheStatistics, writeCacheStatistics } from "../rights/extension.ts";
import { BlockStatistics, type DataSample } from "./block-statistics.ts";
import type { ComputeCluster } from "./compute-cluster.ts";

/** How long an engine without sessions stays up, in wall-clock time: a compute's next client comes soon. */
const IDLE_ENGINE_MS = 60_000;

export type ComputeHostOptions = {
  readonly open: () => Promise<ComputeCluster>;
  /** Rejects if too many engines run. The function that it returns frees the place. */
  readonly reserve: () => Promise<() => void>;
  readonly onStarted: (engine: RunningEngine) => void;
  /** The engine is about to serve the session that it was started for. */
  readonly onReady: () => void;
  /** A session has got the engine, and is about to use it. Never rejects. */
  readonly onAcquired: (engine: RunningEngine) => Promise<void>;
  /** Clients have written log of this length. */
  readonly onWritten: (bytes: number) => void;
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
  readonly #blocks = new BlockStatistics();
  /** The cluster of the engine that was started last. */
  #cluster: ComputeCluster | undefined;
  #volumeId: string | undefined;
  #ended: Promise<void> = Promise.resolve();
  #sessions = 0;
  /** Whether the engine was started for a session that has not begun yet. */
  #isAhead = false;
  #aheadChecked: Promise<void> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | undefined;
  #changes: Promise<void> = Promise.resolve();

  constructor(options: ComputeHostOptions) {
    this.#options = options;
  }

  /**
   * The blocks that sessions have read since the last call, and the size of the data; `undefined` if no engine runs.
   * `cacheCapacity`: capacity of the local file cache, in blocks.
   */
  async sampleData(cacheCapacity: number): Promise<DataSample | undefined> {
    return (await this.#running) === undefined ? undefined : this.#blocks.sample(cacheCapacity);
  }

  /** Processor time of the engine that was started last; `undefined` if it is unknown. */
  cpuMs(): number | undefined {
    return this.#engine?.cpuMs();
  }

  /** Gives the values of the world's cache model to the extension's view. The cluster may still be created. */
  publishCacheStatistics(statistics: FileCacheStatistics): void {
    const directory = this.#cluster?.dataDirectory;
    if (directory !== undefined) writeCacheStatistics(directory, statistics, this.#blocks.counted());
  }

  /** The clock of the running engine; `undefined` if no engine runs, or if it has the machine's clock. */
  get clock(): EngineClock | undefined {
    return this.#running === undefined ? undefined : this.#engine?.clock;
  }

  /** Keeps the server out of the databases of clients; `undefined` if no engine runs. */
  keepOutOfDatabases(): Absence | undefined {
    return this.#running === undefined ? undefined : this.#engine?.keepOutOfDatabases();
  }

  /** Whether the password of a role of the engine may have expired. */
  mayHaveExpired(role: string): boolean {
    return this.#cluster?.mayHaveExpired(role) === true;
  }

  /** Whether it has. `engine`: the running one. */
  async hasExpired(engine: RunningEngine, role: string): Promise<boolean> {
    return (await this.#cluster?.hasExpired(engine, role)) === true;
  }

  /** The branch of the engine that was started last. */
  get branchId(): string | undefined {
    return this.#cluster?.branchId;
  }

  /** The volume of the engine that was started last; `undefined` while the next one is opened. */
  get volumeId(): string | undefined {
    return this.#volumeId;
  }

  /** Marks what the clients have committed. */
  async mark(idleSince: () => SimTime | undefined): Promise<void> {
    const running = await this.#running;
    if (running !== undefined) await this.#cluster?.mark(running, idleSince);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** The engine that runs, or starts. */
  get running(): Promise<RunningEngine> | undefined {
    return this.#running;
  }

  /** Keeps an engine that runs, as a session does. Each call is followed by one of `release`. */
  retain(): void {
    this.#sessions += 1;
    clearTimeout(this.#idleTimer);
  }

  /** Starts the engine unless it runs. Each call is followed by one of `release`. */
  async acquire(): Promise<RunningEngine> {
    if (this.#isAhead) {
      this.#isAhead = false;
      this.#aheadChecked = this.#stopIfOutdated();
    }
    const engine = await this.#acquire(this.#aheadChecked);
    await this.#options.onAcquired(engine);
    return engine;
  }

  async #acquire(ready: Promise<void>): Promise<RunningEngine> {
    this.retain();
    try {
      await ready;
      await this.#stopping;
      if (this.#running !== undefined) return await this.#running;
      this.#running = this.#start();
      const engine = await this.#running;
      this.#options.onReady();
      return engine;
    } catch (error) {
      this.release();
      if ((error as NodeJS.ErrnoException).code === "ENOSPC")
        throw new ConnectionRejected(CLIENT_ERRORS.diskFull);
      if (error instanceof EngineError) throw new ConnectionRejected(engineUnavailable(error.message));
      throw error;
    }
  }

  /**
   * Starts the engine for a session that will come. The first one checks whether it would be started otherwise by then. A
   * failure is reported to the session, which tries again. `isWanted`: whether the compute still starts or is active. Before
   * its start had begun, the engine could not be stopped.
   */
  async startAhead(isWanted: () => Promise<boolean>): Promise<void> {
    if (this.#running === undefined) this.#isAhead = true;
    try {
      await this.#acquire(this.#aheadChecked);
    } catch {
      return;
    }
    this.release();
    if (!(await isWanted().catch(() => true))) await this.stopIfUnused();
  }

  async #stopIfOutdated(): Promise<void> {
    await this.#running?.catch(() => undefined);
    if (this.#running !== undefined && (await this.#cluster?.isOutdated?.()) === true) await this.stop();
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
    this.#isAhead = false;
    if (running === undefined) return this.#stopping;
    this.#isStopping = true;
    this.#stopping = running
      .then(
        async (engine) => {
          await this.#changes;
          await this.#cluster?.ending(engine);
          await engine.stop();
          await this.#ended;
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
      const engine = await running;
      await this.#cluster?.syncContent(engine);
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
    // Otherwise the removal of the previous volume would stop this engine.
    this.#volumeId = undefined;
    const cluster = await this.#options.open();
    this.#cluster = cluster;
    this.#volumeId = cluster.volumeId;
    const ended = () => {
      this.#ended = cluster.ended();
      this.#ended.catch(() => undefined);
    };
    let isStarted = false;
    try {
      this.publishCacheStatistics(cluster.cacheStatistics);
      const engine = await cluster.start();
      isStarted = true;
      this.#engine = engine;
      this.#options.onStarted(engine);
      let hasExited = false;
      engine.exited.then((log) => {
        hasExited = true;
        free();
        ended();
        if (this.#running === undefined) return;
        this.#running = undefined;
        this.#options.onUnexpectedExit(log);
      });
      try {
        await cluster.prepare(engine, this.#options.onWritten);
        const isCold = cluster.cacheStatistics.file_cache_used === 0;
        await this.#blocks.begin(engine, { isCold, isReplica: cluster.volumeId === undefined });
        this.publishCacheStatistics(cluster.cacheStatistics);
      } catch (error) {
        await engine.stop();
        // Its exit was reported.
        throw hasExited ? new EngineExited("Postgres has exited", { cause: error }) : error;
      }
      return engine;
    } finally {
      if (!isStarted) ended();
      cluster.release();
    }
  }
}
