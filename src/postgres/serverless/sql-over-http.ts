import { ConnectionLost } from "../../http/connection-lost.ts";
import type { ServedWorld } from "../admission/served-world.ts";
import { EngineExited } from "../data/engine-exit.ts";
import type { KnownPasswords } from "../login/known-passwords.ts";
import {
  authenticationFailed,
  CLIENT_ERRORS,
  ConnectionDropped,
  ConnectionRejected,
} from "../protocol/errors.ts";
import type { ClientError } from "../protocol/messages.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import type { EngineLogins } from "../relay/engine-login.ts";
import { EngineRefused, EngineUnreachable } from "../relay/engine-login.ts";
import type { StatementLog } from "../statements/statement-log.ts";
import { KnownLogins } from "./known-logins.ts";
import { logSqlWork } from "./log-sql-work.ts";
import { errorOfMessage, SqlError } from "./sql-error.ts";
import {
  DEFERRABLE,
  ISOLATION_LEVEL,
  parseLogin,
  parseWork,
  READ_ONLY,
  readConnectionString,
  type SqlHeaders,
  type SqlLogin,
  type SqlWork,
} from "./sql-request.ts";
import type { SqlResultJson } from "./sql-result.ts";
import { type OnAbandoned, type SqlLimits, SqlSessions } from "./sql-sessions.ts";
import type { Json } from "./sql-values.ts";

const INTERNAL_SERVER_ERROR = 500;
/** Messages of these codes are not about the request. */
const SERVER_CODES = new Set(["53000", "57P03"]);

export type SqlRequest = {
  readonly headers: SqlHeaders;
  /** Reads the body. Called only after the password was checked. Throws `SqlError`. */
  readonly readBody: () => Promise<string>;
  /** The address of the client. */
  readonly address: string;
  /** The world of the path; `undefined`: the one that the connection string names, or the default one. */
  readonly world: string | undefined;
  readonly onAbandoned: OnAbandoned;
};

export type SqlResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A statement of a caller that needs no password. */
export type TrustedStatement = {
  readonly endpointId: string;
  readonly role: string;
  readonly database: string;
  readonly pooled: boolean;
  /** The application name of the connection. */
  readonly source: string | undefined;
  readonly query: string;
  readonly params: readonly Json[];
  readonly timeoutMs: number;
};

export type StatementOutcome =
  | Pick<SqlResultJson, "rows" | "command" | "rowCount">
  | { readonly error: { readonly [field: string]: Json } };

export type SqlOverHttpOptions = {
  readonly cancelKeys: CancelKeys;
  readonly logins: EngineLogins;
  readonly passwords: KnownPasswords;
  /** Throws `ConnectionRejected` if there is no such world. */
  readonly servedWorld: (name: string | undefined) => Promise<ServedWorld>;
  readonly onClientError: (code: string) => void;
  /** Log of statements; absent if they are not logged. */
  readonly statements?: StatementLog | undefined;
};

/** `POST /sql`: one statement, or several in one transaction, for clients without a connection. */
export class SqlOverHttp {
  readonly #options: SqlOverHttpOptions;
  readonly #sessions: SqlSessions;
  readonly #logins = new KnownLogins();

  constructor(options: SqlOverHttpOptions) {
    this.#options = options;
    this.#sessions = new SqlSessions(options.cancelKeys, options.logins);
  }

  /** Rejects with `ConnectionLost` if a fault closes the connection, otherwise only because of a bug. */
  async respond(request: SqlRequest): Promise<SqlResponse> {
    try {
      return await this.#respond(request);
    } catch (error) {
      if (error instanceof ConnectionDropped) throw new ConnectionLost(error.fault);
      const { status, body } = this.#sqlErrorOf(error);
      return { status, headers: {}, body };
    }
  }

  /** Rejects only because of a bug. */
  async execute(
    world: string,
    { endpointId, role, database, pooled, source, query, params, timeoutMs }: TrustedStatement,
    onAbandoned: OnAbandoned,
  ): Promise<StatementOutcome> {
    const login = {
      route: { endpointId, pooled, world, options: undefined },
      ...{ role, database, applicationName: source, needsNoPassword: true as const },
    };
    const statements = [{ text: query, parameters: params, arrayMode: false }];
    try {
      const served = await this.#options.servedWorld(world);
      const work = { statements, rawText: false, begin: undefined };
      return (await this.#execute(served, login, work, { onAbandoned, timeoutMs })) as SqlResultJson;
    } catch (error) {
      return { error: JSON.parse(this.#sqlErrorOf(error).body) };
    }
  }

  async #respond({ headers, readBody, address, world, onAbandoned }: SqlRequest): Promise<SqlResponse> {
    const connectionString = readConnectionString(headers);
    const found = this.#logins.find(connectionString, parseLogin);
    const { login, passwordHash } = found;
    const { route, role } = login;
    const served = await this.#options.servedWorld(world ?? route.world);
    const verifier = await served.verifierOf(route.endpointId, role, address);
    const { passwords } = this.#options;
    const isRight =
      passwords.isKnown(passwordHash, verifier) ||
      (await passwords.matches(parseLogin(connectionString).password, verifier));
    if (!isRight) throw new ConnectionRejected(authenticationFailed(role));
    this.#logins.remember(found);
    const work = parseWork(headers, await readBody());
    const result = await this.#execute(served, login, work, { onAbandoned });
    const echoed = work.begin === undefined ? [] : [READ_ONLY, DEFERRABLE, ISOLATION_LEVEL];
    const values = echoed.flatMap((name) => {
      const value = headers.get(name);
      return value === null || (value !== "true" && name !== ISOLATION_LEVEL) ? [] : [[name, value]];
    });
    return { status: 200, headers: Object.fromEntries(values), body: JSON.stringify(result) };
  }

  #execute(served: ServedWorld, login: SqlLogin, work: SqlWork, limits: SqlLimits): Promise<Json> {
    return logSqlWork(this.#options.statements, served, login, work, () =>
      this.#sessions.execute(served, login, work, limits),
    );
  }

  #sqlErrorOf(error: unknown): SqlError {
    if (error instanceof SqlError) return error;
    if (error instanceof ConnectionDropped) return sqlErrorFrom(CLIENT_ERRORS.dropped);
    if (error instanceof EngineRefused) return errorOfMessage(error.answer.subarray(5));
    const isLost = error instanceof EngineExited || error instanceof EngineUnreachable;
    if (!isLost && !(error instanceof ConnectionRejected)) throw error;
    const clientError = isLost ? CLIENT_ERRORS.computeFailed : error.clientError;
    this.#options.onClientError(clientError.code);
    return sqlErrorFrom(clientError);
  }
}

function sqlErrorFrom({ severity, code, message }: ClientError): SqlError {
  const status = SERVER_CODES.has(code) ? INTERNAL_SERVER_ERROR : undefined;
  return new SqlError(message, status, { severity, code });
}
