import type { Socket } from "node:net";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { createControl } from "../control-api/app.ts";
import { guard } from "../control-api/http/guard.ts";
import type { ControlOptions } from "../control-api/http/handler.ts";
import { requireRight, type TeamToken } from "../control-api/http/team-token.ts";
import type { AskAdvice, AskWhatIf } from "../control-api/http/whatif-fields.ts";
import { ConnectionLost } from "../http/connection-lost.ts";
import { CODE_HEADER, errorPage } from "../http/errors.ts";
import {
  errorResponseFrom,
  requestIdOf,
  respondWithError,
  unwrap,
  type WorldResolver,
} from "../http/request.ts";
import { closeIfUnread } from "../http/unread-body.ts";
import type { Places } from "../input-limits/limited-places.ts";
import { createApi } from "../platform-api/app.ts";
import { KNOWN_OPERATIONS } from "../platform-api/coverage/client-operations.ts";
import { coverage } from "../platform-api/coverage.ts";
import { actFor } from "../platform-api/http/acting-account.ts";
import { RateLimiter } from "../platform-api/http/rate-limit.ts";
import type { RepeatedRequests } from "../platform-api/http/repeated-requests.ts";
import { redactedPath } from "../platform-api/http/request-journal.ts";
import type { ApiOptions } from "../platform-api/http/route-handlers.ts";
import { WriteTurns } from "../platform-api/http/write-turns.ts";
import type { PostgresAddress } from "../platform-api/render/connection-uri.ts";
import { transferRoute } from "../platform-api/storage/transfers.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import type { WorldsHandle } from "../worlds/world-handle.ts";
import { consolePages } from "./console-files.ts";
import type { ConsoleMode } from "./console-mode.ts";
import { docsPages } from "./docs-files.ts";
import type { PostgresServices } from "./postgres-services.ts";
import { type AnsweredSql, placesForSqlBodies, sqlRoute } from "./sql-route.ts";
import type { Tracing } from "./tracing/tracing.ts";

export type AppOptions = {
  readonly worlds: WorldsHandle;
  readonly version: string;
  /** Name of this server among several behind a router; its responses state it. */
  readonly cell?: string | undefined;
  readonly rateLimit: boolean;
  readonly hosts: readonly string[];
  /** Whether browsers get the console at / and /w/<name>/, and the documentation at /docs/. Default: `off`. */
  readonly console?: ConsoleMode | "run";
  readonly controlToken: string | undefined;
  /** Whether writes that arrive together let reads go first. Default: false. */
  readonly readsFirst?: boolean;
  /** Tokens of the control API for some worlds and rights (default: none). They require `controlToken`. */
  readonly teamTokens?: readonly TeamToken[] | undefined;
  /** Whether requests may let it call other servers, such as one that a world moves to. Default: true. */
  readonly callsServers?: boolean;
  /** Absent if the server has no Postgres. */
  readonly postgres?: PostgresServices | undefined;
  /** How Postgres clients reach this server; absent if it accepts none. */
  readonly postgresAddress?: PostgresAddress | undefined;
  readonly recordScenario?: ControlOptions["recordScenario"];
  readonly run?: ControlOptions["run"];
  /** Absent: each request takes its route. */
  readonly repeated?: RepeatedRequests | undefined;
  readonly repeatedSql?: AnsweredSql | undefined;
  /** Absent if the server exports no traces. */
  readonly tracing?: Tracing | undefined;
  /** A clock of the host in milliseconds, for tests (default: the monotonic clock). */
  readonly steadyTime?: () => number;
  readonly onBug: (error: unknown) => void;
};

/** Loads the engine on the first request. */
const lazyWhatIf: AskWhatIf = async (world, question) =>
  (await import("./world-whatif.ts")).answerWhatIf(world, question);

const lazyAdvice: AskAdvice = async (world, question) =>
  (await import("./world-advice.ts")).answerAdvice(world, question);

/** Names the server in its responses. */
export const CELL_HEADER = "Standin-Cell";

