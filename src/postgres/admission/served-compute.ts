import { findConnection } from "../../platform/rules/compute/open-connections.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { cacheCapacityOf, cacheStatisticsOf } from "../compute/branch-content.ts";
import { ComputeHost, type ComputeHostOptions } from "../compute/compute-host.ts";
import { CpuLoad } from "../compute/cpu-load.ts";
import { MarkSchedule } from "../data/mark-schedule.ts";
import type { Absence } from "../engine/engine.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";
import { ComputeClock } from "./compute-clock.ts";
import { SettlingContent } from "./settling-content.ts";
import { ComputeSpans } from "./spans.ts";
import { SubscriberActivity } from "./subscriber-activity.ts";

/** The blocks that sessions have read are counted when there was no work for a moment: less than a span's silence. */
const STATISTICS_DELAY_MS = 250;

/** Wall-clock time after which roles and databases that could not be applied are applied again. */
const APPLY_AGAIN_MS = 2_000;
/** A: the default of `max_wal_senders` in Postgres. Senders of standin and of read replicas are additional. */
const MAX_REPLICATIONS = 10;

export type ServedComputeOptions = Omit<
  ComputeHostOptions,
  "onReady" | "onAcquired" | "onUnexpectedExit" | "onWritten"
> & {
  readonly ignoresLoad?: boolean | undefined;
  readonly openSpans: Set<ComputeSpans>;
  readonly onError: (error: unknown, message: string) => void;
};

/** A client's session, from its admission. */
export type ServedSession = {
  /** Whether it has a session of the engine. */
  isRelaying(): boolean;
  /** It waits for the next request, which can also open another one. */
  readonly isIdle?: boolean;
  end(error: ClientError): void;
};

/** One compute of a world: its engine, the sessions of its clients, and their work. */
export class ServedCompute {
  readonly host: ComputeHost;
  readonly spans: ComputeSpans;
  readonly #world: WorldHandle;
  readonly #endpointId: string;
  readonly #ignoresLoad: boolean;
  readonly #onError: (error: unknown, message: string) => void;
  readonly #marks: MarkSchedule;
  readonly #subscriptions: SubscriberActivity;
  /** By their connections. */
  readonly #sessions = new Map<string, ServedSession>();
  #sampling: NodeJS.Timeout | undefined;
  /** The sample that is read now. */
  #sampled: Promise<void> | undefined;
  #applying: NodeJS.Timeout | undefined;
  readonly #settling = new SettlingContent();
  /** By connection whose statement may need a database without other sessions. */
  readonly #exclusions = new Map<string, Absence>();
  #catalogChanges = 0;
  #replications = 0;
  #publishing: Promise<void> = Promise.resolve();
  /** Capacity of the local file cache when the last work began, in blocks. */
  #cacheCapacity = 0;

