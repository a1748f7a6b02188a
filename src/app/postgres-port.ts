import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { chmodSync, mkdirSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { BranchData } from "../platform/model/branch-data.ts";
import type { DataDescription, FindWritten } from "../platform/model/data-description.ts";
import { HOST_DOMAIN } from "../platform/rules/compute/host-name.ts";
import { DataLimit, type DataUsage, type MaxData } from "../postgres/data/data-limit.ts";
import { findWritten } from "../postgres/data/find-written.ts";
import { RemovalSchedule } from "../postgres/data/removal-schedule.ts";
import type { DatabaseSeed } from "../postgres/data/seed-data.ts";
import type { Engine } from "../postgres/engine/engine.ts";
import type { OsUser } from "../postgres/engine/os-user.ts";
import type { Gateway, GatewayFigures, GatewayOptions } from "../postgres/gateway.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import type {
  SqlRequest,
  SqlResponse,
  StatementOutcome,
  TrustedStatement,
} from "../postgres/serverless/sql-over-http.ts";
import type { ClientOrigin } from "../postgres/sessions/client-session.ts";
import { EXTENSION, TEMPLATES, Volumes } from "../postgres/volumes/volumes.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";

export type PostgresOptions = {
  /** Only if it is the directory of this server's worlds may its mode be changed. */
  readonly dataDirectory: string;
  /** The directory of the branches' data. */
  readonly volumes: string;
  /** `none`: Postgres is not run, and clients are rejected. */
  readonly engine: "auto" | "none";
  /** The directory of `postgres` and `initdb`; absent: they are searched for. */
  readonly engineBin?: string | undefined;
  readonly maxEngines: number;
  /** Log that each branch retains, in bytes. */
  readonly maxBranchHistory: number;
  /** What the data of all branches may take on disk. */
  readonly maxData: MaxData;
  readonly requireTls: boolean;
  /** Whether each connection of the port begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  /** The directory of the certificate authority, which is used without `tlsFiles`. */
  readonly tlsDirectory: string;
  readonly tlsFiles?: { readonly key: string; readonly cert: string } | undefined;
  /** For runs that must repeat: what Postgres reports of its load differs between two of them. */
  readonly ignoresLoad?: boolean | undefined;
  /** The name of the extension with the statistics of a compute. */
  readonly extensionName: string;
};

export const DEFAULT_MAX_BRANCH_HISTORY = 256 * 1024 ** 2;

export type PostgresLog = {
  error(error: unknown, message: string): void;
  warn(message: string): void;
  info(message: string): void;
};

const NO_FIGURES: GatewayFigures = {
  connections: 0,
  errors: new Map(),
  engines: 0,
  engineStarts: 0,
  engineStartMs: 0,
};

/** The port for Postgres clients. What only they need is loaded when the first one connects. */
export class PostgresPort {
  readonly #server: Server;
  readonly #load: () => Promise<Gateway>;
  readonly #volumes: Volumes;
  readonly #log: PostgresLog;
  readonly #limit: DataLimit;
  readonly #removals = new RemovalSchedule(() => this.removeLeftovers());
  readonly #options: PostgresOptions;
  #gateway: Promise<Gateway> | undefined;
  #opened: Gateway | undefined;
  #isClosed = false;

