import type { Context } from "hono";
import type { RequestBody } from "../../http/body.ts";
import { ConnectionLost } from "../../http/connection-lost.ts";
import type { ErrorResponse } from "../../http/errors.ts";
import { readForm } from "../../http/form.ts";
import {
  errorResponseFrom,
  fail,
  RequestError,
  readBody,
  requestIdOf,
  unwrap,
  type WorldResolver,
} from "../../http/request.ts";
import { DateHeader } from "../../http/timestamps.ts";
import type { FindWritten } from "../../platform/model/data-description.ts";
import {
  type DatabaseSchema,
  type ReadSchema,
  type SchemaRequest,
  SchemaUnavailable,
} from "../../platform/model/database-schema.ts";
import { authorize, type Permission } from "../../platform/rules/account/access.ts";
import type { Command } from "../../platform/rules/commands.ts";
import { profileOfWorld } from "../../platform/world/world.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { ConnectionUris, type PostgresAddress } from "../render/connection-uri.ts";
import { answerAsRecorded, errorsNameTheirRequest } from "../render/recorded-answer.ts";
import { type AuthenticatedCaller, authenticate, hasValidKey } from "./authenticate.ts";
import { CachedBodies } from "./cached-bodies.ts";
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
  type RouteResult,
  readScopeOf,
  respond,
} from "./incoming-request.ts";
import { LaterBody } from "./later-body.ts";
import { parseRequest } from "./parse-request.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { ApiRoute } from "./route.ts";
import { sendResponse } from "./send-response.ts";
import type { WriteTurns } from "./write-turns.ts";
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

export type ApiOptions = {
  readonly worldOf: WorldResolver;
  /** The world that decides whether a caller may know which worlds exist. */
  readonly defaultWorld: WorldResolver;
  /** D: 700 requests a minute and 40 a second, per route and account. */
  readonly rateLimit: boolean;
  /** Absent if the server accepts no Postgres clients. */
  readonly postgres?: PostgresAddress | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly findWritten?: FindWritten | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly readSchema?: ReadSchema | undefined;
  /** Why no data may be added to this server; `undefined` if it may. */
  readonly dataProblem?: (() => string | undefined) | undefined;
  /** Counts a request without a valid key; returns the error if it exceeds a limit. */
  readonly countUnauthorized: (address: string) => ErrorResponse | undefined;
  /** Absent: writes begin as they arrive. */
  readonly writeTurns?: WriteTurns | undefined;
  readonly onBug: (error: unknown) => void;
};

/**
 * Turns routes into handlers: authenticate, parse, execute in one transaction, render. See
 * docs/explanation/architecture.md.
 */
