import type { Context } from "hono";
import * as z from "zod";
import {
  errorResponseFrom,
  parseInput,
  parseJsonBody,
  queryParameters,
  RequestError,
  readBody,
  respondWithError,
  type WorldResolver,
} from "../../http/request.ts";
import type { DescribeBranchData, FindDataVersion } from "../../platform/model/data-description.ts";
import type { MoveDestination } from "../../worlds/moves/world-move.ts";
import {
  type AboutObject,
  StoreUnavailable,
  type Transaction,
  type ViewAbout,
  type WorldHandle,
  type WorldsHandle,
} from "../../worlds/world-handle.ts";
import type { RecordScenario } from "./scenario-fields.ts";
import type { DataUsage, PostgresFigures } from "./server-figures.ts";
import type { RunStatement } from "./sql-fields.ts";
import { strict } from "./strict-fields.ts";
import type { TeamToken } from "./team-token.ts";
import type { WatchedRun } from "./watched-run.ts";
import type { AskAdvice, AskWhatIf } from "./whatif-fields.ts";

/** A world on a server, which may require a control token. */
export type DestinationPlace = {
  readonly world: string;
  readonly url: string;
  readonly token: string | undefined;
};

/** The dependencies of the control API. */
export type ControlOptions = {
  readonly worlds: WorldsHandle;
  readonly worldOf: WorldResolver;
  readonly defaultWorld: WorldResolver;
  readonly version: string;
  /** Name of this server among several behind a router, which states the address that clients use. */
  readonly cell?: string | undefined;
  /** How each operation of the public API is covered. */
  readonly coverage: () => unknown;
  /** All operations of the public API. */
  readonly operationIds: readonly string[];
  readonly askWhatIf: AskWhatIf;
  readonly askAdvice: AskAdvice;
  /** Absent if the server shows no scenario run. */
  readonly run?: WatchedRun | undefined;
  /** Absent if worlds are not in files. */
  readonly recordScenario?: RecordScenario | undefined;
  /** Reaches another server, to which a world moves; absent if worlds are not in files. */
  readonly destinationAt?: ((place: DestinationPlace) => Promise<MoveDestination>) | undefined;
  readonly controlToken: string | undefined;
  readonly teamTokens: readonly TeamToken[];
  /** Absent if the server accepts no Postgres clients. */
  readonly postgresFigures?: (() => PostgresFigures) | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly dataUsage?: (() => DataUsage) | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly describeBranchData?: DescribeBranchData | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly findDataVersion?: FindDataVersion | undefined;
  /** Absent if the server accepts no Postgres clients. */
  readonly runStatement?: RunStatement | undefined;
  readonly onBug: (error: unknown) => void;
};

export type ParsedRequest<Q extends z.ZodType, B extends z.ZodType> = {
  /** The world that the request is for. */
  readonly world: WorldHandle;
  readonly params: Record<string, string>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
};

export type RequestSchemas<Q extends z.ZodType, B extends z.ZodType> = {
  readonly query?: Q;
  readonly body?: B;
  readonly status?: 200 | 201;
  /** The schema of a body that is parsed in more than one step. */
  readonly documentedBody?: z.ZodType;
};

/** A handler with the schemas of its inputs, for the document of the control API. */
export type DocumentedHandler = ((context: Context) => Promise<Response>) & {
  readonly inputs: { readonly query?: z.ZodType | undefined; readonly body?: z.ZodType | undefined };
};

const ANYTHING = z.unknown();
/** For routes without query parameters: an unknown one is an error, not silently ignored. */
const NO_PARAMETERS = strict({});

/**
 * A handler that parses the request and responds in JSON. Errors have the same shape as those of the imitated
 * API.
 */
export function handler<Q extends z.ZodType = typeof ANYTHING, B extends z.ZodType = typeof ANYTHING>(
  {
    worldOf,
    onBug,
    authorize,
  }: Pick<ControlOptions, "worldOf" | "onBug"> & { readonly authorize: (context: Context) => void },
  options: RequestSchemas<Q, B>,
  respond: (request: ParsedRequest<Q, B>, context: Context) => unknown,
): DocumentedHandler {
  const handle = async (context: Context) => {
    try {
      authorize(context);
      const world = worldOf(context);
      const query = parseInput(
        options.query ?? NO_PARAMETERS,
        queryParameters(context),
        "query",
      ) as z.output<Q>;
      const body = (
        options.body === undefined
          ? undefined
          : parseInput(options.body, parseJsonBody(await readBody(context)))
      ) as z.output<B>;
      const result = await respond({ world, params: context.req.param(), query, body }, context);
      return result instanceof Response ? result : context.json(result as object, options.status ?? 200);
    } catch (error) {
      return respondWithError(context, errorResponseFrom(endOfWorld(error, context, worldOf), onBug));
    }
  };
  const { query, body, documentedBody } = options;
  return Object.assign(handle, { inputs: { query, body: documentedBody ?? body } });
}

/** The refusal of a request whose world was deleted or moved meanwhile; otherwise the error. */
function endOfWorld(error: unknown, context: Context, worldOf: WorldResolver): unknown {
  if (!(error instanceof StoreUnavailable)) return error;
  try {
    worldOf(context);
    return error;
  } catch (refusal) {
    return refusal instanceof RequestError ? refusal : error;
  }
}

/** Runs a transaction that executes no command: it does not wait for the end of an advance. */
export function runRead<T>(world: WorldHandle, work: (transaction: Transaction) => T): Promise<T> {
  return withRefusals<T, Transaction>((guarded) => world.read(guarded), work);
}

/** The same, with the events about an object. */
export function runReadAbout<T>(
  world: WorldHandle,
  object: AboutObject,
  work: (view: ViewAbout) => T,
): Promise<T> {
  return withRefusals<T, ViewAbout>((guarded) => world.readAbout(object, guarded), work);
}

/**
 * Runs one transaction. `RequestError` is passed around it, because an error thrown inside makes the world
 * reopen its file.
 */
export function runTransaction<T>(world: WorldHandle, work: (transaction: Transaction) => T): Promise<T> {
  return withRefusals<T, Transaction>((guarded) => world.transact(guarded), work);
}

type Outcome<T> = { readonly value: T } | { readonly refused: RequestError };

async function withRefusals<T, View>(
  run: (guarded: (view: View) => Outcome<T>) => Outcome<T> | Promise<Outcome<T>>,
  work: (view: View) => T,
): Promise<T> {
  const outcome = await run((view) => {
    try {
      return { value: work(view) };
    } catch (error) {
      if (error instanceof RequestError) return { refused: error };
      throw error;
    }
  });
  if ("refused" in outcome) throw outcome.refused;
  return outcome.value;
}
