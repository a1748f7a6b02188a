import type { DurationMs, SimTime } from "../kernel/time.ts";
import type { Result } from "../platform/catalog/refusal-codes.ts";
import type { RecordedEvent } from "../platform/model/events.ts";
import type { World } from "../platform/world/world.ts";
import type { ArrivalSource } from "../simulation/arrival-source.ts";
import type { HistoryPoint, PointSelector } from "../simulation/replay.ts";
import type { RequestLogEntry } from "../simulation/request-log.ts";
import type { ReadScope } from "../simulation/undurable-rows.ts";
import type { ClockMode } from "../simulation/world-clock.ts";
import { Advancer } from "./hosted/advancer.ts";
import { compactHistory } from "./hosted/compaction.ts";
import { DueTimer } from "./hosted/due-timer.ts";
import { ExclusiveGate } from "./hosted/exclusive-gate.ts";
import { GroupCommit } from "./hosted/group-commit.ts";
import type { HostedWorldOptions } from "./hosted/live-world.ts";
import { ReadsInSteps } from "./hosted/reads-in-steps.ts";
import { Reports } from "./hosted/reports.ts";
import { runInBackground, storeUnavailable } from "./hosted/store-failure.ts";
import { StoredHistory } from "./hosted/stored-history.ts";
import { WorldLifecycle } from "./hosted/world-lifecycle.ts";
import { WorldTransactions } from "./hosted/world-transactions.ts";
import {
  type AboutObject,
  type AdvanceResult,
  type AdvanceTarget,
  type ClockReading,
  type EventListener,
  type HistoryInfo,
  type PastView,
  type ReportSource,
  StoreUnavailable,
  type Transaction,
  type ViewAbout,
  type WorldDiagnostics,
  type WorldHandle,
} from "./world-handle.ts";

/**
 * A world in service. Everything that one turn of the event loop decides goes into one commit, and no caller
 * that has seen any of it is answered before that commit. If the commit fails, the world is opened again from
 * its file, which contains nothing of the failed commit.
 */
export class HostedWorld implements WorldHandle {
  readonly name: string;
  readonly #dueTimer = new DueTimer(() => runInBackground(() => this.transact(() => undefined)));
  readonly #gate = new ExclusiveGate(() => this.#armDueTimerIfOpen());
  readonly #lifecycle: WorldLifecycle;
  readonly #commits: GroupCommit;
  readonly #advancer: Advancer;
  readonly #reports = new Reports();
  readonly #transactions: WorldTransactions;
  readonly #stored: StoredHistory;
  readonly #readsInSteps: ReadsInSteps;

