import type { Context } from "hono";
import * as z from "zod";
import { errorBody, type Failure } from "../http/errors.ts";
import { DateHeader } from "../http/instants.ts";
import { fail, failureFrom, found, jsonOf, parse, queryOf, Refused, readBody, requestIdOf, type WorldOf } from "../http/request.ts";
import { admit, type Need, type Principal } from "../platform/access.ts";
import type { Account } from "../platform/account.ts";
import { findApiKeyByHash } from "../platform/api-key.ts";
import type { Command } from "../platform/commands.ts";
import type { RecordedEvent } from "../platform/events.ts";
import { findOrganization } from "../platform/lookup.ts";
import { hashSecret, sameHash } from "../worlds/secrets.ts";
import type { Turn, WorldHandle } from "../worlds/world-handle.ts";
import { RateLimiter } from "./rate-limit.ts";

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
type Answer = { readonly status: number; readonly body: unknown } | Failure;

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
      return this.#answer(context, (turn, caller) => {
        const params = parse(options.params ?? ANYTHING, context.req.param()) as z.output<P>;
        const query = parse(options.query ?? ANYTHING, options.query && queryOf(context, options.lists)) as z.output<Q>;
        const body = parse(options.body ?? ANYTHING, input && jsonOf(input)) as z.output<B>;
        const { principal, keyId } = caller;
        const place = {
          projectId: context.req.param("project_id"),
          organizationId: organizationIn(context, query) ?? options.organizationIn?.(body),
        };
        const account = found(admit(turn.world, principal, need, place));
        const execute = (command: Command) => found(turn.execute(command));
        return { status: options.status ?? 200, body: look({ turn, account, principal, keyId, params, query, body, execute }) };
      });
    };
  }

  /** An answer for an authenticated caller that needs nothing of the world. */
  failing(failureFor: (context: Context) => Failure): (context: Context) => Promise<Response> {
    return (context) => this.#answer(context, () => failureFor(context));
  }

  async #answer(context: Context, look: (turn: Turn, caller: Authenticated) => Answer): Promise<Response> {
    const { worldOf, onBug } = this.#options;
    const requestId = requestIdOf(context);
    let world: WorldHandle | undefined;
    let answer: Answer;
    try {
      world = worldOf(context);
      // Counted anew where time has gone back.
      const history = this.#rates && world.history().id;
      answer = await world.turn((turn) => {
        try {
          const caller = authenticate(turn, context);
          const limited = this.#rates?.refuse(
            `${history} ${caller.principal.account.id} ${context.req.method} ${context.req.routePath}`,
            turn.now,
          );
          if (limited !== undefined) return limited;
          return look(turn, caller);
        } catch (error) {
          if (error instanceof Refused) return error.failure;
          throw error;
        }
      });
    } catch (error) {
      answer = failureFrom(error, onBug);
    }
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

type Authenticated = { readonly principal: Principal; readonly keyId: number };

/** R: a missing header, an invalid or a revoked key are all 401. */
function authenticate(turn: Turn, context: Context): Authenticated {
  const header = context.req.header("authorization");
  const secret = /^bearer +(\S+) *$/i.exec(header ?? "")?.[1];
  if (secret === undefined) {
    return fail(
      unauthorized(
        header === undefined ? "missing header Authorization: Bearer <API_KEY>" : "the Authorization header must be: Bearer <API_KEY>",
      ),
    );
  }
  const hash = hashSecret(secret);
  const apiKey = findApiKeyByHash(turn.world, hash);
  if (apiKey === undefined || !sameHash(apiKey.hash, hash) || apiKey.revokedAt !== undefined) {
    return fail(unauthorized("the API key is not valid or has been revoked"));
  }
  const { scope } = apiKey;
  // An organization's key is nobody's own: it stays when whoever made it leaves.
  const account =
    scope === undefined ? turn.world.accounts.get(apiKey.accountId) : found(findOrganization(turn.world, scope.organizationId));
  if (account === undefined) throw new Error(`API key ${apiKey.id} is of account ${apiKey.accountId}, which does not exist`);
  turn.noteKeyUse(apiKey.id, addressOf(context));
  return { principal: scope === undefined ? { account } : { account, scope }, keyId: apiKey.id };
}

/** The organization that a request is for, by its path or its query. */
function organizationIn(context: Context, query: unknown): string | undefined {
  const inPath = context.req.param("org_id") ?? context.req.param("source_org_id");
  return inPath ?? (query as { org_id?: string } | undefined)?.org_id;
}

function unauthorized(message: string): Failure {
  return { status: 401, code: "UNAUTHORIZED", message, headers: { "WWW-Authenticate": "Bearer" } };
}

/** Where the request came from; a call without a socket came from this process. */
function addressOf(context: Context): string {
  const address = (context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming?.socket?.remoteAddress;
  return address?.replace(/^::ffff:/, "") ?? "127.0.0.1";
}

function nowOf(world: WorldHandle): number | undefined {
  try {
    return world.now();
  } catch {
    return undefined;
  }
}
