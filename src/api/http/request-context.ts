import type { Context } from "hono";
import * as z from "zod";
import { ConnectionLost } from "../../http/connection-lost.ts";
import { errorBody, type Failure } from "../../http/errors.ts";
import { DateHeader } from "../../http/instants.ts";
import { type Body, failureFrom, found, jsonOf, parse, queryOf, Refused, readBody, requestIdOf, type WorldOf } from "../../http/request.ts";
import { admit, type Need, type Principal } from "../../platform/account/access.ts";
import type { Account } from "../../platform/account/account.ts";
import type { Command } from "../../platform/commands.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { FaultTarget } from "../../platform/fault/fault.ts";
import type { Turn, WorldHandle } from "../../worlds/world-handle.ts";
import { operationAt } from "../coverage/operation-ids.ts";
import { type Authenticated, authenticate } from "./authenticate.ts";
import { type Fate, meetFaults, wait } from "./fault-middleware.ts";
import { RateLimiter } from "./rate-limit.ts";
import { bodyOf, idsOf, pathOf, type RequestNote } from "./request-note.ts";

/** One request, authenticated and parsed, in its turn of the world. */
export type Call<P, Q, B> = {
  readonly turn: Turn;
  /** For which the call acts: that of the project or organization which it names, else the caller's own. */
  readonly account: Account;
  /** Who calls. */
  readonly principal: Principal;
  /** Id of the key that the request came with. */
  readonly keyId: number;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Gives a command to the world; a refusal ends the call with the answer that belongs to it. */
  readonly execute: (command: Command) => readonly RecordedEvent[];
};

export type RouteOptions<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = {
  /** S: 200, or 201 where something is created, and a few others. An answer without a body has none in the document. */
  readonly status?: 200 | 201 | 202 | 204;
  /** What the caller must be allowed; else to read by GET, to write by the others. */
  readonly needs?: Need;
  /** The organization that the body names, where neither path nor query does. */
  readonly organizationIn?: (body: z.output<B>) => string | undefined;
  readonly params?: P;
  readonly query?: Q;
  /** Query parameters that may be repeated; they are parsed as one, with commas. */
  readonly lists?: readonly string[];
  readonly body?: B;
};

export type ApiOptions = {
  readonly worldOf: WorldOf;
  /** PLATFORM, "Answers": 700 requests a minute, bursts of 40 a second per route and account. */
  readonly rateLimit: boolean;
  readonly onBug: (error: unknown) => void;
};

/** What a look into the world comes to: a body, as an object or as JSON text, or an error. */
type Answer = { readonly status: number; readonly body: unknown } | Failure | NonNullable<Fate["answer"]>;
/** What comes of a request: an answer, or a connection that a fault loses, maybe behind what was done. */
type Outcome = Answer | { readonly lostBy: string; readonly done?: Answer };
type Look = (turn: Turn, caller: Authenticated) => Answer;

/** A request on its way. */
type Asked = {
  readonly context: Context;
  readonly requestId: string;
  readonly input: Body | undefined;
  readonly operation: string | undefined;
  /** Once it is known. */
  caller?: Authenticated;
  fate?: Fate | undefined;
};

/** What a user of a manual clock has to do before a repeated request can be answered otherwise. */
const HINTS: Readonly<Record<number, string>> = { 423: 'advance {"next":true}', 429: 'advance {"by":"1s"}' };

/** Where a route takes nothing, nothing is looked at. */
const ANYTHING = z.unknown();

