import type { Admitted } from "../admission/admit-connection.ts";
import { EndableSession } from "../admission/endable-session.ts";
import { openEngineSession } from "../admission/open-engine-session.ts";
import type { ServedCompute } from "../admission/served-compute.ts";
import type { ServedWorld } from "../admission/served-world.ts";
import { identityOf } from "../compute/branch-content.ts";
import { CLIENT_ERRORS } from "../protocol/errors.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import type { EngineLogins } from "../relay/engine-login.ts";
import { SqlError } from "./sql-error.ts";
import type { SqlLogin, SqlWork } from "./sql-request.ts";
import { SqlSession } from "./sql-session.ts";
import type { Json } from "./sql-values.ts";

/** The source of traffic without an application name. */
const DEFAULT_SOURCE = "sql-over-http";
/** Sessions of one role and database that wait for the next request. */
const MAX_IDLE_SESSIONS = 20;
/** A session may end with its compute in the moment of a request; the next one wakes the compute. */
const MAX_ATTEMPTS = 3;

/** A session, and the connection that it is in the world. */
type Connected = {
  /** That of its role and database when it was opened. */
  readonly identity: string;
  readonly session: SqlSession;
  readonly admitted: Admitted;
  readonly compute: ServedCompute;
  /** Whether the world has ended it. Then the response does not wait for the world. */
  readonly state: Pick<EndableSession, "isEnded" | "isIdle">;
  /** Those of its compute when it was opened. */
  readonly catalogChanges: number;
  readonly cancelPid: number | undefined;
  /** Resolves when the world has its end, or an advance that is running is followed by it. Never rejects. */
  readonly left: Promise<void>;
};

/** Calls `cancel` when the client does not wait any more, until the returned function is called. */
export type OnAbandoned = (cancel: () => void) => () => void;

/** The client of a request. It may leave before its statement begins. */
type WaitingClient = {
  hasLeft: boolean;
  /** Cancels what executes now. */
  cancel: (() => void) | undefined;
};

/** When a request is cancelled. */
export type SqlLimits = {
  readonly onAbandoned: OnAbandoned;
  /** Wall-clock time from the begin of the execution. `undefined`: no limit. */
  readonly timeoutMs?: number | undefined;
};

/** The SQLSTATE of a cancelled statement. */
const QUERY_CANCELED = "57014";

/** Sessions of engines for requests without a connection of their own. Each is open until its engine stops. */
export class SqlSessions {
  readonly #cancelKeys: CancelKeys;
  readonly #logins: EngineLogins;
  readonly #idle = new WeakMap<ServedWorld, Map<string, Connected[]>>();

  constructor(cancelKeys: CancelKeys, logins: EngineLogins) {
    this.#cancelKeys = cancelKeys;
    this.#logins = logins;
  }

  /** Executes in a session that no other request uses in the meantime. */
  async execute(
    served: ServedWorld,
    login: SqlLogin,
    work: SqlWork,
    { onAbandoned, timeoutMs }: SqlLimits,
  ): Promise<Json> {
    const client: WaitingClient = { hasLeft: false, cancel: undefined };
    const stopListening = onAbandoned(() => {
      client.hasLeft = true;
      client.cancel?.();
    });
    try {
      return await this.#executeFor(client, served, login, work, timeoutMs);
    } finally {
      stopListening();
    }
  }

