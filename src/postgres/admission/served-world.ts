import { randomBytes } from "node:crypto";
import { CLIENT_CONNECTION_PREFIX } from "../../platform/model/connection.ts";
import type { DatabaseSchema, SchemaRequest } from "../../platform/model/database-schema.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import type { Verifier } from "../../worlds/scram-verifier.ts";
import type { Report, WorldHandle } from "../../worlds/world-handle.ts";
import { verifierOfRole } from "../compute/branch-content.ts";
import type { ComputeCluster } from "../compute/compute-cluster.ts";
import { KnownVerifiers } from "../compute/known-verifiers.ts";
import { readSchema } from "../content/read-schema.ts";
import { WorldData, type WorldDataOptions } from "../data/world-data.ts";
import type { Engine, RunningEngine } from "../engine/engine.ts";
import { networkRejection } from "../login/network-rules.ts";
import { mockVerifier } from "../login/scram.ts";
import {
  CLIENT_ERRORS,
  ConnectionRejected,
  dataLimitExceeded,
  refusedConnection,
} from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";
import { mayExcludeSessions, statementMayExcludeSessions } from "../statements/excludes-sessions.ts";
import {
  type Admitted,
  type ConnectingClient,
  connect,
  disconnect,
  endureFaults,
  matchConnection,
} from "./admit-connection.ts";
import { awaitStart } from "./await-start.ts";
import { ComputeChanges } from "./compute-changes.ts";
import { ServedCompute, type ServedSession } from "./served-compute.ts";
import type { ComputeSpans } from "./spans.ts";
import { WorldClusters } from "./world-clusters.ts";
import { WorldEvents } from "./world-events.ts";
import { WorldSubscription } from "./world-subscription.ts";

export type ServedWorldOptions = WorldDataOptions & {
  readonly engine: Engine;
  readonly ignoresLoad?: boolean | undefined;
  readonly reserveEngine: () => Promise<() => void>;
  /** Why no data may be added to this server; `undefined` if it may. */
  readonly dataProblem: () => string | undefined;
  readonly onEngineStarted: (engine: RunningEngine) => void;
  readonly onError: (error: unknown, message: string) => void;
};

/** Connects the sessions of clients with the rules of one world: admission, starts, work, and suspends. */
export class ServedWorld {
  readonly world: WorldHandle;
  readonly #options: ServedWorldOptions;
  readonly #computes = new Map<string, ServedCompute>();
  readonly #mockSecret = randomBytes(32);
  readonly #verifiers = new KnownVerifiers();
  readonly #changes = new ComputeChanges();
  /** Computes with an open span. Every query looks for their reports. */
  readonly #openSpans = new Set<ComputeSpans>();
  /** Used by connections and engines. */
  readonly #subscription: WorldSubscription;
  readonly #data: WorldData;
  readonly #clusters: WorldClusters;
  #lastConnection = 0;