/** Turns routes into handlers: authenticate, parse, one turn, render (DESIGN, "The way of a request"). */
export class Caller {
  readonly #options: ApiOptions;
  readonly #date = new DateHeader();
  readonly #rates: RateLimiter | undefined;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#rates = options.rateLimit ? new RateLimiter() : undefined;
  }

  route<P extends z.ZodType = typeof ANYTHING, Q extends z.ZodType = typeof ANYTHING, B extends z.ZodType = typeof ANYTHING>(
    options: RouteOptions<P, Q, B>,
    look: (call: Call<z.output<P>, z.output<Q>, z.output<B>>) => unknown,
  ): (context: Context) => Promise<Response> {
    return async (context) => {
      const input = options.body === undefined ? undefined : await readBody(context);
      const need = options.needs ?? (context.req.method === "GET" || context.req.method === "HEAD" ? "read" : "write");
      const answer: Look = (turn, caller) => {
        const params = parse(options.params ?? ANYTHING, context.req.param()) as z.output<P>;
        const query = parse(options.query ?? ANYTHING, options.query && queryOf(context, options.lists), "query") as z.output<Q>;
        const body = parse(options.body ?? ANYTHING, input && jsonOf(input)) as z.output<B>;
        const { principal, keyId } = caller;
        const place = {
          projectId: context.req.param("project_id"),
          organizationId: organizationIn(context, query) ?? options.organizationIn?.(body),
        };
        const account = found(admit(turn.world, principal, need, place));
        const execute = (command: Command) => found(turn.execute(command));
        return { status: options.status ?? 200, body: look({ turn, account, principal, keyId, params, query, body, execute }) };
      };
      return this.#answer(context, answer, input);
    };
  }

  /** An answer for an authenticated caller that needs nothing of the world. */
  failing(failureFor: (context: Context) => Failure): (context: Context) => Promise<Response> {
    return (context) => this.#answer(context, () => failureFor(context));
  }

  async #answer(context: Context, look: Look, input?: Body): Promise<Response> {
    const { worldOf, onBug } = this.#options;
    const requestId = requestIdOf(context);
    const asked: Asked = { context, requestId, input, operation: operationAt(context.req.method, context.req.routePath) };
    let world: WorldHandle | undefined;
    let outcome: Outcome;
    try {
      world = worldOf(context);
      // Counted anew where time has gone back.
      const history = this.#rates && world.history().id;
      const begun = await world.turn((turn) => this.#begin(turn, asked, look, history));
      outcome = begun ?? (await delayed(world, asked, look));
    } catch (error) {
      outcome = failureFrom(error, onBug);
    }
    // Not before what it has done is durable.
    if ("lostBy" in outcome) throw new ConnectionLost(outcome.lostBy);
    return this.#respond(context, requestId, world, outcome);
  }

  /** What comes of a request at once; `undefined` where a fault delays it. */
  #begin(turn: Turn, asked: Asked, look: Look, history: string | undefined): Outcome | undefined {
    const { context } = asked;
    const outcome = orFailure(() => {
      const caller = authenticate(turn, context);
      asked.caller = caller;
      const limited = this.#rates?.refuse(
        `${history} ${caller.principal.account.id} ${context.req.method} ${context.req.routePath}`,
        turn.now,
      );
      if (limited !== undefined) return limited;
      if (turn.world.faults.size === 0) return look(turn, caller);
      asked.fate = meetFaults(turn, targetOf(asked, caller));
      return (asked.fate?.delays.length ?? 0) > 0 ? undefined : fulfil(turn, asked, caller, look);
    });
    if (outcome !== undefined) note(turn, asked, outcome);
    return outcome;
  }

  async #respond(context: Context, requestId: string, world: WorldHandle | undefined, answer: Answer): Promise<Response> {
    const headers: Record<string, string> = { "Content-Type": "application/json", "X-Request-ID": requestId };
    const now = world && nowOf(world);
    if (now !== undefined) headers["Date"] = this.#date.at(now);
    if ("body" in answer) {
      if (answer.body === undefined) {
        delete headers["Content-Type"];
        return context.body(null, answer.status as 200, headers);
      }
      const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
      return context.body(text, answer.status as 200, headers);
    }
    Object.assign(headers, answer.headers);
    // Nobody but its user moves a manual clock, and a client that retries would wait for ever (PLATFORM, "Operations").
    const hint = HINTS[answer.status];
    if (hint !== undefined && world !== undefined && (await world.clock()).mode === "manual") headers["X-Standin-Hint"] = hint;
    return context.body(errorBody(requestId, answer), answer.status as 400, headers);
  }
}

/** What has been delayed is done in a turn of its own; its key may have been revoked meanwhile. */
async function delayed(world: WorldHandle, asked: Asked, look: Look): Promise<Outcome> {
  await wait(world, asked.fate?.delays ?? []);
  return world.turn((turn) => {
    const outcome = orFailure(() => fulfil(turn, asked, authenticate(turn, asked.context), look));
    note(turn, asked, outcome);
    return outcome;
  });
}

/** Does the work, or what a fault has in its place. */
function fulfil(turn: Turn, { fate }: Asked, caller: Authenticated, look: Look): Outcome {
  if (fate?.answer !== undefined) return fate.answer;
  if (fate?.lost === "before") return { lostBy: fate.fault };
  if (fate?.lost === undefined) return look(turn, caller);
  const done = orFailure(() => look(turn, caller));
  return { lostBy: fate.fault, done };
}

/** A refusal is no bug of the world's: it is an answer like others. */
function orFailure<T>(work: () => T): T | Failure {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refused) return error.failure;
    throw error;
  }
}

function targetOf({ context, operation }: Asked, { principal: { account, scope } }: Authenticated): FaultTarget {
  const { req } = context;
  const [projectId, branchId, endpointId] = [req.param("project_id"), req.param("branch_id"), req.param("endpoint_id")];
  return {
    kind: "request",
    operation,
    method: req.method === "HEAD" ? "GET" : req.method,
    ...(projectId === undefined ? {} : { projectId }),
    ...(branchId === undefined ? {} : { branchId }),
    ...(endpointId === undefined ? {} : { endpointId }),
    accountId: account.id,
    organizationId: organizationIn(context, req.query()) ?? scope?.organizationId ?? account.organizationId,
  };
}

/** For the journal of requests. What is read costs little; what may change something is kept with what it brought. */
function note({ noteRequest }: Turn, { context, requestId, input, operation, caller, fate }: Asked, outcome: Outcome): void {
  if (noteRequest === undefined) return;
  const { method, url } = context.req;
  const noted: { -readonly [K in keyof RequestNote]: RequestNote[K] } = { requestId, method, path: pathOf(url) };
  if (operation !== undefined) noted.operationId = operation;
  if (caller !== undefined) {
    noted.accountId = caller.principal.account.id;
    noted.keyId = caller.keyId;
  }
  if (fate !== undefined) noted.fault = fate.fault;
  const answer = "lostBy" in outcome ? outcome.done : outcome;
  if (!("lostBy" in outcome)) noted.status = outcome.status;
  if (answer !== undefined && "code" in answer) noted.code = answer.code;
  if (method !== "GET" && method !== "HEAD") {
    const body = input && bodyOf(input);
    if (body !== undefined) noted.body = body;
    const answered = answer !== undefined && "body" in answer ? idsOf(answer.body) : undefined;
    if (answered !== undefined) noted.answered = answered;
  }
  noteRequest(noted);
}

/** The organization that a request is for, by its path or its query. */
function organizationIn(context: Context, query: unknown): string | undefined {
  const inPath = context.req.param("org_id") ?? context.req.param("source_org_id");
  return inPath ?? (query as { org_id?: string } | undefined)?.org_id;
}

function nowOf(world: WorldHandle): number | undefined {
  try {
    return world.now();
  } catch {
    return undefined;
  }
}
