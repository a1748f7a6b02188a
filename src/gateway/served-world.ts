import { randomBytes } from "node:crypto";
import type { Engine } from "../engine/engine.ts";
import { waitUntil } from "../http/world-clock-wait.ts";
import { CLIENT_CONNECTION_PREFIX } from "../platform/compute/connection.ts";
import { findReachableCompute } from "../platform/compute/decide-activity.ts";
import { findConnection } from "../platform/compute/open-connections.ts";
import type { SimTime } from "../platform/core/time.ts";
import type { RecordedEvent } from "../platform/events.ts";
import type { Volumes } from "../volumes/volumes.ts";
import type { Verifier } from "../worlds/scram-verifier.ts";
import type { WorldHandle } from "../worlds/world-handle.ts";
import { cacheStatisticsOf, enginePlan, learnContent, verifierOfRole } from "./branch-content.ts";
import { ComputeChanges } from "./compute-changes.ts";
import { ComputeHost } from "./compute-host.ts";
import type { BranchVolumes } from "./data/branch-volumes.ts";
import { MarkSchedule } from "./data/mark-schedule.ts";
import { WorldData } from "./data/world-data.ts";
import { CLIENT_ERRORS, ConnectionRejected, refusedConnection } from "./errors.ts";
import { mockVerifier } from "./login/scram.ts";
import type { ClientError } from "./messages.ts";
import { ComputeSpans } from "./spans.ts";
import { type Admitted, connect, disconnect } from "./world-connections.ts";
import { WorldSubscription } from "./world-subscription.ts";

/** A session publishes its statistics when it has been idle for a moment, or ends. Less than a span's silence. */
const STATISTICS_DELAY_MS = 250;

export type ServedWorldOptions = {
  readonly engine: Engine;
  readonly volumes: Volumes;
  readonly branchVolumes: BranchVolumes;
  readonly reserveEngine: () => Promise<() => void>;
  readonly onError: (error: unknown, message: string) => void;
};

type ServedCompute = {
  readonly host: ComputeHost;
  readonly spans: ComputeSpans;
  readonly marks: MarkSchedule;
  readonly sessions: Map<string, (error: ClientError) => void>;
};

/** Connects the sessions of clients with the rules of one world: admission, starts, work, and suspends. */
export class ServedWorld {
  readonly world: WorldHandle;
  readonly #options: ServedWorldOptions;
  readonly #computes = new Map<string, ServedCompute>();
  readonly #sampling = new Map<string, NodeJS.Timeout>();
  readonly #mockSecret = randomBytes(32);
  readonly #changes = new ComputeChanges();
  /** Its users are connections and engines. */
  readonly #subscription: WorldSubscription;
  readonly #data: WorldData;
  #lastConnection = 0;

