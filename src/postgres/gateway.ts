import type { Duplex } from "node:stream";
import { type ReadSchema, SchemaUnavailable } from "../platform/model/database-schema.ts";
import type { WorldHandle, WorldsHandle } from "../worlds/world-handle.ts";
import { type EngineFigures, EnginePlaces } from "./admission/engine-places.ts";
import { ServedWorld } from "./admission/served-world.ts";
import { BranchVolumes } from "./data/branch-volumes.ts";
import type { DataLimit } from "./data/data-limit.ts";
import { DataRemoval } from "./data/data-removal.ts";
import { EngineExited } from "./data/engine-exit.ts";
import { type DatabaseSeed, seedData } from "./data/seed-data.ts";
import { UsageMeter } from "./data/usage-meter.ts";
import { type Engine, EngineError } from "./engine/engine.ts";
import { KnownPasswords } from "./login/known-passwords.ts";
import { LoginLimit } from "./login/login-limit.ts";
import type { TlsIdentity } from "./login/tls-identity.ts";
import { Pooler } from "./pooler/pooler.ts";
import {
  CLIENT_ERRORS,
  ConnectionRejected,
  dataLimitExceeded,
  engineUnavailable,
  unknownWorld,
} from "./protocol/errors.ts";
import { errorResponse } from "./protocol/messages.ts";
import { CancelKeys } from "./relay/cancel-keys.ts";
import { EngineLogins } from "./relay/engine-login.ts";
import { SqlOverHttp } from "./serverless/sql-over-http.ts";
import { type ClientOrigin, type SessionOptions, serveClient } from "./sessions/client-session.ts";
import type { StatementLog } from "./statements/statement-log.ts";
import { MissingVolume } from "./volumes/volume-origins.ts";
import type { Volumes } from "./volumes/volumes.ts";

export type GatewayOptions = {
  readonly worlds: WorldsHandle;
  readonly defaultWorld: string;
  /**
   * Stops the processes of a killed server. Throws `EngineError` if no Postgres is installed. Called when the
   * first client connects.
   */
  readonly openEngine: () => Promise<Engine>;
  readonly volumes: Volumes;
  readonly tls: TlsIdentity;
  readonly requireTls: boolean;
  /** Whether each connection of the port begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  /** Whether the load of engines (blocks that sessions read, processor time) is not reported to their worlds. */
  readonly ignoresLoad?: boolean | undefined;
  /** Postgres processes that may run at the same time. */
  readonly maxEngines: number;
  /** Log that each branch retains, in bytes. */
  readonly maxBranchHistory: number;
  readonly dataLimit: DataLimit;
  /** Data may have become unneeded. `removeUnusedVolumes` is called soon. */
  readonly requestRemoval: () => void;
  readonly onError: (error: unknown, message: string) => void;
  /** Log of the statements of clients; absent if statements are not logged. */
  readonly statements?: StatementLog | undefined;
};

export type GatewayFigures = EngineFigures & {
  readonly connections: number;
  /** Connections that the gateway has ended with an error, by SQLSTATE. */
  readonly errors: ReadonlyMap<string, number>;
};

type OpenedWorld = { readonly world: WorldHandle; readonly served: Promise<ServedWorld> };

