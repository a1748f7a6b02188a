import type { Context } from "hono";
import type * as z from "zod";
import type { RequestBody } from "../../http/body.ts";
import { ConnectionLost } from "../../http/connection-lost.ts";
import { type ErrorResponse, errorBody } from "../../http/errors.ts";
import {
  errorResponseFrom,
  fail,
  parseInput,
  parseJsonBody,
  queryParameters,
  RequestError,
  readBody,
  requestIdOf,
  unwrap,
  type WorldResolver,
} from "../../http/request.ts";
import { DateHeader } from "../../http/timestamps.ts";
import { MAX } from "../../input-limits/limits.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Account } from "../../platform/model/account.ts";
import type { FindWritten } from "../../platform/model/data-description.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { authorize, type Permission, type Principal } from "../../platform/rules/account/access.ts";
import type { Command } from "../../platform/rules/commands.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { ConnectionUris, type PostgresAddress } from "../render/connection-uri.ts";
import { type AuthenticatedCaller, authenticate, hasValidKey } from "./authenticate.ts";
import { clientAddress } from "./client-address.ts";
import { matchRequestFaults } from "./fault-middleware.ts";
import {
  type AuthenticatedHandler,
  catchRefusal,
  describeNotFound,
  faultTargetOf,
  handleAfterDelay,
  type IncomingRequest,
  journalRequest,
  organizationIn,
  type RouteResponse,
  type RouteResult,
  respond,
} from "./incoming-request.ts";
import { MANUAL_CLOCK_HINTS } from "./manual-clock-hints.ts";
import { RateLimiter } from "./rate-limit.ts";
import { writtenIn } from "./written-positions.ts";

/** Commands after which the data of branches may take more space. */
const ADDS_DATA = new Set<Command["type"]>([
  "CreateProject",
  "CreateBranch",
  "CreateCompute",
  "StartCompute",
  "RestartCompute",
  "RestoreBranch",
  "RestoreSnapshot",
]);

/** One request, authenticated and parsed, in its transaction. */
export type RequestContext<P, Q, B> = {
  readonly transaction: Transaction;
  /** The account that the call acts for: that of the named project or organization, else the caller's own. */
  readonly account: Account;
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** How clients connect to the computes of the request's world. */
  readonly connectionUris: ConnectionUris;
  /** When Postgres had written the log of a branch up to an LSN; `undefined` without an LSN, or if it has not. */
  readonly writtenAt: (branchId: string | undefined, lsn: string | undefined) => SimTime | undefined;
  /** Executes a command. A refusal ends the request with the matching error. */
  readonly execute: (command: Command) => readonly RecordedEvent[];
};

export type RouteOptions<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = {
  /** S: usually 200, or 201 for a creation. */
  readonly status?: 200 | 201 | 202 | 204;
  /** The permission that the caller needs. Default: read for GET, write for other methods. */
  readonly permission?: Permission;
  /** The organization that the body names; used if neither path nor query names one. */
  readonly organizationIn?: (body: z.output<B>) => string | undefined;
  readonly params?: P;
  readonly query?: Q;
  /** Repeatable query parameters, parsed as one list with commas. */
  readonly listParameters?: readonly string[];
  readonly body?: B;
  /** S: fields of its 404, whose body has no request id. */
  readonly notFound?: object;
};

export type ApiOptions = {
  readonly worldOf: WorldResolver;
  /** The world that decides whether a caller may know which worlds exist. */
  readonly defaultWorld: WorldResolver;
  /** D: 700 requests a minute and 40 a second, per route and account. */
  readonly rateLimit: boolean;
  /** Absent if the server accepts no Postgres clients. */
  readonly postgres?: PostgresAddress | undefined;
  /** Counts a request without a valid key; returns the error if it exceeds a limit. */
  readonly findWritten?: FindWritten | undefined;
  /** Why no data may be added to this server; `undefined` if it may. */
  readonly dataProblem?: (() => string | undefined) | undefined;
  readonly countUnauthorized: (address: string) => ErrorResponse | undefined;
  readonly onBug: (error: unknown) => void;
};

/**
 * Turns routes into handlers: authenticate, parse, execute in one transaction, render. See
 * docs/explanation/architecture.md.
 */
