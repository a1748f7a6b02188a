import type { Duplex } from "node:stream";
import type { EngineAddress } from "../../engine/engine.ts";
import { poolSize } from "../../platform/compute/open-connections.ts";
import { EngineExited, hasExited } from "../compute/engine-exit.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../errors.ts";
import { greeting } from "../messages.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import { EngineUnreachable, logIn } from "../relay/engine-login.ts";
import type { ServedCompute } from "../world/served-compute.ts";
import type { ServedWorld } from "../world/served-world.ts";
import type { Admitted } from "../world/world-connections.ts";
import { PooledClient, type PooledClientListener } from "./pooled-client.ts";
import { ServerPool } from "./server-pool.ts";
import { CLIENT_SETTINGS, ServerSession } from "./server-session.ts";

/** D: `query_wait_timeout` of the platform, in wall-clock time. */
const QUERY_WAIT_TIMEOUT_MS = 120_000;

export type PooledLogin = {
  readonly role: string;
  readonly database: string;
  /** The settings that the client begins with, by their canonical names. */
  readonly settings: ReadonlyMap<string, string>;
  /** Server sessions of this role and database. */
  readonly limit: number;
};

/** Whom a client is admitted as, before it sends its first message. */
type PooledConnection = {
  serve(stream: Duplex, listener: PooledClientListener): PooledClient;
  release(): void;
};

/** Transaction pooling, as PgBouncer does it: many clients use few sessions of an engine. */
export class Pooler {
  readonly #cancelKeys: CancelKeys;
  readonly #pools = new WeakMap<ServedCompute, Map<string, ServerPool>>();

  constructor(cancelKeys: CancelKeys) {
    this.#cancelKeys = cancelKeys;
  }

  /**
   * Starts the engine if necessary, and opens the first server session of the pool. The client works meanwhile,
   * so that its compute does not suspend. `isEnded`: whether the world has ended the connection.
   */
  async connect(
    served: ServedWorld,
    admitted: Admitted,
    compute: ServedCompute,
    login: Omit<PooledLogin, "limit">,
    isEnded: () => boolean,
  ): Promise<PooledConnection> {
    if (!(await served.beginWork(admitted))) throw new ConnectionRejected(CLIENT_ERRORS.terminated);
    try {
      const limit = await served.world.transact(({ world }) => {
        const found = world.computes.get(admitted.endpointId);
        return found === undefined ? 1 : poolSize(world, found);
      });
      const open = () => this.#connect(compute, { ...login, limit });
      return await open().catch((error: unknown) => {
        // Postgres was killed, and is started again.
        if (!(error instanceof EngineExited) || isEnded()) throw error;
        return open();
      });
    } finally {
      served.endWork(admitted);
    }
  }

  async #connect(compute: ServedCompute, login: PooledLogin): Promise<PooledConnection> {
    const { host } = compute;
    const engine = await host.acquire();
    try {
      const pool = this.#poolOf(compute, login);
      const open = () => this.#open(engine.address, login, pool);
      pool.settings ??= await firstSettings(pool, open);
      const reported = pool.settings;
      return {
        serve: (stream, listener) => this.#serve(stream, pool, open, reported, login, listener),
        release: () => host.release(),
      };
    } catch (error) {
      host.release();
      const isLost = error instanceof EngineUnreachable && (await hasExited(engine));
      throw isLost ? new EngineExited("Postgres has exited", { cause: error }) : error;
    }
  }

  #serve(
    stream: Duplex,
    pool: ServerPool,
    open: () => Promise<ServerSession>,
    reported: ReadonlyMap<string, string>,
    { settings: wanted }: PooledLogin,
    listener: PooledClientListener,
  ): PooledClient {
    const settings = new Map<string, string>(
      CLIENT_SETTINGS.map((name) => [name, wanted.get(name) ?? reported.get(name) ?? ""]),
    );
    const key = this.#cancelKeys.registerPooled(() => client.server?.cancelPid);
    const client: PooledClient = new PooledClient(stream, pool, open, settings, {
      ...listener,
      onClosed: () => {
        this.#cancelKeys.forget(key.pid);
        listener.onClosed();
      },
    });
    stream.write(greeting(new Map([...reported, ...settings]), key.body));
    return client;
  }

  #poolOf(compute: ServedCompute, { role, database, limit }: PooledLogin): ServerPool {
    const pools = this.#pools.get(compute) ?? new Map<string, ServerPool>();
    this.#pools.set(compute, pools);
    const name = JSON.stringify([role, database]);
    const pool = pools.get(name) ?? new ServerPool(limit, QUERY_WAIT_TIMEOUT_MS);
    pools.set(name, pool);
    // The size of the compute may have changed.
    pool.limit = limit;
    return pool;
  }

  async #open(
    address: EngineAddress,
    { role, database }: PooledLogin,
    pool: ServerPool,
  ): Promise<ServerSession> {
    const parameters = new Map([
      ["user", role],
      ["database", database],
    ]);
    const { socket, greeting: answer, cancelPid } = await logIn(address, parameters, this.#cancelKeys);
    return new ServerSession(socket, reportedSettings(answer), cancelPid, (session) => {
      if (cancelPid !== undefined) this.#cancelKeys.forget(cancelPid);
      pool.closed(session);
    });
  }
}

function firstSettings(
  pool: ServerPool,
  open: () => Promise<ServerSession>,
): Promise<ReadonlyMap<string, string>> {
  return new Promise((resolve, reject) => {
    const assign = (session: ServerSession) => {
      resolve(session.settings);
      pool.release(session);
    };
    pool.request({ assign, fail: reject }, open);
  });
}

/** The settings that the engine reports at the beginning of a session. */
function reportedSettings(messages: Buffer): Map<string, string> {
  const settings = new Map<string, string>();
  for (let offset = 0; offset < messages.length; offset += 1 + messages.readInt32BE(offset + 1)) {
    if (messages[offset] !== PARAMETER_STATUS) continue;
    const end = offset + 1 + messages.readInt32BE(offset + 1);
    const [name = "", value = ""] = messages.toString("utf8", offset + 5, end).split("\0");
    settings.set(name, value);
  }
  return settings;
}

const PARAMETER_STATUS = 0x53; // "S"
