import type { Context } from "hono";
import { ConnectionLost } from "../../http/connection-lost.ts";
import type { ErrorResponse } from "../../http/errors.ts";
import { readForm } from "../../http/form.ts";
import { fail, type IncomingCall, readBody, unwrap } from "../../http/request.ts";
import { DateHeader } from "../../http/timestamps.ts";
import type { Profile } from "../../platform/catalog/defaults-and-limits.ts";
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
import type { Transaction } from "../../worlds/world-handle.ts";
import { operationIdOf } from "../coverage/operation-ids.ts";
import { ConnectionUris, type PostgresAddress } from "../render/connection-uri.ts";
import { answerAsRecorded } from "../render/recorded-answer.ts";
import { hasValidKey } from "./authenticate.ts";
import { CachedBodies } from "./cached-bodies.ts";
import { type DecideOptions, isWrite, RequestDecider } from "./decide-request.ts";
import {
  type AuthenticatedHandler,
  type Decided,
  describeNotFound,
  isSuccess,
  organizationIn,
} from "./incoming-request.ts";
import { type ParsedRequest, parseBody, parseRequest } from "./parse-request.ts";
import { RepeatedBody } from "./repeated-body.ts";
import type { RepeatedRequests } from "./repeated-requests.ts";
import type { ApiRoute } from "./route.ts";
import { answerTo, type Sending } from "./send-response.ts";
import { type SettleContent, withSettledContent } from "./settled-content.ts";
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

export type ApiOptions = DecideOptions & {
  /** Absent if the server accepts no Postgres clients. */
  readonly postgres?: PostgresAddress | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly findWritten?: FindWritten | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly readSchema?: ReadSchema | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly settleContent?: SettleContent | undefined;
  /** Why no data may be added to this server; `undefined` if it may. */
  readonly dataProblem?: (() => string | undefined) | undefined;
  /** Absent: each request takes its route. */
  readonly repeated?: RepeatedRequests | undefined;
};

/**
 * Turns routes into handlers: authenticate, parse, execute in one transaction, render. See
 * docs/explanation/architecture.md.
 */
export class RouteHandlers {
  readonly #options: ApiOptions;
  readonly #sending: Sending = { date: new DateHeader(), cached: new CachedBodies() };
  readonly #decider: RequestDecider;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#decider = new RequestDecider(options);
  }

  handlerFor(route: ApiRoute): (context: Context) => Promise<Response> {
    const { options } = route;
    return async (context) => {
      const answered = this.#options.repeated?.take(context);
      if (answered !== undefined) return this.#send(context, answered);
      const admit = () => this.#hasValidKey(context);
      const form = options.form === true ? await readForm(context, admit) : undefined;
      const input =
        options.body === undefined || options.form === true ? undefined : await readBody(context, { admit });
      let parsed: ParsedRequest | undefined;
      const handler = this.#handlerOf(route, context, (profile) => {
        parsed = parseRequest(context, { input, form }, options, profile);
        return parsed;
      });
      const decided = await withSettledContent(this.#options, route, context, () =>
        this.#decider.decide(context, handler, input),
      );
      if (parsed !== undefined && isSuccess(decided.result)) this.#remember(context, route, parsed);
      return this.#send(context, decided);
    };
  }

  /** The handler of a request whose parameters and body `parse` knows. */
  #handlerOf(
    { options, handle }: ApiRoute,
    call: IncomingCall,
    parse: (profile: Profile) => ParsedRequest,
  ): AuthenticatedHandler {
    const permission = options.permission ?? defaultPermission(call);
    return describeNotFound(options.notFound, (transaction, { principal }) => {
      const { params, query, body } = parse(profileOfWorld(transaction.world));
      const account = unwrap(
        authorize(transaction.world, principal, options.permissionIn?.(body) ?? permission, {
          projectId: call.req.param("project_id") ?? options.projectIn?.(body),
          organizationId: organizationIn(call, query) ?? options.organizationIn?.(body),
        }),
      );
      const parts = this.#partsFor(call, transaction);
      return {
        status: options.status ?? 200,
        body: answerAsRecorded(
          transaction.world,
          operationIdOf(call.req.method, call.req.routePath),
          handle({ transaction, account, principal, params, query, body, ...parts }),
        ),
      };
    });
  }

  /** A request with the same method to the same URL needs no routing, and no parsing of its parameters. */
  #remember(context: Context, route: ApiRoute, parsed: ParsedRequest): void {
    const { repeated } = this.#options;
    const { options } = route;
    if (repeated === undefined || options.form === true) return;
    const last = new RepeatedBody();
    repeated.remember(context, {
      readsBody: options.body !== undefined,
      decide: (call, input) => {
        const handler = () =>
          this.#handlerOf(route, call, (profile) =>
            input === undefined ? parsed : withBody(parsed, parseBody(call, { input }, options, profile)),
          );
        return withSettledContent(this.#options, route, call, () =>
          this.#decider.decide(call, route.method === "GET" ? last.before(handler) : handler(), input),
        );
      },
      answer: (call, decided, result) => answerTo(call, decided, result, this.#sending),
    });
  }

  /** What a route gets in addition to its input. */
  #partsFor(context: IncomingCall, transaction: Transaction) {
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

  /** The limit is a limit of the server, so it is not part of a world. */
  #checkDataLimit({ type }: Command): void {
    const problem = ADDS_DATA.has(type) ? this.#options.dataProblem?.() : undefined;
    if (problem !== undefined) fail({ status: 422, code: "DATA_LIMIT_EXCEEDED", message: problem });
  }

  /** An error for an authenticated caller, independent of the world. */
  errorRoute(failureFor: (context: Context) => ErrorResponse): (context: Context) => Promise<Response> {
    return async (context) =>
      this.#send(context, await this.#decider.decide(context, () => failureFor(context)));
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

  async #send(context: Context, decided: Decided): Promise<Response> {
    // Thrown only now: the commit must be durable before the connection drops.
    if ("lostBy" in decided.result) throw new ConnectionLost(decided.result.lostBy);
    const { status, headers, body } = await answerTo(context, decided, decided.result, this.#sending);
    return new Response(body, { status, headers });
  }
}

function withBody({ params, query }: ParsedRequest, body: unknown): ParsedRequest {
  return { params, query, body };
}

/** Without Postgres or without the database, it has no objects. */
async function schemaOf(
  { readSchema, worldOf }: ApiOptions,
  context: IncomingCall,
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

function defaultPermission(context: IncomingCall): Permission {
  return isWrite(context) ? "write" : "read";
}