export class RouteHandlers {
  readonly #options: ApiOptions;
  readonly #date = new DateHeader();
  readonly #rateLimiter: RateLimiter | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#rateLimiter = options.rateLimit ? new RateLimiter() : undefined;
  }

  route<
    P extends z.ZodType = z.ZodUnknown,
    Q extends z.ZodType = z.ZodUnknown,
    B extends z.ZodType = z.ZodUnknown,
  >(
    options: RouteOptions<P, Q, B>,
    handle: (request: RequestContext<z.output<P>, z.output<Q>, z.output<B>>) => unknown,
  ): (context: Context) => Promise<Response> {
    return async (context) => {
      const input =
        options.body === undefined
          ? undefined
          : await readBody(context, { admit: () => this.#hasValidKey(context) });
      const permission =
        options.permission ??
        (context.req.method === "GET" || context.req.method === "HEAD" ? "read" : "write");
      const authorizeAndHandle: AuthenticatedHandler = (transaction, caller) => {
        const params = (options.params && parseInput(options.params, context.req.param())) as z.output<P>;
        const query = (options.query &&
          parseInput(
            options.query,
            queryParameters(context, options.listParameters),
            "query",
          )) as z.output<Q>;
        const body = (options.body &&
          parseInput(options.body, input && parseJsonBody(input, MAX.apiEntries))) as z.output<B>;
        const { principal } = caller;
        const resource = {
          projectId: context.req.param("project_id"),
          organizationId: organizationIn(context, query) ?? options.organizationIn?.(body),
        };
        const account = unwrap(authorize(transaction.world, principal, permission, resource));
        const execute = (command: Command) => {
          this.#checkDataLimit(command);
          return unwrap(transaction.execute(command));
        };
        const writtenAt = writtenIn(transaction, this.#options.findWritten);
        const connectionUris = new ConnectionUris(this.#options.postgres, context.req.param("world"));
        return {
          status: options.status ?? 200,
          body: handle({
            transaction,
            account,
            principal,
            params,
            query,
            body,
            connectionUris,
            writtenAt,
            execute,
          }),
        };
      };
      return this.#handle(context, describeNotFound(options.notFound, authorizeAndHandle), input);
    };
  }

  /** The limit is one of the server, so worlds know nothing of it. */
  #checkDataLimit({ type }: Command): void {
    const problem = ADDS_DATA.has(type) ? this.#options.dataProblem?.() : undefined;
    if (problem !== undefined) fail({ status: 422, code: "DATA_LIMIT_EXCEEDED", message: problem });
  }

  /** An error for an authenticated caller, independent of the world. */
  errorRoute(failureFor: (context: Context) => ErrorResponse): (context: Context) => Promise<Response> {
    return (context) => this.#handle(context, () => failureFor(context));
  }

  /** Whether the request may send a body above the limit for anyone. It is authenticated again to be handled. */
  async #hasValidKey(context: Context): Promise<boolean> {
    try {
      return await this.#options
        .worldOf(context)
        .transact((transaction) => hasValidKey(transaction, context));
    } catch {
      // There is no such world, or it cannot be opened: the request is answered without its body.
      return false;
    }
  }

  async #handle(context: Context, handle: AuthenticatedHandler, input?: RequestBody): Promise<Response> {
    const { worldOf, onBug } = this.#options;
    const requestId = requestIdOf(context);
    const request: IncomingRequest = {
      context,
      requestId,
      input,
      operation: operationIdOf(context.req.method, context.req.routePath),
    };
    let world: WorldHandle | undefined;
    let result: RouteResult;
    try {
      world = worldOf(context);
      // A restored world has a new history id, so the limiter counts anew: time went back.
      const historyId = this.#rateLimiter && world.history().id;
      const immediate = await world.transact((transaction) =>
        this.#start(transaction, request, handle, historyId),
      );
      result = immediate ?? (await handleAfterDelay(world, request, handle));
    } catch (error) {
      result =
        world === undefined && error instanceof RequestError
          ? await this.#respondToUnknownWorld(context, error)
          : errorResponseFrom(error, onBug);
    }
    // Thrown only now: the commit must be durable before the connection drops.
    if ("lostBy" in result) throw new ConnectionLost(result.lostBy);
    return this.#send(context, requestId, world, result);
  }

  /** Handles the request; `undefined` if a fault delays it. */
  #start(
    transaction: Transaction,
    request: IncomingRequest,
    handle: AuthenticatedHandler,
    historyId: string | undefined,
  ): RouteResult | undefined {
    const { context } = request;
    const result = catchRefusal(() => {
      const caller = this.#authenticate(transaction, context);
      request.caller = caller;
      const rateLimited = this.#rateLimiter?.countAndCheck(
        `${historyId} ${caller.principal.account.id} ${context.req.method} ${context.req.routePath}`,
        transaction.now,
      );
      if (rateLimited !== undefined) return rateLimited;
      if (transaction.world.faults.size === 0) return handle(transaction, caller);
      request.matchedFault = matchRequestFaults(transaction, faultTargetOf(request, caller));
      return (request.matchedFault?.delays.length ?? 0) > 0
        ? undefined
        : respond(transaction, request, caller, handle);
    });
    if (result !== undefined) journalRequest(transaction, request, result);
    return result;
  }

  /** Only a caller with a key of the default world learns that a world does not exist, or where it has moved. */
  async #respondToUnknownWorld(context: Context, { response }: RequestError): Promise<ErrorResponse> {
    const { defaultWorld, onBug } = this.#options;
    try {
      const answer = await defaultWorld(context).transact((transaction) =>
        catchRefusal(() => {
          this.#authenticate(transaction, context);
          return response;
        }),
      );
      return answer.status === 401 ? (withoutPlace(response) ?? answer) : answer;
    } catch (error) {
      return errorResponseFrom(error, onBug);
    }
  }

  /** Authenticates a request. One without a valid key counts against a rate limit of its own. */
  #authenticate(transaction: Transaction, context: Context): AuthenticatedCaller {
    try {
      return authenticate(transaction, context);
    } catch (error) {
      if (!isUnauthorized(error)) throw error;
      const rateLimited = this.#options.countUnauthorized(clientAddress(context));
      if (rateLimited !== undefined) return fail(rateLimited);
      throw error;
    }
  }

  async #send(
    context: Context,
    requestId: string,
    world: WorldHandle | undefined,
    response: RouteResponse,
  ): Promise<Response> {
    const headers: Record<string, string> = { "Content-Type": "application/json", "X-Request-ID": requestId };
    // The time of a world would tell a caller without a key that the world exists.
    const now = world && response.status !== 401 ? worldTime(world) : undefined;
    if (now !== undefined) headers["Date"] = this.#date.at(now);
    if ("body" in response) {
      if (response.body === undefined) {
        delete headers["Content-Type"];
        return context.body(null, response.status as 200, headers);
      }
      const text = typeof response.body === "string" ? response.body : JSON.stringify(response.body);
      return new Response(text, { status: response.status, headers });
    }
    Object.assign(headers, response.headers);
    // Only its user advances a manual clock, so a client that retries would wait forever.
    const hint = MANUAL_CLOCK_HINTS[response.status];
    if (hint === undefined || world === undefined || (await world.clock()).mode !== "manual")
      return context.body(errorBody(requestId, response), response.status as 400, headers);
    headers["X-Standin-Hint"] = hint.header;
    // Within the process (scenarios, tests) there is no user to inform, and messages may be compared.
    const isOverSocket = (context.env as { incoming?: unknown } | undefined)?.incoming !== undefined;
    if (!isOverSocket) return context.body(errorBody(requestId, response), response.status as 400, headers);
    const { code, message } = response;
    const explained = errorBody(requestId, { code, message: `${message} (${hint.text})` });
    return context.body(explained, response.status as 400, headers);
  }
}

/** The keys of a world move with it, and a client that tries again reaches it where they are valid. */
function withoutPlace(response: ErrorResponse): ErrorResponse | undefined {
  if (response.code !== "WORLD_MOVED") return undefined;
  return { ...response, message: "this world has moved, or is about to move; try again" };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof RequestError && error.response.status === 401;
}

function worldTime(world: WorldHandle): number | undefined {
  try {
    return world.now();
  } catch {
    return undefined;
  }
}