  async #executeFor(
    client: WaitingClient,
    served: ServedWorld,
    login: SqlLogin,
    work: SqlWork,
    timeoutMs: number | undefined,
  ): Promise<Json> {
    const idle = this.#idleSessions(served, login);
    const identity = () =>
      identityOf(served.world.peek().world, login.route.endpointId, login.role, login.database);
    for (let attempt = 1; ; attempt += 1) {
      const connected =
        (await takeUsable(idle, login.role, identity)) ?? (await this.#connect(served, login, identity));
      const { session, admitted, compute, cancelPid } = connected;
      let mayBegin: boolean;
      try {
        mayBegin = await served.beginStatements(admitted, work.statements);
      } catch (error) {
        // It is neither idle nor in use.
        session.close(CLIENT_ERRORS.terminated);
        throw error;
      }
      if (!mayBegin && attempt < MAX_ATTEMPTS) {
        session.close(CLIENT_ERRORS.terminated);
        continue;
      }
      let isCancelled = false;
      const cancel = () => {
        isCancelled = true;
        if (cancelPid !== undefined) void this.#cancelKeys.cancelSession(cancelPid);
      };
      try {
        await compute.host.acquire();
        try {
          const result = await executeWithin(timeoutMs, client, cancel, () => session.execute(work));
          const catalogChange = session.takeCatalogChange();
          if (catalogChange === "none") compute.endExclusion(admitted.connectionId);
          else await compute.catalogChanged(admitted.connectionId, catalogChange === "certain");
          return result;
        } finally {
          compute.host.release();
        }
      } finally {
        compute.addTransferred(session.receivedBytes);
        served.endWork(admitted);
        // A cancellation may arrive late, in the next statement of the session.
        const isClean = session.isConnected && !isCancelled && !session.isInTransaction;
        // Others may not be used again: limits are checked, and passwords expire, when a session begins.
        const isCurrent =
          connected.catalogChanges === compute.catalogChanges && !compute.host.mayHaveExpired(login.role);
        if (isClean && isCurrent && idle.length < MAX_IDLE_SESSIONS) {
          idle.push(connected);
          connected.state.isIdle = true;
        } else if (!connected.state.isEnded) await end(connected);
      }
    }
  }

  async #connect(
    served: ServedWorld,
    { route, role, database, applicationName, needsNoPassword }: SqlLogin,
    identityNow: () => string,
  ): Promise<Connected> {
    const source = applicationName || DEFAULT_SOURCE;
    const admitted = await served.admit(route.endpointId, database, route.pooled, source);
    const state = new EndableSession();
    const compute = served.attach(admitted, state);
    try {
      // Before the login: the role may become another one meanwhile.
      const identity = identityNow();
      const { catalogChanges } = compute;
      const parameters = new Map([
        ["user", role],
        ["database", database],
        ["application_name", source],
        ["client_encoding", "UTF8"],
        ...(route.options === undefined ? [] : [["options", route.options] as const]),
      ]);
      const { socket, cancelPid } = await openEngineSession(
        compute.host,
        served,
        admitted,
        { database, passwordOf: needsNoPassword ? undefined : role },
        (address) => this.#logins.logIn(address, parameters),
        () => state.isEnded,
      );
      compute.host.release();
      const session = new SqlSession(socket);
      const left = new Promise<void>((resolve) => {
        socket.once("close", () => {
          if (cancelPid !== undefined) this.#cancelKeys.forget(cancelPid);
          // A world that is closed has ended its connections.
          served.leave(admitted).catch(() => undefined);
          resolve();
        });
      });
      state.connected((error) => session.close(error));
      return { identity, session, admitted, compute, state, catalogChanges, cancelPid, left };
    } catch (error) {
      await served.leave(admitted);
      throw error;
    }
  }

  #idleSessions(served: ServedWorld, { route, role, database, applicationName }: SqlLogin): Connected[] {
    const { endpointId, pooled, options } = route;
    const key = JSON.stringify([endpointId, pooled, options, role, database, applicationName]);
    const ofWorld = this.#idle.get(served) ?? new Map<string, Connected[]>();
    this.#idle.set(served, ofWorld);
    const idle = ofWorld.get(key) ?? [];
    ofWorld.set(key, idle);
    return idle;
  }
}

async function executeWithin(
  timeoutMs: number | undefined,
  client: WaitingClient,
  cancel: () => void,
  execute: () => Promise<Json>,
): Promise<Json> {
  if (client.hasLeft) throw canceled("canceling statement due to user request");
  client.cancel = cancel;
  let isTooLong = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          isTooLong = true;
          cancel();
        }, timeoutMs);
  try {
    return await execute();
  } catch (error) {
    if (!isTooLong || !(error instanceof SqlError) || error.code !== QUERY_CANCELED) throw error;
    throw canceled(`the statement did not end within its timeout of ${timeoutMs} ms`);
  } finally {
    clearTimeout(timer);
    client.cancel = undefined;
  }
}

function canceled(message: string): SqlError {
  return new SqlError(message, undefined, { severity: "ERROR", code: QUERY_CANCELED });
}

/** The session that was used last, so that others can be recognized as superfluous. */
async function takeUsable(
  idle: Connected[],
  role: string,
  identity: () => string,
): Promise<Connected | undefined> {
  for (;;) {
    const connected = idle.pop();
    if (connected === undefined) return undefined;
    connected.state.isIdle = false;
    if (!(await connected.session.isUsable())) continue;
    // A block, or SQL of the primary of a read replica, may have let the password expire since.
    const isCurrent = connected.identity === identity() && !connected.compute.host.mayHaveExpired(role);
    if (isCurrent) return connected;
    await end(connected);
  }
}

/** What the client does next comes after the end of the session, in history as well. */
async function end({ session, left }: Connected): Promise<void> {
  session.close(CLIENT_ERRORS.terminated);
  await left;
}