/** Ids of all operations of the public document; faults may name them. */
export const OPERATION_IDS = KNOWN_OPERATIONS.map(({ operationId }) => operationId);

/**
 * All surfaces of one server: the imitated API at /api/v2, the control API at /_sim, and both for each world
 * at /w/<name>.
 */
export function createApp(options: AppOptions): Hono {
  const defaultWorld: WorldResolver = () => unwrap(options.worlds.world(DEFAULT_WORLD));
  const { rateLimit, readsFirst = false, steadyTime = () => performance.now() } = options;
  // One limiter for all worlds: with separate ones, the limit would reveal which worlds exist.
  const limiter = rateLimit ? new RateLimiter() : undefined;
  const countUnauthorized = (address: string) => limiter?.countAndCheck(address, steadyTime());
  const shared = {
    defaultWorld,
    countUnauthorized,
    sqlPlaces: placesForSqlBodies(),
    writeTurns: readsFirst ? new WriteTurns(steadyTime) : undefined,
  };
  const app = createSurfaces(options, "", defaultWorld, shared);
  if (servesPages(options)) {
    app.route("/", consolePages(options.console));
    app.route("/", docsPages());
  }
  // Created on the first request: most servers have one world.
  let namedWorldsApp: Hono | undefined;
  app.all("/w/:world/*", async (context) => {
    namedWorldsApp ??= createSurfaces(
      options,
      "/w/:world",
      ({ req }) => unwrap(options.worlds.world(req.param("world") ?? "")),
      shared,
    );
    const endUse = options.worlds.use(context.req.param("world"));
    try {
      return await namedWorldsApp.fetch(context.req.raw, context.env);
    } finally {
      endUse();
    }
  });
  app.all("*", unknownPath(defaultWorld, options.console));
  return app;
}

function servesPages(
  options: AppOptions,
): options is AppOptions & { readonly console: Exclude<ConsoleMode, "off"> | "run" } {
  return options.console !== undefined && options.console !== "off";
}

/** Gives each error the address of its row on the page of errors. */
const linkToErrorPage: MiddlewareHandler = async (context, next) => {
  await next();
  if (context.res.status < 400) return;
  const page = errorPage(context.res.headers.get(CODE_HEADER) ?? "");
  if (page !== undefined) context.header("Link", `</docs/${page.replace(".md", ".html")}>; rel="help"`);
};

type SharedByWorlds = Pick<ApiOptions, "defaultWorld" | "countUnauthorized" | "writeTurns"> & {
  readonly sqlPlaces: Places;
};

/** The surfaces of one world, or of all worlds that paths name. */
function createSurfaces(
  options: AppOptions,
  base: "" | "/w/:world",
  worldOf: WorldResolver,
  shared: SharedByWorlds,
): Hono {
  const { cell, hosts, controlToken, teamTokens = [], postgres, onBug } = options;
  const onError = (error: Error, context: Context) => {
    if (error instanceof ConnectionLost) return dropConnection(error, context);
    return respondWithError(context, errorResponseFrom(error, onBug));
  };
  const api = createApi(apiOptions(options, worldOf, shared));
  // Created on the first request for an account: its routes are a third of all.
  let platform: Hono | undefined;
  const app = new Hono().onError(onError);
  if (base === "") app.use("*", closeIfUnread);
  if (base === "" && servesPages(options)) app.use("*", linkToErrorPage);
  if (cell !== undefined && base === "")
    app.use("*", async (context, next) => {
      await next();
      context.header(CELL_HEADER, cell);
    });
  app.route(`${base}/api/v2`, api);
  app.route(`${base}/`, transferRoute(worldOf, onBug));
  app.route(`${base}/`, sqlRoute(postgres?.sql, shared.sqlPlaces, options.repeatedSql));
  app.use(`${base}/_sim/*`, guard({ hosts, token: controlToken, teams: teamTokens }));
  app.all(`${base}/_sim/accounts/:account_id/api/v2/*`, (context) => {
    const { req, env } = context;
    requireRight(context, "change");
    const url = req.url.replace(/\/_sim\/accounts\/[^/]+(?=\/api\/v2(?:\/|\?|$))/, "");
    platform ??= new Hono()
      .onError(onError)
      .route(`${base}/api/v2`, api)
      .all("*", unknownPath(worldOf, options.console));
    return platform.fetch(new Request(url, req.raw), actFor(req.param("account_id") ?? "", env as object));
  });
  app.route(`${base}/_sim`, createControl(controlOptions(options, worldOf, shared)));
  if (base !== "") app.all("*", unknownPath(worldOf, options.console));
  return app;
}

