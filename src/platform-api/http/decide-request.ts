import type { RequestBody } from "../../http/body.ts";
import type { ErrorResponse } from "../../http/errors.ts";
import {
  errorResponseFrom,
  fail,
  type IncomingCall,
  RequestError,
  requestIdOf,
  type WorldResolver,
} from "../../http/request.ts";
import type { Transaction, WorldHandle } from "../../worlds/world-handle.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { errorsNameTheirRequest } from "../render/recorded-answer.ts";
import { type AuthenticatedCaller, authenticate } from "./authenticate.ts";
import { clientAddress } from "./client-address.ts";
import { matchRequestFaults } from "./fault-middleware.ts";
import {
  type AuthenticatedHandler,
  catchRefusal,
  type Decided,
  faultTargetOf,
  handleAfterDelay,
  hasLaterBody,
  type IncomingRequest,
  journalRequest,
  type ResultWithLaterBody,
  type RouteResult,
  readScopeOf,
  respond,
} from "./incoming-request.ts";
import { RateLimiter } from "./rate-limit.ts";
import type { WriteTurns } from "./write-turns.ts";

export type DecideOptions = {
  readonly worldOf: WorldResolver;
  /** The world that decides whether a caller may know which worlds exist. */
  readonly defaultWorld: WorldResolver;
  /** D: 700 requests a minute and 40 a second, per route and account. */
  readonly rateLimit: boolean;
  /** Counts a request without a valid key; returns the error if it exceeds a limit. */
  readonly countUnauthorized: (address: string) => ErrorResponse | undefined;
  /** Absent: writes begin as they arrive. */
  readonly writeTurns?: WriteTurns | undefined;
  readonly onBug: (error: unknown) => void;
};

type Deciding = { -readonly [K in Exclude<keyof Decided, "result">]: Decided[K] };

/** Handles requests, each in one transaction: authentication, rate limits, faults, the handler, the request log. */
export class RequestDecider {
  readonly #options: DecideOptions;
  readonly #rateLimiter: RateLimiter | undefined;

  constructor(options: DecideOptions) {
    this.#options = options;
    this.#rateLimiter = options.rateLimit ? new RateLimiter() : undefined;
  }

  /** Handles a request, and waits until everything that its answer shows is durable. Never rejects. */
  decide(
    context: IncomingCall,
    handle: AuthenticatedHandler,
    input?: RequestBody,
  ): Decided | Promise<Decided> {
    const turn = isWrite(context) ? this.#options.writeTurns?.next() : undefined;
    return turn === undefined
      ? this.#decideNow(context, handle, input)
      : turn.then(() => this.#decideNow(context, handle, input));
  }

  #decideNow(
    context: IncomingCall,
    handle: AuthenticatedHandler,
    input: RequestBody | undefined,
  ): Decided | Promise<Decided> {
    const { worldOf } = this.#options;
    const requestId = requestIdOf(context);
    const request: IncomingRequest = {
      context,
      requestId,
      input,
      operation: operationIdOf(context.req.method, context.req.routePath),
    };
    const deciding: Deciding = { requestId, namesRequest: true, world: undefined };
    let started: RouteResult | undefined | Promise<RouteResult | undefined>;
    try {
      const world = worldOf(context);
      deciding.world = world;
      // A restored world has a new history id, so the limiter restarts its counts: time went back.
      const historyId = this.#rateLimiter && world.history().id;
      const start = (transaction: Transaction) => {
        deciding.namesRequest = errorsNameTheirRequest(transaction.world);
        return this.#start(transaction, request, handle, historyId);
      };
      started = isWrite(context) ? world.transact(start) : world.read(start, () => readScopeOf(request));
      if (started !== undefined && !(started instanceof Promise) && !hasLaterBody(started))
        return {
          requestId,
          namesRequest: deciding.namesRequest,
          world,
          result: started,
        };
    } catch (error) {
      started = Promise.reject(error);
    }
    return this.#finish(deciding, request, handle, started);
  }

  async #finish(
    deciding: Deciding,
    request: IncomingRequest,
    handle: AuthenticatedHandler,
    started: RouteResult | undefined | Promise<RouteResult | undefined>,
  ): Promise<Decided> {
    const { world, requestId } = deciding;
    // Written out: V8 gives each object of a spread and another field a hidden class of its own.
    const decided = (result: RouteResult) => ({
      requestId,
      namesRequest: deciding.namesRequest,
      world,
      result,
    });
    try {
      const delayed = () => handleAfterDelay(world as WorldHandle, request, handle);
      const result = (await started) ?? (await delayed());
      if (world === undefined || !hasLaterBody(result)) return decided(result);
      return decided(await this.#readLaterBody(world, request, result));
    } catch (error) {
      const result =
        world === undefined && error instanceof RequestError
          ? await this.#respondToUnknownWorld(request.context, error)
          : errorResponseFrom(error, this.#options.onBug);
      return decided(result);
    }
  }

  /** Reads the body after the transaction, and logs what the client gets. A world that is closed by then logs nothing. */
  async #readLaterBody(
    world: WorldHandle,
    request: IncomingRequest,
    { status, body }: ResultWithLaterBody,
  ): Promise<RouteResult> {
    const responseFrom = (error: unknown) => errorResponseFrom(error, this.#options.onBug);
    const result: RouteResult = await body.read().then((read) => ({ status, body: read }), responseFrom);
    try {
      const logged = world.read(
        (transaction) => journalRequest(transaction, request, result),
        () => readScopeOf(request),
      );
      // The answer does not show the entry, so it does not wait for it.
      if (logged instanceof Promise) logged.catch(responseFrom);
    } catch (error) {
      responseFrom(error);
    }
    return result;
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
  async #respondToUnknownWorld(context: IncomingCall, { response }: RequestError): Promise<ErrorResponse> {
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
  #authenticate(transaction: Transaction, context: IncomingCall): AuthenticatedCaller {
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

export function isWrite({ req }: IncomingCall): boolean {
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