  constructor(world: WorldHandle, endpointId: string, options: ServedComputeOptions) {
    this.#world = world;
    this.#endpointId = endpointId;
    this.#ignoresLoad = options.ignoresLoad === true;
    this.#onError = options.onError;
    const clock = new ComputeClock(world, () => this.host.clock);
    this.spans = new ComputeSpans(world, endpointId, {
      cpuLoad: new CpuLoad(() => (this.#ignoresLoad ? undefined : this.host.cpuMs())),
      clock,
      open: options.openSpans,
    });
    this.host = new ComputeHost({
      ...options,
      onReady: () => {
        clock.engineStarted();
        this.#sampleSoon();
      },
      // If Postgres was killed, the session finds out itself.
      onAcquired: (engine) => this.#subscriptions.checkOnce(engine).catch(() => undefined),
      onWritten: (bytes) => {
        if (!this.#ignoresLoad) this.spans.addWritten(bytes);
        if (this.#subscriptions.keepsActive) this.#sampleSoon();
      },
      onUnexpectedExit: (log) => {
        options.onError(new Error(log), `the Postgres process of ${endpointId} has exited`);
        // One that is still connecting does so again.
        this.#endSessions((session) => session.isRelaying(), CLIENT_ERRORS.terminated);
      },
    });
    this.#marks = new MarkSchedule(() => this.host.mark(() => this.spans.idleSince));
    this.#subscriptions = new SubscriberActivity(world, endpointId, {
      host: this.host,
      spans: this.spans,
      onWatched: () => this.#marks.workEnded(),
    });
  }

  attach(connectionId: string, session: ServedSession): void {
    this.#sessions.set(connectionId, session);
  }

  detach(connectionId: string): void {
    this.#sessions.delete(connectionId);
    this.endExclusion(connectionId);
  }

  /** A statement may need a database without other sessions. Resolves when the server is in no database of clients. */
  async beginExclusion(connectionId: string): Promise<void> {
    this.endExclusion(connectionId);
    this.#endIdleSessions();
    const absence = this.host.keepOutOfDatabases();
    if (absence === undefined) return;
    this.#exclusions.set(connectionId, absence);
    await absence.begun;
  }

  /** The statement has ended. */
  endExclusion(connectionId: string): void {
    this.#exclusions.get(connectionId)?.end();
    this.#exclusions.delete(connectionId);
  }

  /** Before a new session: it sees what others have read. Never rejects. */
  async showReads(): Promise<void> {
    await this.sampleNow();
    await this.#publishing;
  }

  /** Begins work of a session, unless the compute sleeps or its connection was closed in the world. */
  beginWork(transaction: Transaction, connectionId: string): boolean {
    const { world, now } = transaction;
    const phase = world.computes.get(this.#endpointId)?.phase;
    if (phase?.state !== "active" || phase.suspending) return false;
    if (findConnection(world, this.#endpointId, connectionId, now) === undefined) return false;
    this.#cacheCapacity = cacheCapacityOf(world, world.computes.get(this.#endpointId));
    this.spans.begin(transaction, connectionId);
    return true;
  }

  /** Bytes that a session has sent to its client. */
  addTransferred(bytes: number): void {
    if (!this.#ignoresLoad) this.spans.addTransferred(bytes);
  }

  endWork(connectionId: string): void {
    this.spans.end(connectionId);
    this.endExclusion(connectionId);
    this.#marks.workEnded();
    this.#sampleSoon();
  }

  #sampleSoon(): void {
    this.#sampling ??= setTimeout(() => void this.sampleNow(), STATISTICS_DELAY_MS).unref();
  }

  /**
   * Resolves when the statistics of all work are read, also if a sample had begun before, and it is known whether Postgres
   * works by itself; `undefined` if they are. Never rejects.
   */
  sampleNow(): Promise<void> | undefined {
    // Workers of subscriptions may have worked since the last one.
    if (this.#sampling === undefined && !this.#subscriptions.keepsActive) return this.#sampled;
    clearTimeout(this.#sampling);
    this.#sampling = undefined;
    const sampled: Promise<void> = (this.#sampled ?? Promise.resolve())
      .then(() =>
        Promise.allSettled([this.#ignoresLoad ? undefined : this.#sample(), this.#subscriptions.check()]),
      )
      // The engine may be stopped in the meantime, so that they fail.
      .then(() => {
        if (this.#sampled === sampled) this.#sampled = undefined;
      });
    this.#sampled = sampled;
    return sampled;
  }

  async #sample(): Promise<void> {
    const sample = await this.host.sampleData(this.#cacheCapacity);
    if (sample === undefined) return;
    if (sample.blocks !== undefined) this.spans.addBlocks(sample.blocks);
    this.spans.setLogicalSize(sample.logicalSizeBytes);
    // On a manual clock, the span is reported only when the clock moves.
    if (sample.blocks !== undefined) this.publishCacheStatistics();
  }

  /** Publishes the cache figures of the world, and those not reported to it yet, in the extension's view. */
  publishCacheStatistics(): void {
    if (!this.host.isRunning) return;
    this.#publishing = Promise.resolve(
      this.#world.transact(({ world }) =>
        cacheStatisticsOf(world, world.computes.get(this.#endpointId), this.spans.unreportedBlocks),
      ),
    )
      .then((statistics) => this.host.publishCacheStatistics(statistics))
      .catch((error) =>
        this.#onError(error, `the cache statistics of ${this.#endpointId} could not be written`),
      );
  }

  /** Applies roles and databases that the API has changed, if the compute works on this branch. */
  applyContent(branchId: string): void {
    if (!this.host.isRunning) return;
    void this.#settling.add(
      Promise.resolve(
        this.#world.transact(({ world }) => world.computes.get(this.#endpointId)?.branchId === branchId),
      )
        .then((isOfBranch) => (isOfBranch ? this.host.syncContent() : undefined))
        .catch((error) => {
          this.#onError(error, `roles or databases of ${branchId} could not be applied; it is tried again`);
          this.#applyLater();
        }),
    );
  }

  /** A client has held a lock for too long. The next start of the engine applies them, too. */
  #applyLater(): void {
    clearTimeout(this.#applying);
    this.#applying = setTimeout(() => {
      if (this.host.isRunning) this.host.syncContent().catch(() => this.#applyLater());
    }, APPLY_AGAIN_MS).unref();
  }

  /** A session of the replication protocol begins. Throws `ConnectionRejected` if there are too many. */
  beginReplication(): () => void {
    if (this.#replications >= MAX_REPLICATIONS)
      throw new ConnectionRejected(CLIENT_ERRORS.tooManyReplications);
    this.#replications += 1;
    return () => {
      this.#replications -= 1;
    };
  }

  /** How often SQL has changed roles or databases. A session that was opened earlier may have other limits and settings. */
  get catalogChanges(): number {
    return this.#catalogChanges;
  }

  /**
   * A session has changed roles or databases, or has executed a block that may have. Resolves when the world has the changes, or
   * cannot get them soon. Sessions that wait for another request are ended, because Postgres checks limits when a session begins;
   * few blocks change any. Never rejects.
   */
  catalogChanged(connectionId: string, isCertain: boolean): Promise<void> {
    if (isCertain) {
      this.#catalogChanges += 1;
      this.#endIdleSessions();
    }
    // So that the changes can be read in the databases of clients.
    this.endExclusion(connectionId);
    return this.#settling.add(
      this.host
        .syncContent()
        .catch((error) => this.#onError(error, "changed roles or databases could not be read")),
    );
  }

  /**
   * Resolves when the engine and the world have the roles and databases of each other, or cannot have them soon; `undefined`
   * if they have. Never rejects.
   */
  contentSettled(): Promise<void> | undefined {
    return this.#settling.settled();
  }

  /** Ends the sessions, then stops the engine. */
  stop(error: ClientError = CLIENT_ERRORS.terminated): void {
    this.endSessions(error);
    this.#subscriptions.end();
    this.host
      .stop()
      .catch((error) => this.#onError(error, `the Postgres process of ${this.#endpointId} did not stop`));
  }

  endSessions(error: ClientError): void {
    this.#endSessions(() => true, error);
  }

  #endIdleSessions(): void {
    this.#endSessions((session) => session.isIdle === true, CLIENT_ERRORS.terminated);
  }

  #endSessions(isEnded: (session: ServedSession) => boolean, error: ClientError): void {
    const ended = [...this.#sessions].filter(([, session]) => isEnded(session));
    for (const [connectionId] of ended) this.#sessions.delete(connectionId);
    for (const [, session] of ended) session.end(error);
  }
}
