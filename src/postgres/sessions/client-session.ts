import type { Duplex } from "node:stream";
import { MAX } from "../../input-limits/limits.ts";
import { StoreUnavailable } from "../../worlds/world-handle.ts";
import type { Admitted } from "../admission/admit-connection.ts";
import { EndableSession } from "../admission/endable-session.ts";
import { openEngineSession } from "../admission/open-engine-session.ts";
import type { ServedCompute } from "../admission/served-compute.ts";
import type { ServedWorld } from "../admission/served-world.ts";
import { EngineExited } from "../data/engine-exit.ts";
import type { EngineAddress } from "../engine/engine.ts";
import { authenticate, authenticateByPassword } from "../login/authentication.ts";
import type { KnownPasswords } from "../login/known-passwords.ts";
import type { LoginLimit } from "../login/login-limit.ts";
import { negotiate } from "../login/negotiation.ts";
import { readProxyHeader } from "../login/proxy-protocol.ts";
import type { TlsIdentity } from "../login/tls-identity.ts";
import type { Pooler } from "../pooler/pooler.ts";
import { pooledSettings } from "../pooler/startup-parameters.ts";
import {
  CLIENT_ERRORS,
  ConnectionDropped,
  ConnectionRejected,
  protocolViolation,
  worldUnavailable,
} from "../protocol/errors.ts";
import { type ClientError, errorResponse } from "../protocol/messages.ts";
import { ConnectionClosed } from "../protocol/packet-reader.ts";
import { routeOf } from "../protocol/route.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import type { EngineConnection } from "../relay/engine-connection.ts";
import { type EngineLogins, EngineRefused } from "../relay/engine-login.ts";
import { Relay } from "../relay/relay.ts";
import type { StatementLog, StatementSource } from "../statements/statement-log.ts";
import { tapStatements } from "./statement-tap.ts";

/** The source of traffic without an application name. */
const DEFAULT_SOURCE = "postgres";

export type SessionOptions = {
  readonly tls: TlsIdentity;
  readonly requireTls: boolean;
  /** Whether each connection begins with a header of the PROXY protocol. */
  readonly proxyProtocol: boolean;
  readonly cancelKeys: CancelKeys;
  readonly logins: EngineLogins;
  readonly passwords: KnownPasswords;
  readonly loginLimit: LoginLimit;
  readonly pooler: Pooler;
  /** Throws `ConnectionRejected` if there is no such world. */
  readonly servedWorld: (name: string | undefined) => Promise<ServedWorld>;
  /** The connection ends with an error of this SQLSTATE. */
  readonly onClientError: (code: string) => void;
  readonly onError: (error: unknown, message: string) => void;
  /** Log of statements; absent if they are not logged. */
  readonly statements?: StatementLog | undefined;
};

/** Facts about the connection within a WebSocket, from the request for it. */
export type WebSocketRequest = {
  /** The host that the client wants to reach. */
  readonly serverName: string | undefined;
  /** The world of the path, if it names one. */
  readonly world: string | undefined;
};

/** Origin of a connection. */
export type ClientOrigin = {
  /** The address of the client, or of its proxy. */
  readonly address: string;
  readonly webSocket?: WebSocketRequest | undefined;
  /** Called when the client has logged in. */
  readonly onLogin?: (() => void) | undefined;
};

/** Serves one connection of a client, from its first byte to its end. Never rejects. */
export async function serveClient(
  stream: Duplex,
  options: SessionOptions,
  origin: ClientOrigin,
): Promise<void> {
  const session = new ClientSession(stream, options, origin);
  try {
    await session.run();
  } catch (error) {
    session.fail(error);
  }
}

class ClientSession {
  readonly #options: SessionOptions;
  readonly #origin: ClientOrigin;
  /** The innermost stream: within TLS if there is any. */
  #stream: Duplex;
  readonly #loginTimer: NodeJS.Timeout;
  readonly #leaveLogin: () => void;

  constructor(stream: Duplex, options: SessionOptions, origin: ClientOrigin) {
    this.#options = options;
    this.#origin = origin;
    this.#stream = stream;
    stream.on("error", () => undefined);
    this.#loginTimer = setTimeout(() => this.#end(CLIENT_ERRORS.loginTimeout), MAX.loginMs);
    this.#leaveLogin = options.loginLimit.enter(() => this.#end(CLIENT_ERRORS.tooManyLogins));
    stream.once("close", () => this.#endLogin());
  }

  async run(): Promise<void> {
    const { tls, requireTls, proxyProtocol, cancelKeys, passwords, pooler, servedWorld } = this.#options;
    const { webSocket } = this.#origin;
    const proxied =
      proxyProtocol && webSocket === undefined ? await readProxyHeader(this.#stream) : undefined;
    const address = proxied ?? this.#origin.address;
    const negotiated = await negotiate(this.#stream, tls, requireTls, (stream) => {
      this.#stream = stream;
      stream.on("error", () => undefined);
    });
    if ("pid" in negotiated) {
      this.#endLogin();
      await cancelKeys.cancel(negotiated.pid, negotiated.secret);
      this.#stream.end();
      return;
    }
    const { reader, parameters, serverName, certificateHash } = negotiated;
    const role = parameters.get("user") ?? "";
    if (role === "")
      throw new ConnectionRejected(protocolViolation("no PostgreSQL user name specified in startup packet"));
    const database = parameters.get("database") ?? role;
    const route = routeOf(serverName ?? webSocket?.serverName, parameters);
    const settings = route.pooled ? pooledSettings(parameters, route.options) : undefined;
    const served = await servedWorld(webSocket?.world ?? route.world);
    const verifier = await served.verifierOf(route.endpointId, role, address);
    // D: the driver sends the password before it is asked, which only works with a password as text.
    if (webSocket === undefined) await authenticate(this.#stream, reader, role, verifier, certificateHash);
    else await authenticateByPassword(this.#stream, reader, role, verifier, passwords);
    this.#endLogin();
    this.#origin.onLogin?.();
    const source = parameters.get("application_name") || DEFAULT_SOURCE;
    const admitted = await served.admit(route.endpointId, database, route.pooled, source);
    if (settings !== undefined) {
      const login = { role, database, settings };
      await this.#serve(served, admitted, login, (compute, isEnded) =>
        pooler.connect(served, admitted, compute, login, isEnded),
      );
      return;
    }
    const engineParameters = new Map(parameters).set("database", database);
    if (route.options === undefined) engineParameters.delete("options");
    else engineParameters.set("options", route.options);
    const isReplication = parameters.has("replication");
    await this.#serve(served, admitted, { role, database }, async (compute, isEnded) => {
      const endReplication = isReplication ? compute.beginReplication() : undefined;
      try {
        const opened = await this.#openSession(served, admitted, engineParameters, compute, isEnded);
        const release = () => {
          opened.release();
          endReplication?.();
        };
        return { ...opened, release };
      } catch (error) {
        endReplication?.();
        throw error;
      }
    });
  }