  constructor(options: HostedWorldOptions) {
    this.name = options.name;
    this.#lifecycle = new WorldLifecycle(
      options,
      () => {
        this.#dueTimer.disarm();
        this.#commits.stopTimers();
      },
      // Subscribers have not got the events of a commit that turns out to be durable. They look when the world is open.
      () => setImmediate(() => this.#commits.followers.notify()),
    );
    this.#commits = new GroupCommit(this.#lifecycle, options);
    this.#advancer = new Advancer(this.#lifecycle, this.#commits, this.#gate, this.#reports);
    this.#readsInSteps = new ReadsInSteps(this.#lifecycle);
    this.#transactions = new WorldTransactions({
      lifecycle: this.#lifecycle,
      commits: this.#commits,
      advancer: this.#advancer,
      gate: this.#gate,
      reports: this.#reports,
      dueTimer: this.#dueTimer,
      readsInSteps: this.#readsInSteps,
    });
    this.#stored = new StoredHistory({
      lifecycle: this.#lifecycle,
      commits: this.#commits,
      advancer: this.#advancer,
      transactions: this.#transactions,
    });
  }

  /** Whether the world has any history; false for an empty file. */
  get isCreated(): boolean {
    return this.#lifecycle.requireLive().simulation.world.seq > 0;
  }

  /** Whether long work runs, a request waits for its commit, or somebody follows the events. */
  get isInUse(): boolean {
    return this.#gate.running !== undefined || this.#commits.isInUse || this.#readsInSteps.areRunning;
  }

  /** Whether the world is closed until its next use. */
  get isDormant(): boolean {
    return this.#lifecycle.isDormant;
  }

  get isShuttingDown(): boolean {
    return this.#lifecycle.isShuttingDown;
  }

  now(): SimTime {
    const { clock } = this.#lifecycle.requireLive();
    return this.#advancer.durableView?.now ?? clock.now();
  }

  transact<T>(work: (transaction: Transaction) => T): T | Promise<T> {
    return this.#transactions.run(work);
  }

  transactForClient<T>(work: (transaction: Transaction) => T): T | Promise<T> {
    return this.#transactions.runForClient(work);
  }

  read<T>(work: (transaction: Transaction) => T, scopeOf?: () => ReadScope | undefined): T | Promise<T> {
    return this.#transactions.read(work, scopeOf);
  }

  readAbout<T>(object: AboutObject, work: (view: ViewAbout) => T): Promise<T> {
    return this.#stored.readAbout(object, work);
  }

  settledSeq(): number | undefined {
    const { live } = this.#lifecycle;
    if (live === undefined || this.#gate.running !== undefined) return undefined;
    if (!this.#commits.activity.isAll(live) || !this.#reports.isSettled(live)) return undefined;
    return live.simulation.world.seq;
  }

  async clock(): Promise<ClockReading> {
    return this.read(() => {
      const { simulation, clock } = this.#lifecycle.requireLive();
      return { now: clock.now(), mode: clock.mode, factor: clock.factor, nextDue: simulation.nextDue() };
    });
  }

  async setClock(mode: ClockMode, factor: number): Promise<ClockReading> {
    await this.#runDue();
    const { clock } = this.#lifecycle.requireLive();
    clock.setMode(mode, factor);
    this.#dueTimer.disarm();
    this.#commits.now();
    return this.clock();
  }

  advance(target: AdvanceTarget): Promise<AdvanceResult | undefined> {
    return this.#advancer.advance(target);
  }

  inspect<T>(stepsIn: (world: World, now: SimTime) => Generator<undefined, T>): Promise<T> {
    return this.#advancer.inspect(stepsIn);
  }

  /** Sets what arrives during every later `advance`. */
  attachArrivals(arrivals: ArrivalSource): void {
    this.#advancer.attachArrivals(arrivals);
  }

  advanceWithArrivals(arrivals: ArrivalSource, to: SimTime): Promise<void> {
    return this.#advancer.advanceWithArrivals(arrivals, to);
  }

  events(since: number, limit: number): Promise<readonly RecordedEvent[]> {
    return this.#stored.events(since, limit);
  }

  requests(since: number, limit: number): Promise<readonly RequestLogEntry[]> {
    return this.#stored.requests(since, limit);
  }

  async clearRequests(): Promise<void> {
    await this.#runDue();
    const { simulation, requests } = this.#lifecycle.requireLive();
    try {
      simulation.journal.clearRequests();
      requests?.clear();
      this.#commits.followers.notify();
    } catch (error) {
      const failure = `the request log of world "${this.name}" could not be cleared`;
      this.#lifecycle.reportFailure(error, failure);
      throw storeUnavailable(failure, error);
    }
  }

  attachReports(source: ReportSource): void {
    this.#reports.attach(source);
  }

  subscribe(listener: EventListener): () => void {
    return this.#commits.followers.subscribe(listener);
  }

  subscribeToRequests(listener: () => void): () => void {
    return this.#commits.followers.subscribeToRequests(listener);
  }

  newestRequest(): number {
    return this.#lifecycle.requireLive().requests?.newest ?? 0;
  }

  sizeBytes(): number {
    return this.#lifecycle.requireLive().simulation.journal.sizeBytes();
  }

  diagnostics(): WorldDiagnostics {
    return this.#lifecycle.diagnostics();
  }

  peek(): { readonly world: World; readonly now: SimTime; readonly factor: number } {
    const { simulation, clock } = this.#lifecycle.requireLive();
    const { world } = simulation;
    // During an advance the clock follows with the next commit.
    return { world, now: Math.max(clock.now(), world.at), factor: clock.factor };
  }

  history(): HistoryInfo {
    const { history, simulation, upkeepFailure } = this.#lifecycle.requireLive();
    const { journal, committedSeq } = simulation;
    return { id: history.historyId, forgottenSeq: journal.oldest.seq, seq: committedSeq, upkeepFailure };
  }

  /** Runs what is due and makes the clock's position durable, so that a copy of the file is current. */
  async flush(): Promise<void> {
    await this.#runDue();
    await this.#reports.markData(true);
    this.#commits.now();
  }

  viewAt(point: PointSelector): Promise<Result<PastView>> {
    return this.#stored.viewAt(point);
  }

  /** A point of the history that is committed. */
  pointAt(point: PointSelector): Promise<Result<HistoryPoint>> {
    return this.#stored.pointAt(point);
  }

  async compact(maxAge: DurationMs): Promise<HistoryInfo> {
    // Waits for the end of an advance, which views of the past do not.
    await this.#runDue();
    await compactHistory(this.#lifecycle, maxAge, (point) => this.viewAt(point));
    if (this.#lifecycle.live?.simulation.hasUncommittedRows) this.#commits.now();
    return this.history();
  }

  /** Replaces this history with another one; `swap` runs while neither is open. Ends it if `swap` returns a reason. */
  async replace(swap: () => Promise<string | undefined>): Promise<void> {
    await this.#reports
      .markData(true)
      ?.catch((error) =>
        this.#lifecycle.reportFailure(error, "the positions of data could not be stored before a restore"),
      );
    await this.#gate.run(async () => {
      try {
        await this.#advancer.runDueUntil(this.now());
        this.#commits.now();
      } catch (error) {
        // A world that cannot be opened has nothing to commit, and restoring is how to repair it.
        if (!this.#lifecycle.couldNotOpen(error)) throw error;
      }
      await this.#lifecycle.replace(swap);
    });
    try {
      await this.#runDue();
    } catch (error) {
      // The history is replaced all the same, and the next transaction opens it again.
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    this.#commits.followers.notify();
  }

  /** Ends long advances at their next commit, and event streams at once. */
  beginShutdown(): void {
    this.#lifecycle.beginShutdown();
    this.#commits.followers.notify();
  }

  /**
   * Closes the file; the next use opens it again and runs what fell due in the meantime, at its due instants. Does
   * nothing while the world is in use or not open. Returns whether it was closed.
   */
  async closeUntilNextUse(isRequested: () => boolean): Promise<boolean> {
    const mustStay = () => isRequested() || this.isInUse || this.#lifecycle.live === undefined;
    if (mustStay()) return false;
    await this.#runDue();
    if (mustStay()) return false;
    this.#commits.now();
    this.#lifecycle.closeUntilNextUse();
    return true;
  }

  /** Commits what is pending and closes the file. */
  async close(): Promise<void> {
    if (this.#lifecycle.isClosed) return;
    this.beginShutdown();
    await this.#gate.running?.catch(() => undefined);
    if (this.#lifecycle.live !== undefined) runInBackground(() => this.#commits.now());
    this.#lifecycle.close();
    this.#commits.followers.notify();
  }

  /** Runs what is due. The promise, if there is one, resolves when it is durable. */
  #runDue(): undefined | Promise<undefined> {
    return this.transact(() => undefined);
  }

  #armDueTimerIfOpen(): void {
    const { live, isClosed } = this.#lifecycle;
    if (live !== undefined && !isClosed) this.#dueTimer.arm(live);
  }
}