  constructor(world: WorldHandle, options: ServedWorldOptions) {
    this.world = world;
    this.#options = options;
    this.#subscription = new WorldSubscription(world, (events) => this.#onEvents(events));
    this.#data = new WorldData(world, options.volumes, options.branchVolumes);
    world.attachReports({
      next: (until) => this.#nextReport(until),
      markData: (isCopied) => (isCopied ? this.#data.storeAll() : this.#data.markAll()),
    });
  }

  /** The verifier of a role's password, or one that no password fits if there is no such role. */
  async verifierOf(endpointId: string, role: string): Promise<Verifier> {
    await this.#computes.get(endpointId)?.host.contentIsKnown();
    const verifier = await this.world.transact((transaction) => {
      const compute = findReachableCompute(transaction.world, endpointId);
      if (!compute.ok) throw new ConnectionRejected(refusedConnection(compute.refusal, ""));
      return verifierOfRole(transaction, compute.value.branchId, role);
    });
    return verifier ?? mockVerifier(this.#mockSecret, role);
  }

  /**
   * Admits a client: its connection counts in the world, and starts the compute if it is idle. Resolves when
   * the compute is active.
   */
  async admit(endpointId: string, database: string, pooled: boolean, source: string): Promise<Admitted> {
    this.#lastConnection += 1;
    const connectionId = `${CLIENT_CONNECTION_PREFIX}${this.#lastConnection}`;
    const admitted = { endpointId, connectionId };
    this.#subscription.begin(connectionId);
    try {
      await this.#computes.get(endpointId)?.host.contentIsKnown();
      const readyAt = await this.world.transact((transaction) =>
        connect(transaction, admitted, { database, pooled, source }),
      );
      if (readyAt instanceof ConnectionRejected) throw readyAt;
      await this.#untilActive(admitted, readyAt);
    } catch (error) {
      await this.leave(admitted);
      throw error;
    }
    return admitted;
  }

  /** The client has closed its connection. */
  async leave({ endpointId, connectionId }: Admitted): Promise<void> {
    this.#computes.get(endpointId)?.sessions.delete(connectionId);
    try {
      await this.world.transact((transaction) => disconnect(transaction, endpointId, connectionId));
    } finally {
      this.#subscription.end(connectionId);
    }
  }

  /** The engine's host of a compute. `close` is called when the world ends the session. */
  attach({ endpointId, connectionId }: Admitted, close: (error: ClientError) => void): ServedCompute {
    const served = this.#serve(endpointId);
    served.sessions.set(connectionId, close);
    return served;
  }

  /**
   * Whether the session may send work to its engine now: all work that is due by now has been done, and its
   * compute is still active. Begins a span if none is open.
   */
  beginWork({ endpointId, connectionId }: Admitted): boolean | Promise<boolean> {
    return this.world.transact((transaction) => {
      const { world, now } = transaction;
      const phase = world.computes.get(endpointId)?.phase;
      if (phase?.state !== "active" || phase.suspending) return false;
      if (findConnection(world, endpointId, connectionId, now) === undefined) return false;
      this.#serve(endpointId).spans.begin(transaction, connectionId);
      return true;
    });
  }

  endWork({ endpointId, connectionId }: Admitted): void {
    const { spans, host, marks } = this.#serve(endpointId);
    spans.end(connectionId, this.world.now());
    marks.workEnded();
    if (this.#sampling.has(endpointId)) return;
    const timer = setTimeout(() => {
      this.#sampling.delete(endpointId);
      host.sampleBlocks().then(
        (blocks) => {
          if (blocks !== undefined) spans.addBlocks(blocks);
        },
        // The engine was stopped meanwhile.
        () => undefined,
      );
    }, STATISTICS_DELAY_MS);
    this.#sampling.set(endpointId, timer.unref());
  }

  /** Stops one engine that no session uses; `undefined` if there is none. */
  stopUnusedEngine(): Promise<void> | undefined {
    for (const { host } of this.#computes.values()) {
      const stopped = host.stopIfUnused();
      if (stopped !== undefined) return stopped;
    }
    return undefined;
  }

  /** Stops the engine that uses a volume, if there is one. Its compute was deleted. */
  async stopEngineOn(volumeId: string): Promise<void> {
    for (const { host } of this.#computes.values()) if (host.volume?.id === volumeId) await host.stop();
  }

  /** Ends all sessions and stops all engines. */
  async close(error: ClientError): Promise<void> {
    this.#subscription.close();
    for (const endpointId of this.#computes.keys()) this.#endSessions(endpointId, error);
    try {
      await this.world.transact((transaction) => {
        for (const { spans } of this.#computes.values()) spans.endNow(transaction);
      });
    } catch {
      // A world that was closed or deleted first; its work ends when it is opened again.
    }
    await Promise.all([...this.#computes.values()].map(({ host }) => host.stop()));
  }

  #serve(endpointId: string): ServedCompute {
    let served = this.#computes.get(endpointId);
    if (served === undefined) {
      const { engine, onError } = this.#options;
      const spans = new ComputeSpans(this.world, endpointId);
      const host: ComputeHost = new ComputeHost({
        engine,
        data: this.#data,
        plan: async () =>
          this.world.transact((transaction) => enginePlan(transaction, this.world.history().id, endpointId)),
        learn: async (changes) => {
          const content = await this.world.transact((transaction) =>
            learnContent(transaction, endpointId, changes),
          );
          if (content instanceof Error) throw content;
          return content;
        },
        reserve: () => this.#reserveEngine(),
        onUnexpectedExit: (log) => {
          onError(new Error(log), `the Postgres process of ${endpointId} has exited`);
          this.#endSessions(endpointId, CLIENT_ERRORS.terminated);
        },
      });
      const marks = new MarkSchedule(() => host.mark(() => spans.idleSince));
      served = { spans, host, marks, sessions: new Map() };
      this.#computes.set(endpointId, served);
    }
    return served;
  }

  async #reserveEngine(): Promise<() => void> {
    const free = await this.#options.reserveEngine();
    this.#subscription.begin(free);
    return () => {
      free();
      this.#subscription.end(free);
    };
  }

  #nextReport(until: number) {
    let first: ReturnType<ComputeSpans["nextReport"]>;
    for (const { spans } of this.#computes.values()) {
      const report = spans.nextReport(until);
      if (report !== undefined && (first === undefined || report.at < first.at)) first = report;
    }
    return first;
  }

  async #untilActive({ endpointId, connectionId }: Admitted, readyAt: number): Promise<void> {
    for (;;) {
      const changed = this.#changes.next(endpointId);
      const state = await this.world.transact(({ world, now }) => {
        const compute = world.computes.get(endpointId);
        if (compute === undefined) return "gone";
        if (findConnection(world, endpointId, connectionId, now) === undefined) return "failed";
        return compute.phase.state === "active" && !compute.phase.suspending ? "active" : "starting";
      });
      if (state === "active") return;
      if (state === "gone") throw new ConnectionRejected(CLIENT_ERRORS.unknownEndpoint);
      if (state === "failed") throw new ConnectionRejected(CLIENT_ERRORS.computeFailed);
      const { mode } = await this.world.clock();
      if (mode === "manual" && this.world.now() < readyAt) await waitUntil(this.world, readyAt);
      else await changed;
    }
  }

  #onEvents(events: readonly RecordedEvent[]): Promise<void> | void {
    let newData: SimTime | undefined;
    const restored: string[] = [];
    // None: the world was restored or is closing, so whatever the sessions know may be wrong.
    if (events.length === 0) this.#stopAll();
    for (const event of events) {
      switch (event.type) {
        case "ComputeSuspending":
        case "ComputeSuspended":
        case "ComputeDeleted":
          this.#stop(event.endpointId);
          break;
        case "WorldReset":
          this.#stopAll();
          break;
        case "BranchRestored":
          restored.push(event.branchId);
          newData = event.at;
          break;
        case "BranchCreated":
        case "SnapshotCreated":
          newData = event.at;
          break;
        case "SpanEnded":
          this.#publishCacheStatistics(event.endpointId);
          break;
        case "RoleCreated":
        case "RoleDeleted":
        case "RolePasswordReset":
        case "DatabaseCreated":
        case "DatabaseUpdated":
        case "DatabaseDeleted":
          this.#applyContent(event.branchId);
          break;
        default:
      }
      if ("endpointId" in event && typeof event.endpointId === "string")
        this.#changes.notify(event.endpointId);
    }
    if (newData !== undefined) return this.#followData(newData, restored);
  }

  /** Restored branches have other data from now on. What their clients have done is marked before. */
  async #followData(at: SimTime, restoredBranches: readonly string[]): Promise<void> {
    const computes = [...this.#computes].filter(([, { host }]) =>
      restoredBranches.includes(host.branchId ?? ""),
    );
    for (const [endpointId] of computes) this.#endSessions(endpointId, CLIENT_ERRORS.terminated);
    try {
      await this.#data.resolveReferences(at);
    } catch (error) {
      this.#options.onError(error, "the data of a new branch or snapshot could not be marked");
    }
    for (const [endpointId] of computes) this.#stop(endpointId);
  }

  #publishCacheStatistics(endpointId: string): void {
    const { host } = this.#serve(endpointId);
    if (!host.isRunning) return;
    Promise.resolve(this.world.transact(({ world }) => cacheStatisticsOf(world.computes.get(endpointId))))
      .then((statistics) => host.publishCacheStatistics(statistics))
      .catch((error) =>
        this.#options.onError(error, `the cache statistics of ${endpointId} could not be written`),
      );
  }

  #stopAll(): void {
    for (const endpointId of [...this.#computes.keys()]) this.#stop(endpointId);
    this.#changes.notifyAll();
  }

  /** Ends the sessions, then stops the engine. */
  #stop(endpointId: string): void {
    const { host } = this.#serve(endpointId);
    this.#endSessions(endpointId, CLIENT_ERRORS.terminated);
    host
      .stop()
      .catch((error) => this.#options.onError(error, `the Postgres process of ${endpointId} did not stop`));
  }

  #endSessions(endpointId: string, error: ClientError): void {
    const served = this.#computes.get(endpointId);
    if (served === undefined) return;
    const closes = [...served.sessions.values()];
    served.sessions.clear();
    for (const close of closes) close(error);
  }

  #applyContent(branchId: string): void {
    for (const [endpointId, { host }] of this.#computes) {
      if (!host.isRunning) continue;
      Promise.resolve(
        this.world.transact(({ world }) => world.computes.get(endpointId)?.branchId === branchId),
      )
        .then((isOfBranch) => (isOfBranch ? host.syncContent() : undefined))
        .catch((error) =>
          this.#options.onError(error, `roles or databases of ${branchId} could not be applied`),
        );
    }
  }
}