export class RouteHandlers {
  readonly #options: ApiOptions;
  readonly #date = new DateHeader();
  readonly #cached = new CachedBodies();
  readonly #rateLimiter: RateLimiter | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#rateLimiter = options.rateLimit ? new RateLimiter() : undefined;
  }

  handlerFor({ options, handle }: ApiRoute): (context: Context) => Promise<Response> {
    return async (context) => {
      const admit = () => this.#hasValidKey(context);
      const form = options.form === true ? await readForm(context, admit) : undefined;
      const input =
        options.body === undefined || options.form === true ? undefined : await readBody(context, { admit });
      const permission = options.permission ?? defaultPermission(context);
      const authorizeAndHandle: AuthenticatedHandler = (transaction, { principal }) => {
        const profile = profileOfWorld(transaction.world);
        const { params, query, body } = parseRequest(context, { input, form }, options, profile);
        const account = unwrap(
          authorize(transaction.world, principal, options.permissionIn?.(body) ?? permission, {
            projectId: context.req.param("project_id") ?? options.projectIn?.(body),
            organizationId: organizationIn(context, query) ?? options.organizationIn?.(body),
          }),
        );
        const parts = this.#partsFor(context, transaction);
        return {
          status: options.status ?? 200,
          body: answerAsRecorded(
            transaction.world,
            operationIdOf(context.req.method, context.req.routePath),
            handle({ transaction, account, principal, params, query, body, ...parts }),
          ),
        };
      };
      return this.#handle(context, describeNotFound(options.notFound, authorizeAndHandle), input);
    };
  }

  /** What a route gets in addition to its input. */
  #partsFor(context: Context, transaction: Transaction) {
    return {
      worldUrl: context.req.url.replace(/\/api\/v2\/.*$/s, ""),
      connectionUris: new ConnectionUris(this.#options.postgres, context.req.param("world")),
      readSchema: (request: SchemaRequest) => schemaOf(this.#options, context, request),
      writtenAt: writtenIn(transaction, this.#options.findWritten),
      execute: (command: Command) => {
        this.#checkDataLimit(command);
        return unwrap(transaction.execute(command));
      },
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
    const { worldOf, writeTurns, onBug } = this.#options;
    const turn = isWrite(context) ? writeTurns?.next() : undefined;
    if (turn !== undefined) await turn;
    const requestId = requestIdOf(context);
    const request: IncomingRequest = {
      context,
      requestId,
      input,
      operation: operationIdOf(context.req.method, context.req.routePath),
    };
    let world: WorldHandle | undefined;
    let result: RouteResult;
    let namesRequest = true;
    try {
      world = worldOf(context);
      // A restored world has a new history id, so the limiter restarts its counts: time went back.
      const historyId = this.#rateLimiter && world.history().id;
      const start = (transaction: Transaction) => {
        namesRequest = errorsNameTheirRequest(transaction.world);
        return this.#start(transaction, request, handle, historyId);
      };
      const immediate = await (isWrite(context)
        ? world.transact(start)
        : world.read(start, () => readScopeOf(request)));
      result = await withLaterBody(immediate ?? (await handleAfterDelay(world, request, handle)));
    } catch (error) {
      result =
        world === undefined && error instanceof RequestError
          ? await this.#respondToUnknownWorld(context, error)
          : errorResponseFrom(error, onBug);
    }
    // Thrown only now: the commit must be durable before the connection drops.
    if ("lostBy" in result) throw new ConnectionLost(result.lostBy);
    return sendResponse(
      context,
      { requestId, namesRequest, world, date: this.#date, cached: this.#cached },
      result,
    );
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
      // A read that begins again is still one request.
      const rateLimited = request.isCounted
        ? undefined
        : this.#rateLimiter?.countAndCheck(
            `${historyId} ${caller.principal.account.id} ${context.req.method} ${context.req.routePath}`,
            transaction.now,
          );
      request.isCounted = true;
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
}

async function withLaterBody(result: RouteResult): Promise<RouteResult> {
  if (!("body" in result) || !(result.body instanceof LaterBody)) return result;
  return { status: result.status, body: await result.body.read() };
}

/** Without Postgres or without the database, it has no objects. */
async function schemaOf(
  { readSchema, worldOf }: ApiOptions,
  context: Context,
  request: SchemaRequest,
): Promise<DatabaseSchema> {
  try {
    return (await readSchema?.(worldOf(context).name, request)) ?? { objects: [], tables: [] };
  } catch (error) {
    if (error instanceof SchemaUnavailable)
      return fail({ status: 503, code: "SCHEMA_UNAVAILABLE", message: error.message });
    throw error;
  }
}

function defaultPermission(context: Context): Permission {
  return isWrite(context) ? "write" : "read";
}

function isWrite({ req }: Context): boolean {
  return req.method !== "GET" && req.method !== "HEAD";
}

/** The keys of a world move with it, and a client that tries again reaches it where they are valid. */
function withoutPlace(response: ErrorResponse): ErrorResponse | undefined {
  if (response.code !== "WORLD_MOVED") return undefined;
  return { ...response, message: "this world has moved, or is about to move; try again" };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof RequestError && error.response.status === 401;
}