  /** Ends the connection with the error that the client is to see, if any. */
  fail(error: unknown): void {
    if (error instanceof ConnectionRejected) this.#end(error.clientError);
    else if (error instanceof ConnectionDropped) {
      this.#endLogin();
      this.#stream.destroy();
    } else if (error instanceof EngineRefused) {
      this.#endLogin();
      this.#destroyLater();
      this.#stream.end(error.answer);
    } else if (error instanceof StoreUnavailable) {
      // The error was reported where it occurred.
      this.#end(worldUnavailable(error));
    } else if (error instanceof EngineExited) {
      // Its exit was reported. It was killed twice during one login, or the world has ended the connection.
      this.#end(CLIENT_ERRORS.computeFailed);
    } else {
      const hasClientLeft = error instanceof ConnectionClosed || this.#stream.destroyed;
      if (!hasClientLeft) this.#options.onError(error, "a Postgres connection failed");
      this.#end(CLIENT_ERRORS.computeFailed);
    }
  }

  /** Serves an admitted client until it leaves. */
  async #serve(
    served: ServedWorld,
    admitted: Admitted,
    login: Pick<StatementSource, "role" | "database">,
    connect: (compute: ServedCompute, isEnded: () => boolean) => Promise<EngineConnection>,
  ): Promise<void> {
    const session = new EndableSession((error) => this.#end(error));
    const compute = served.attach(admitted, session);
    try {
      const connection = await connect(compute, () => this.#stream.writableEnded);
      try {
        const { endpointId } = admitted;
        const tap = tapStatements(this.#stream, this.#options.statements, served.world, {
          endpointId,
          ...login,
        });
        await new Promise<void>((resolve) => {
          const relay = connection.serve(this.#stream, {
            beforeWork: (messages) => served.beginQuery(admitted, messages),
            onFailure: (error) => this.fail(error),
            afterWork: () => served.endWork(admitted),
            onSent: (bytes) => {
              compute.addTransferred(bytes.length);
              tap?.fromEngine(bytes);
            },
            onCatalogChange: (isCertain) => compute.catalogChanged(admitted.connectionId, isCertain),
            onClosed: () => {
              tap?.close();
              resolve();
            },
          });
          // It has written the greeting, which ends the login.
          this.#stream.uncork();
          session.connected(() => relay.close());
          if (this.#stream.destroyed) relay.close();
        });
      } finally {
        connection.release();
      }
    } finally {
      await served.leave(admitted);
    }
  }

  /** A session of the engine for this client only. */
  async #openSession(
    served: ServedWorld,
    admitted: Admitted,
    parameters: ReadonlyMap<string, string>,
    { host }: ServedCompute,
    isEnded: () => boolean,
  ): Promise<EngineConnection> {
    const { cancelKeys, logins } = this.#options;
    const open = (address: EngineAddress) => logins.logIn(address, parameters);
    const { socket, greeting, cancelPid } = await openEngineSession(
      host,
      served,
      admitted,
      { database: parameters.get("database") ?? "", passwordOf: parameters.get("user") },
      open,
      isEnded,
    );
    return {
      serve: (client, listener) => {
        const beforeWork =
          cancelPid === undefined
            ? listener.beforeWork
            : cancelKeys.holdingCancels(cancelPid, listener.beforeWork);
        const relay = new Relay(client, socket, { ...listener, beforeWork });
        client.write(greeting);
        return relay;
      },
      release: () => {
        if (cancelPid !== undefined) cancelKeys.forget(cancelPid);
        host.release();
      },
    };
  }

  /** The client has logged in, or will not. */
  #endLogin(): void {
    clearTimeout(this.#loginTimer);
    this.#leaveLogin();
  }

  #end(error: ClientError): void {
    this.#endLogin();
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#options.onClientError(error.code);
    this.#destroyLater();
    this.#stream.end(errorResponse(error));
  }

  /** A client that does not close its side must not keep the connection. */
  #destroyLater(): void {
    const stream = this.#stream;
    const timer = setTimeout(() => stream.destroy(), MAX.endedConnectionMs).unref();
    stream.once("close", () => clearTimeout(timer));
  }
}