/** Accepts connections of Postgres clients, and relays them to the engines of their computes. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #streams = new Set<Duplex>();
  readonly #cancelKeys = new CancelKeys();
  readonly #passwords = new KnownPasswords();
  readonly #logins = new EngineLogins(this.#cancelKeys);
  readonly #sessionOptions: SessionOptions;
  readonly #worlds = new Map<string, OpenedWorld>();
  readonly #meter: UsageMeter;
  readonly #removal: DataRemoval;
  readonly #places: EnginePlaces;
  readonly sqlOverHttp: SqlOverHttp;
  #engine: Engine | undefined;
  readonly #errors = new Map<string, number>();
  #connections = 0;
  #branchVolumes: BranchVolumes | undefined;
  #isClosing = false;

  constructor(options: GatewayOptions) {
    const { worlds, volumes, maxEngines, maxBranchHistory, dataLimit, requestRemoval, onError } = options;
    this.#options = options;
    this.#meter = new UsageMeter({
      volumes,
      limit: dataLimit,
      stopEngineOn: (volumeId) => this.#endSessionsOn(volumeId),
      onError: (error) => onError(error, "the data of branches could not be measured; it is tried again"),
    });
    this.#removal = new DataRemoval({
      worlds,
      volumes,
      maxBranchHistory,
      requestRemoval,
      onError,
      engine: () => this.#engine,
      servedWorlds: () => this.#servedWorlds(),
    });
    this.#places = new EnginePlaces({
      maxEngines,
      dataLimit,
      stopUnusedEngine: () => this.#stopUnusedEngine(),
    });
    const { tls, requireTls, proxyProtocol } = options;
    const clientOptions = this.#clientOptions();
    this.#sessionOptions = {
      ...clientOptions,
      pooler: new Pooler(this.#cancelKeys, this.#logins),
      loginLimit: new LoginLimit(),
      tls,
      requireTls,
      proxyProtocol,
      onError,
    };
    this.sqlOverHttp = new SqlOverHttp(clientOptions);
  }

  /** Finds Postgres, and stops the processes of a killed server. Rejects with an `EngineError`. */
  async openEngine(): Promise<Engine> {
    this.#engine = await this.#options.openEngine();
    return this.#engine;
  }

  /**
   * Deletes the data of worlds and branches that do not exist any more. Stops the processes of a killed server
   * first.
   */
  removeUnusedVolumes(): Promise<void> {
    return this.#removal.removeAfter(async () => {
      if (this.#options.volumes.mayHaveProcesses()) await this.openEngine();
      await this.#closeReplacedWorlds();
    });
  }

  /** Reads a schema. Rejects with a `SchemaUnavailable` if it cannot be read now. */
  readonly readSchema: ReadSchema = async (world, request) => {
    try {
      return await (await this.#servedWorld(world)).readSchema(request);
    } catch (error) {
      const isExpected =
        error instanceof ConnectionRejected ||
        error instanceof EngineError ||
        error instanceof EngineExited ||
        error instanceof MissingVolume;
      throw isExpected ? new SchemaUnavailable(error.message, { cause: error }) : error;
    }
  };

  /** Resolves when SQL and the API have the roles and databases of each other. `undefined`: no client has used the world. */
  settleContent(world: string, branchId: string): Promise<void> | undefined {
    return this.#worlds.get(world)?.served.then(
      (served) => served.contentSettled(branchId),
      () => undefined,
    );
  }

  /** Serves the world, so that the positions of its data are stored before it is copied. */
  async prepareCopy(world: string): Promise<void> {
    await this.#servedWorld(world);
  }

  /** Fills databases of the default world. Rejects with a `ScriptError` or an `EngineError`. */
  async seed(seed: DatabaseSeed): Promise<void> {
    const { worlds, defaultWorld, volumes } = this.#options;
    const world = worlds.world(defaultWorld);
    if (world.ok) await seedData(world.value, await this.openEngine(), volumes, seed);
  }

  /** Ends all sessions and stops all engines. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#meter.close();
    await this.#removal.close();
    await Promise.all(
      (await this.#servedWorlds()).map((served) => served.close(CLIENT_ERRORS.serverStopping)),
    );
    for (const stream of this.#streams) stream.destroy();
    this.#engine?.close();
  }

  figures(): GatewayFigures {
    return {
      connections: this.#connections,
      errors: this.#errors,
      ...this.#places.figures(),
    };
  }

  /** Bytes of volumes that no world needs any more. */
  waitingBytes(): number {
    return this.#removal.waitingBytes();
  }

  /** Serves the connection of a client until its end. */
  accept(stream: Duplex, origin: ClientOrigin): void {
    this.#connections += 1;
    if (this.#isClosing) {
      stream.end(errorResponse(CLIENT_ERRORS.serverStopping));
      return;
    }
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    void serveClient(stream, this.#sessionOptions, origin);
  }

  #clientOptions() {
    return {
      onClientError: (code: string) => this.#errors.set(code, (this.#errors.get(code) ?? 0) + 1),
      cancelKeys: this.#cancelKeys,
      logins: this.#logins,
      passwords: this.#passwords,
      statements: this.#options.statements,
      servedWorld: async (name: string | undefined) => {
        if (this.#isClosing) throw new ConnectionRejected(CLIENT_ERRORS.serverStopping);
        return this.#servedWorld(name ?? this.#options.defaultWorld);
      },
    };
  }

  /** Closes the worlds that do not exist any more, or whose name another world has now. */
  async #closeReplacedWorlds(): Promise<void> {
    const { worlds } = this.#options;
    for (const [name, opened] of this.#worlds) {
      const world = worlds.world(name);
      if (world.ok && world.value === opened.world) continue;
      this.#worlds.delete(name);
      await (await opened.served.catch(() => undefined))?.close(CLIENT_ERRORS.terminated);
    }
  }

  async #endSessionsOn(volumeId: string): Promise<void> {
    const { problem = "data limit exceeded" } = this.#options.dataLimit;
    for (const served of await this.#servedWorlds())
      await served.endSessionsOn(volumeId, dataLimitExceeded(problem));
  }

  /** A world that was deleted and created again is another one. */
  #servedWorld(name: string): Promise<ServedWorld> {
    const world = this.#options.worlds.world(name);
    if (!world.ok) throw new ConnectionRejected(unknownWorld(name));
    const known = this.#worlds.get(name);
    if (known?.world === world.value) return known.served;
    // Entered at once, so that clients that connect together share it.
    const served = this.#openWorld(world.value, known?.served);
    this.#worlds.set(name, { world: world.value, served });
    served.catch(() => {
      if (this.#worlds.get(name)?.served === served) this.#worlds.delete(name);
    });
    return served;
  }

  async #openWorld(world: WorldHandle, previous: Promise<ServedWorld> | undefined): Promise<ServedWorld> {
    await (await previous?.catch(() => undefined))?.close(CLIENT_ERRORS.terminated);
    const { volumes, ignoresLoad, onError } = this.#options;
    const engine = await this.openEngine().catch((error: unknown) => {
      throw error instanceof EngineError ? new ConnectionRejected(engineUnavailable(error.message)) : error;
    });
    this.#branchVolumes ??= new BranchVolumes(engine, volumes);
    return new ServedWorld(world, {
      engine,
      branchVolumes: this.#branchVolumes,
      isTooLong: (volume, lsn) => this.#removal.retention(engine).isTooLong(volume, lsn),
      shortenLogs: () => this.#removal.removeSoon(),
      ignoresLoad,
      onError,
      dataProblem: () => this.#options.dataLimit.problem,
      reserveEngine: () => this.#places.reserve(),
      onEngineStarted: ({ startMs }) => this.#places.countStart(startMs),
    });
  }

  /** The worlds that could be opened. */
  async #servedWorlds(): Promise<ServedWorld[]> {
    const opened = await Promise.allSettled([...this.#worlds.values()].map(({ served }) => served));
    return opened.flatMap((world) => (world.status === "fulfilled" ? [world.value] : []));
  }

  async #stopUnusedEngine(): Promise<boolean> {
    for (const served of await this.#servedWorlds()) {
      const stopped = served.stopUnusedEngine();
      if (stopped === undefined) continue;
      await stopped;
      return true;
    }
    return false;
  }
}