  constructor(worlds: WorldsHandle, options: PostgresOptions, log: PostgresLog) {
    this.#volumes = new Volumes(options.volumes, options.dataDirectory);
    this.#limit = new DataLimit(this.#volumes, options.maxData);
    this.#load = async () => {
      this.#opened = await loadGateway(worlds, options, log, {
        volumes: this.#volumes,
        dataLimit: this.#limit,
        requestRemoval: () => this.dataReleased(),
      });
      return this.#opened;
    };
    this.#log = log;
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) =>
      this.accept(socket, { address: plainAddress(socket.remoteAddress) }),
    );
  }

  /** Serves the connection of a client. */
  accept(stream: Duplex, origin: ClientOrigin): void {
    this.#loaded().then(
      (gateway) => gateway.accept(stream, origin),
      (error) => {
        this.#log.error(error, "Postgres connections cannot be served");
        stream.destroy();
      },
    );
  }

  /** Answers a request of SQL over HTTP. */
  async sql(request: SqlRequest): Promise<SqlResponse> {
    return (await this.#loaded()).sqlOverHttp.respond(request);
  }

  /** Executes one statement of the control API. */
  async execute(world: string, statement: TrustedStatement, signal: AbortSignal): Promise<StatementOutcome> {
    return (await this.#loaded()).sqlOverHttp.execute(world, statement, signal);
  }

  /** False for `--engine none`. */
  get runsEngines(): boolean {
    return this.#options.engine !== "none";
  }

  #loaded(): Promise<Gateway> {
    this.#gateway ??= this.#load();
    return this.#gateway;
  }

  figures(): GatewayFigures {
    return this.#opened?.figures() ?? NO_FIGURES;
  }

  /** What the data of branches takes, and may take. */
  dataUsage(): DataUsage {
    return {
      volumes: this.#volumes.usage.count,
      bytes: this.#volumes.usage.bytes,
      waitingBytes: this.#opened?.waitingBytes() ?? 0,
      limitBytes: this.#limit.bytes,
    };
  }

  /** Why no data may be added to this server; `undefined` if it may. */
  readonly dataProblem = (): string | undefined => this.#limit.problem;

  readonly findWritten: FindWritten = (row, lsn, now) => findWritten(this.#volumes, row, lsn, now);

  /** What is stored of a branch's data; `undefined` if nothing is. */
  async describeData(row: BranchData): Promise<DataDescription | undefined> {
    const { describeData } = await import("../postgres/data/describe-data.ts");
    return describeData(this.#volumes, row);
  }

  /** Reports what to install if no Postgres is found. Clients can connect as soon as it is installed. */
  async checkInstallation(): Promise<void> {
    if (!this.runsEngines) return;
    const { engineUser } = await import("../postgres/engine/os-user.ts");
    const { checkInstallations } = await import("../postgres/engine/installation.ts");
    try {
      await checkInstallations(this.#options.engineBin, engineUser());
    } catch (error) {
      this.#log.error(error, "Postgres clients will be rejected");
    }
  }

  /**
   * Stops the Postgres processes of a server that was killed, and deletes the data of worlds and branches that
   * do not exist any more.
   */
  async removeLeftovers(): Promise<void> {
    if (this.#isClosed || !this.runsEngines || this.#volumes.stored().length === 0) return;
    try {
      await (await this.#loaded()).removeUnusedVolumes();
    } catch (error) {
      this.#log.error(
        error,
        "the data of deleted worlds and branches could not be removed; it is tried again",
      );
      if (!this.#isClosed) this.#removals.retry();
    }
  }

  /** The data of branches may be needed no more. It is removed soon. */
  dataReleased(): void {
    if (!this.#isClosed && this.runsEngines) this.#removals.request();
  }

  /** Called before a world is copied whose data may have changed since its position was stored. */
  async prepareCopy(world: string): Promise<void> {
    if (!this.#isClosed && this.runsEngines) await (await this.#loaded()).prepareCopy(world);
  }

  /** Fills the database of a project of the default world, unless it has data. */
  async seed(seed: DatabaseSeed): Promise<void> {
    await (await this.#loaded()).seed(seed);
  }

  /** Finds Postgres before the first client connects. Rejects with an `EngineError` if none is installed. */
  async openEngine(): Promise<void> {
    await (await this.#loaded()).openEngine();
  }

  /** Resolves when the port is open. 0: a free port. */
  listen(port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        resolve(this.#server.address() as AddressInfo);
      });
    });
  }

  /** Ends all sessions and stops all Postgres processes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#removals.close();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const gateway = await this.#gateway?.catch(() => undefined);
    await gateway?.close();
    await closed;
  }
}

/** A resolver without a network may take long to give up. */
const LOOKUP_TIMEOUT_MS = 300;

/** Whether this machine resolves the host names of computes to itself. */
export async function hostNamesResolve(hostDomain = HOST_DOMAIN): Promise<boolean> {
  const found = lookup(`ep-name.region.cloud.${hostDomain}`).then(
    ({ address }) => address === "127.0.0.1" || address === "::1",
    () => false,
  );
  return Promise.race([found, sleep(LOOKUP_TIMEOUT_MS, false, { ref: false })]);
}

async function loadGateway(
  worlds: WorldsHandle,
  options: PostgresOptions,
  log: PostgresLog,
  data: Pick<GatewayOptions, "volumes" | "dataLimit" | "requestRemoval">,
): Promise<Gateway> {
  const { Gateway } = await import("../postgres/gateway.ts");
  const { TlsIdentity } = await import("../postgres/login/tls-identity.ts");
  let opened: ReturnType<typeof openEngine> | undefined;
  return new Gateway({
    worlds,
    defaultWorld: DEFAULT_WORLD,
    openEngine: () => {
      opened ??= openEngine(options, data.volumes, log);
      // What was missing may be installed meanwhile.
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    },
    ...data,
    tls: new TlsIdentity(options.tlsDirectory, options.tlsFiles),
    requireTls: options.requireTls,
    proxyProtocol: options.proxyProtocol,
    maxEngines: options.maxEngines,
    ignoresLoad: options.ignoresLoad,
    maxBranchHistory: options.maxBranchHistory,
    onError: (error, message) => log.error(error, message),
  });
}

/** A log is cut at a checkpoint, so there are several in half of its limit. */
const CHECKPOINTS_PER_HISTORY = 8;

async function openEngine(options: PostgresOptions, volumes: Volumes, log: PostgresLog): Promise<Engine> {
  if (options.engine === "none") {
    const { EngineError } = await import("../postgres/engine/engine.ts");
    throw new EngineError("this server runs no Postgres (--engine none)");
  }
  const { engineUser } = await import("../postgres/engine/os-user.ts");
  const { findInstallations } = await import("../postgres/engine/installation.ts");
  const { writeExtension } = await import("../postgres/engine/extension.ts");
  const { PostgresEngine } = await import("../postgres/engine/postgres-engine.ts");
  const user = engineUser();
  const installations = await findInstallations(options.engineBin, user);
  log.info(
    user === undefined
      ? "Postgres runs as the user of this server: what escapes from Postgres can do what the server can (SECURITY.md)"
      : `Postgres runs as the user ${user.name}, which cannot read the worlds and keys of this server`,
  );
  const { root } = volumes;
  mkdirSync(root, { recursive: true, mode: user === undefined ? 0o700 : 0o711 });
  if (user !== undefined) await makeReachable(root, options.dataDirectory, user);
  const extensionDirectory = join(root, EXTENSION);
  mkdirSync(extensionDirectory, { recursive: true, mode: user === undefined ? 0o700 : 0o755 });
  const engine = new PostgresEngine({
    installations,
    templateDirectory: join(root, TEMPLATES),
    extension: writeExtension(extensionDirectory, options.extensionName),
    user,
    maxLogBytes: options.maxBranchHistory / CHECKPOINTS_PER_HISTORY,
    maxSlotLogBytes: options.maxBranchHistory,
    onSubstitute: (wanted, chosen) =>
      log.warn(
        `Postgres ${wanted} is not installed, so computes of projects with pg_version ${wanted} run Postgres ${chosen}`,
      ),
  });
  for (const dataDirectory of volumes.dataDirectories()) await engine.stopLeftover(dataDirectory);
  return engine;
}

/** As root, lets the user of Postgres pass through our directories. What is in them stays private. */
async function makeReachable(root: string, dataDirectory: string, user: OsUser): Promise<void> {
  const { EngineError } = await import("../postgres/engine/engine.ts");
  const { spawnAs } = await import("../postgres/engine/os-user.ts");
  const data = resolve(dataDirectory);
  if (root.startsWith(`${data}/`)) chmodSync(data, 0o711);
  chmodSync(root, 0o711);
  try {
    await promisify(execFile)("test", ["-x", root], { ...spawnAs(user), cwd: "/" });
  } catch {
    throw new EngineError(
      `Postgres runs as the user ${user.name}, which cannot reach ${root}; choose another directory with --volumes, or do not run the server as root`,
    );
  }
}