  constructor(world: WorldHandle, options: ServedWorldOptions) {
    this.world = world;
    this.#options = options;
    const { onError } = options;
    this.#data = new WorldData(world, options);
    this.#clusters = new WorldClusters(world, {
      engine: options.engine,
      data: this.#data,
      onError,
      stopReplica: (replicaId) => this.#computes.get(replicaId)?.stop(),
      writer: (primaryId, { branchId, replicaId }) => {
        if (primaryId !== undefined) return this.#serve(primaryId).host;
        return this.#serveAs(branchId, replicaId, () => this.#clusters.openPrimary(replicaId)).host;
      },
    });
    const events = new WorldEvents({
      computes: this.#computes,
      changes: this.#changes,
      data: this.#data,
      onError,
    });
    this.#subscription = new WorldSubscription(world, (recorded, failure) =>
      events.follow(recorded, failure),
    );
    world.attachReports({
      next: (until) => this.#nextReport(until),
      markData: (isCopied) => this.#markData(isCopied),
    });
  }

  /**
   * The verifier of a role's password, or one that no password fits if there is no such role. Throws
   * `ConnectionRejected` if the project does not allow connections from the address.
   */
  async verifierOf(endpointId: string, role: string, address: string): Promise<Verifier> {
    await this.#computes.get(endpointId)?.host.contentIsKnown();
    const verifier = await this.world.transactForClient((transaction) => {
      const compute = findReachableCompute(transaction.world, endpointId);
      if (!compute.ok) throw new ConnectionRejected(refusedConnection(compute.refusal, ""));
      const rejection = networkRejection(transaction, endpointId, address);
      if (rejection !== undefined) throw new ConnectionRejected(rejection);
      return verifierOfRole(transaction, compute.value.branchId, role, this.#verifiers);
    });
    return verifier ?? mockVerifier(this.#mockSecret, role);
  }

  /**
   * Admits a client: its connection counts in the world, and starts the compute if it is idle. Resolves when
   * the compute is active.
   */
  async admit(endpointId: string, database: string, pooled: boolean, source: string): Promise<Admitted> {
    this.#checkDataLimit(endpointId);
    this.#lastConnection += 1;
    const connectionId = `${CLIENT_CONNECTION_PREFIX}${this.#lastConnection}`;
    const admitted: Admitted = { endpointId, connectionId };
    this.#subscription.begin(connectionId);
    try {
      await this.#computes.get(endpointId)?.host.contentIsKnown();
      const client = { database, pooled, source };
      const connected =
        (await this.world.transactForClient((transaction) =>
          transaction.world.faults.size === 0 ? connect(transaction, admitted, client) : undefined,
        )) ?? (await this.#connectWithFaults(admitted, client));
      if (connected instanceof ConnectionRejected) throw connected;
      const { readyAt } = connected;
      const host = () => this.#serve(admitted.endpointId).host;
      if (readyAt !== undefined)
        await awaitStart({ world: this.world, changes: this.#changes, host }, admitted, readyAt);
    } catch (error) {
      await this.leave(admitted);
      throw error;
    }
    return admitted;
  }

  async #connectWithFaults(admitted: Admitted, client: ConnectingClient) {
    const faults = await this.world.transact((transaction) =>
      matchConnection(transaction, admitted.endpointId),
    );
    await endureFaults(this.world, faults);
    if (faults.endsAfter !== undefined) admitted.remainingQueries = faults.endsAfter;
    return this.world.transactForClient((transaction) => connect(transaction, admitted, client));
  }

  /** Before the world starts the compute, which could not run. */
  #checkDataLimit(endpointId: string): void {
    if (this.#computes.get(endpointId)?.host.isRunning === true) return;
    const problem = this.#options.dataProblem();
    if (problem !== undefined) throw new ConnectionRejected(dataLimitExceeded(problem));
  }

  /** The client has closed its connection. */
  async leave({ endpointId, connectionId }: Admitted): Promise<void> {
    this.#computes.get(endpointId)?.detach(connectionId);
    try {
      await this.world.transactForClient((transaction) => disconnect(transaction, endpointId, connectionId));
    } finally {
      this.#subscription.end(connectionId);
    }
  }

  /** The compute of an admitted client. The world may end the session from now on. */
  attach({ endpointId, connectionId }: Admitted, session: ServedSession): ServedCompute {
    const served = this.#serve(endpointId);
    served.attach(connectionId, session);
    return served;
  }

  /**
   * Whether the session may send work to its engine now: all work that is due by now has been done, and its
   * compute is still active. Begins a span if none is open.
   */
  beginWork(admitted: Admitted): boolean | Promise<boolean> {
    const { endpointId, connectionId, allowedAtSeq } = admitted;
    const compute = this.#serve(endpointId);
    // If the world has not changed, no transaction is needed, as for most queries.
    if (
      allowedAtSeq !== undefined &&
      allowedAtSeq === this.world.settledSeq() &&
      compute.spans.continue(connectionId)
    )
      return true;
    return this.world.transactForClient((transaction) => {
      if (!compute.beginWork(transaction, connectionId)) return false;
      admitted.allowedAtSeq = transaction.world.seq;
      return true;
    });
  }

  /** Begins the query of these messages. Throws if a fault ends the connection instead. */
  beginQuery(admitted: Admitted, messages: Buffer): boolean | Promise<boolean> {
    const { remainingQueries } = admitted;
    if (remainingQueries === 0) throw new ConnectionRejected(CLIENT_ERRORS.terminated);
    if (remainingQueries !== undefined) admitted.remainingQueries = remainingQueries - 1;
    return this.#begin(admitted, mayExcludeSessions(messages));
  }

  /** Begins the work of these statements. */
  beginStatements(admitted: Admitted, statements: readonly { text: string }[]): boolean | Promise<boolean> {
    return this.#begin(
      admitted,
      statements.some(({ text }) => statementMayExcludeSessions(text)),
    );
  }

  #begin(admitted: Admitted, excludesSessions: boolean): boolean | Promise<boolean> {
    return excludesSessions ? this.#beginExclusion(admitted) : this.beginWork(admitted);
  }

  async #beginExclusion(admitted: Admitted): Promise<boolean> {
    if (!(await this.beginWork(admitted))) return false;
    await this.#serve(admitted.endpointId).beginExclusion(admitted.connectionId);
    return true;
  }

  /** Gives what the sessions of the compute have read so far to the view of the extension. Never rejects. */
  showReads({ endpointId }: Admitted): Promise<void> {
    return this.#serve(endpointId).showReads();
  }

  endWork({ endpointId, connectionId }: Admitted): void {
    this.#serve(endpointId).endWork(connectionId);
  }

  /**
   * Resolves when SQL and the API have the roles and databases of each other on a branch whose engine runs, or cannot have them
   * soon. Never rejects.
   */
  async contentSettled(branchId: string): Promise<void> {
    for (const compute of this.#computes.values())
      if (compute.host.isRunning && compute.host.branchId === branchId) await compute.contentSettled();
  }

  /** Reads the schema of a database, without a compute. `undefined` if there is no such database yet. */
  async readSchema({ branchId, database, ...which }: SchemaRequest): Promise<DatabaseSchema | undefined> {
    const schema = await this.#data.read(
      branchId,
      which,
      (engine) => readSchema(engine, database),
      () => this.#reserveEngine(),
    );
    return schema as DatabaseSchema | undefined;
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
    for (const { host } of this.#computes.values()) if (host.volumeId === volumeId) await host.stop();
  }

  /** Ends the sessions of the engine that uses a volume, and stops it. */
  async endSessionsOn(volumeId: string, error: ClientError): Promise<void> {
    for (const compute of this.#computes.values()) {
      if (compute.host.volumeId !== volumeId || !compute.host.isRunning) continue;
      compute.endSessions(error);
      await compute.host.stop();
    }
  }

  /** Ends all sessions and stops all engines. */
  async close(error: ClientError): Promise<void> {
    this.#subscription.close();
    for (const compute of this.#computes.values()) compute.endSessions(error);
    try {
      await this.world.transact((transaction) => {
        for (const spans of [...this.#openSpans]) spans.endNow(transaction);
      });
    } catch {
      // A world that was closed or deleted first; its work ends when it is opened again.
    }
    await Promise.all([...this.#computes.values()].map(({ host }) => host.stop()));
  }

  #serve(endpointId: string): ServedCompute {
    return this.#serveAs(endpointId, endpointId, () => this.#clusters.open(endpointId));
  }

  /** `key`: what the host belongs to: a compute, or a branch without a primary compute. */
  #serveAs(key: string, endpointId: string, open: () => Promise<ComputeCluster>): ServedCompute {
    const known = this.#computes.get(key);
    if (known !== undefined) return known;
    const { ignoresLoad, onEngineStarted, onError } = this.#options;
    const served = new ServedCompute(this.world, endpointId, {
      open,
      reserve: () => this.#reserveEngine(),
      ignoresLoad,
      openSpans: this.#openSpans,
      onStarted: onEngineStarted,
      onError,
    });
    this.#computes.set(key, served);
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

  /** Before a manual clock moves, and before the world is copied. */
  #markData(isCopied: boolean): Promise<void> | undefined {
    const sampled = [...this.#computes.values()].flatMap((compute) => compute.sampleNow() ?? []);
    const marked = isCopied ? this.#data.storeAll() : this.#data.markAll();
    if (sampled.length === 0) return marked;
    return Promise.all([...sampled, marked]).then(() => undefined);
  }

  /** The earliest report. Reports of other computes stay until later. */
  #nextReport(until: number): Report | undefined {
    let first: { readonly spans: ComputeSpans; readonly at: number } | undefined;
    for (const spans of this.#openSpans) {
      const at = spans.nextReportAt(until);
      if (at !== undefined && (first === undefined || at < first.at)) first = { spans, at };
    }
    return first?.spans.takeReport(until);
  }
}
