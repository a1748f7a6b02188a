import { lookup, resolve4 } from "node:dns/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { HOST_DOMAIN } from "../platform/rules/compute/host-name.ts";
import { DataLimit } from "../postgres/data/data-limit.ts";
import { findWritten } from "../postgres/data/find-written.ts";
import { RemovalSchedule } from "../postgres/data/removal-schedule.ts";
import type { DatabaseSeed } from "../postgres/data/seed-data.ts";
import { versionOfData } from "../postgres/data/volume-versions.ts";
import type { Gateway, GatewayFigures } from "../postgres/gateway.ts";
import { plainAddress } from "../postgres/login/network-rules.ts";
import type { SqlRequest, SqlResponse } from "../postgres/serverless/sql-over-http.ts";
import type { ClientOrigin } from "../postgres/sessions/client-session.ts";
import { Volumes } from "../postgres/volumes/volumes.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";
import { loadGateway, type PostgresLog, type PostgresOptions } from "./open-gateway.ts";
import type { PostgresServices } from "./postgres-services.ts";
import { abandonedBy } from "./sql-route.ts";

export const DEFAULT_MAX_BRANCH_HISTORY = 256 * 1024 ** 2;

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
  readonly #worlds: WorldsHandle;
  readonly #load: () => Promise<Gateway>;
  readonly #volumes: Volumes;
  readonly #log: PostgresLog;
  readonly #limit: DataLimit;
  readonly #removals = new RemovalSchedule(() => this.removeLeftovers());
  readonly #options: PostgresOptions;
  readonly services: PostgresServices;
  #gateway: Promise<Gateway> | undefined;
  #opened: Gateway | undefined;
  #isClosed = false;

  constructor(worlds: WorldsHandle, options: PostgresOptions, log: PostgresLog) {
    this.#worlds = worlds;
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
    this.services = this.#createServices();
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

  #createServices(): PostgresServices {
    return {
      sql: (request) => this.#sql(request),
      api: {
        findWritten: (row, lsn, now) => findWritten(this.#volumes, row, lsn, now),
        // Without engines, there is no data.
        readSchema: async (world, request) =>
          this.runsEngines ? (await this.#loaded()).readSchema(world, request) : undefined,
        settleContent: (world, branchId) => this.#opened?.settleContent(world, branchId),
        dataProblem: () => this.#limit.problem,
      },
      control: {
        postgresFigures: () => this.#opened?.figures() ?? NO_FIGURES,
        dataUsage: () => ({
          volumes: this.#volumes.usage.count,
          bytes: this.#volumes.usage.bytes,
          waitingBytes: this.#opened?.waitingBytes() ?? 0,
          limitBytes: this.#limit.bytes,
        }),
        describeBranchData: async (row) => {
          const { describeData } = await import("../postgres/data/describe-data.ts");
          return describeData(this.#volumes, row);
        },
        findDataVersion: (row) => versionOfData(this.#volumes, row),
        runStatement: async (world, statement, signal) =>
          (await this.#loaded()).sqlOverHttp.execute(world.name, statement, abandonedBy(signal)),
      },
    };
  }

  async #sql(request: SqlRequest): Promise<SqlResponse> {
    return (await this.#loaded()).sqlOverHttp.respond(request);
  }

  /** False for `--engine none`. */
  get runsEngines(): boolean {
    return this.#options.engine !== "none";
  }

  #loaded(): Promise<Gateway> {
    this.#gateway ??= this.#load();
    return this.#gateway;
  }

  /** Logs which versions of Postgres are installed, and which of those that projects have are missing. */
  async reportInstallations(): Promise<void> {
    if (!this.runsEngines) return;
    const { reportEngines } = await import("./report-engines.ts");
    await reportEngines(this.#worlds, this.#options, this.#log);
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

/**
 * Whether every client of this machine resolves the host names of computes to itself. Names below `localhost` are
 * special for some resolvers only: those of Go and of musl ask the name server.
 */
export async function hostNamesResolve(hostDomain = HOST_DOMAIN): Promise<boolean> {
  const name = `ep-name.region.cloud.${hostDomain}`;
  const addresses = /(^|\.)localhost$/.test(hostDomain)
    ? resolve4(name)
    : lookup(name).then(({ address }) => [address]);
  const found = addresses.then(
    ([address]) => address === "127.0.0.1" || address === "::1",
    () => false,
  );
  return Promise.race([found, sleep(LOOKUP_TIMEOUT_MS, false, { ref: false })]);
}
