import type { Duplex } from "node:stream";
import { poolSize } from "../../platform/rules/compute/open-connections.ts";
import type { Admitted } from "../admission/admit-connection.ts";
import { openEngineSession } from "../admission/open-engine-session.ts";
import type { ServedCompute } from "../admission/served-compute.ts";
import type { ServedWorld } from "../admission/served-world.ts";
import type { EngineAddress } from "../engine/engine.ts";
import { greeting } from "../protocol/messages.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import type { EngineConnection } from "../relay/engine-connection.ts";
import type { EngineLogins } from "../relay/engine-login.ts";
import type { RelayListener } from "../relay/relay.ts";
import { PooledClient } from "./pooled-client.ts";
import { ServerPool } from "./server-pool.ts";
import { CLIENT_SETTINGS, ServerSession } from "./server-session.ts";

/** D: `query_wait_timeout` of the platform, in wall-clock time. */
const QUERY_WAIT_TIMEOUT_MS = 120_000;

export type PooledLogin = {
  readonly role: string;
  readonly database: string;
  /** The settings that the client begins with, by their canonical names. */
  readonly settings: ReadonlyMap<string, string>;
};

/** Transaction pooling, as PgBouncer does it: many clients use few sessions of an engine. */
export class Pooler {
  readonly #cancelKeys: CancelKeys;
  readonly #logins: EngineLogins;
  readonly #pools = new WeakMap<ServedCompute, Map<string, ServerPool>>();

  constructor(cancelKeys: CancelKeys, logins: EngineLogins) {
    this.#cancelKeys = cancelKeys;
    this.#logins = logins;
  }

  /**
   * Starts the engine if necessary, and opens the first server session of the pool. The client works in the meantime,
   * so that its compute does not suspend. `isEnded`: whether the world has ended the connection.
   */
  async connect(
    served: ServedWorld,
    admitted: Admitted,
    compute: ServedCompute,
    login: PooledLogin,
    isEnded: () => boolean,
  ): Promise<EngineConnection> {
    return openEngineSession(
      compute.host,
      served,
      admitted,
      { database: login.database, passwordOf: login.role },
      async (address) => {
        const pool = await this.#poolOf(served, admitted, compute, login);
        const open = () => this.#open(address, login, pool);
        pool.settings ??= await firstSettings(pool, open);
        const reported = pool.settings;
        return {
          serve: (stream, listener) => this.#serve(stream, pool, open, reported, login, listener),
          release: () => compute.host.release(),
        };
      },
      isEnded,
    );
  }

  #serve(
    stream: Duplex,
    pool: ServerPool,
    open: () => Promise<ServerSession>,
    reported: ReadonlyMap<string, string>,
    { settings: wanted }: PooledLogin,
    listener: RelayListener,
  ): PooledClient {
    const settings = new Map<string, string>(
      CLIENT_SETTINGS.map((name) => [name, wanted.get(name) ?? reported.get(name) ?? ""]),
    );
    const key = this.#cancelKeys.registerPooled(() => client.server?.cancelPid);
    const client: PooledClient = new PooledClient(stream, pool, open, settings, {
      ...listener,
      beforeWork: this.#cancelKeys.holdingCancels(key.pid, listener.beforeWork),
      onClosed: () => {
        this.#cancelKeys.forget(key.pid);
        listener.onClosed();
      },
    });
    stream.write(greeting(new Map([...reported, ...settings]), key.body));
    return client;
  }

  async #poolOf(
    served: ServedWorld,
    { endpointId }: Admitted,
    compute: ServedCompute,
    { role, database }: PooledLogin,
  ): Promise<ServerPool> {
    const limit = await served.world.transactForClient(({ world }) => {
      const found = world.computes.get(endpointId);
      return found === undefined ? 1 : poolSize(world, found);
    });
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
    const { socket, greeting: answer, cancelPid } = await this.#logins.logIn(address, parameters);
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