function apiOptions(
  { rateLimit, postgres, postgresAddress, repeated, tracing, onBug }: AppOptions,
  worldOf: WorldResolver,
  { defaultWorld, countUnauthorized, writeTurns }: SharedByWorlds,
): ApiOptions {
  return {
    worldOf: tracing?.worldsOf(worldOf) ?? worldOf,
    defaultWorld,
    rateLimit,
    countUnauthorized,
    writeTurns,
    postgres: postgresAddress,
    ...postgres?.api,
    repeated,
    onBug,
  };
}

function controlOptions(
  { callsServers = true, tracing, ...options }: AppOptions,
  worldOf: WorldResolver,
  { defaultWorld }: SharedByWorlds,
): ControlOptions {
  return {
    worlds: options.worlds,
    worldOf: tracing?.namesOf(worldOf) ?? worldOf,
    defaultWorld,
    version: options.version,
    cell: options.cell,
    coverage,
    operationIds: OPERATION_IDS,
    askWhatIf: lazyWhatIf,
    askAdvice: lazyAdvice,
    controlToken: options.controlToken,
    teamTokens: options.teamTokens ?? [],
    ...options.postgres?.control,
    recordScenario: options.recordScenario,
    run: options.run,
    destinationAt: callsServers
      ? async (place) => (await import("./http-destination.ts")).httpDestination(place)
      : undefined,
    onBug: options.onBug,
  };
}

/** Destroys the socket. Without a socket, rejects as `fetch` does when a connection is lost. */
function dropConnection(error: ConnectionLost, { env }: Context): Response {
  const socket = (env as { incoming?: { socket?: Socket } } | undefined)?.incoming?.socket;
  if (socket === undefined) throw error;
  socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** Requests that match no path are in the request log too: they show clients with a wrong base URL. */
function unknownPath(
  worldOf: WorldResolver,
  console: AppOptions["console"],
): (context: Context) => Promise<Response> {
  return async (context) => {
    const requestId = requestIdOf(context);
    try {
      const { method, url } = context.req;
      await worldOf(context).transact((transaction) =>
        transaction.logRequest(() => ({
          requestId,
          method,
          path: redactedPath(url),
          status: 404,
          code: "UNKNOWN_PATH",
        })),
      );
    } catch {
      // The request names no world, or one that cannot be opened: there is no log to write to.
    }
    return respondUnknownPath(context, requestId, console);
  };
}

function respondUnknownPath(context: Context, requestId: string, console: AppOptions["console"]): Response {
  const { path } = context.req;
  const [, base = ""] = /^(\/w\/[^/]+)(?=\/|$)/.exec(path) ?? [];
  const pathInWorld = path.slice(base.length);
  const hint =
    pathInWorld === "/" || pathInWorld === ""
      ? `the API is at ${base}/api/v2, the control API at ${base}/_sim${pagesAt(base, console)}`
      : `did you mean ${base}/api/v2${pathInWorld.replace(/^(\/api)?(\/v\d+)?(?=\/|$)/, "")}?`;
  return respondWithError(
    context,
    { status: 404, code: "UNKNOWN_PATH", message: `there is no path ${path} here; ${hint}` },
    requestId,
  );
}

/** Routes for browsers at this address. */
function pagesAt(base: string, console: AppOptions["console"] = "off"): string {
  return console === "off"
    ? ""
    : `; open ${base}/ in a browser for the console, and /docs/ for the documentation`;
}
