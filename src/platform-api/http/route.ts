import type * as z from "zod";
import type { SimTime } from "../../kernel/time.ts";
import type { Account } from "../../platform/model/account.ts";
import type { DatabaseSchema, SchemaRequest } from "../../platform/model/database-schema.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { Permission, Principal } from "../../platform/rules/account/access.ts";
import type { Command } from "../../platform/rules/commands.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { ConnectionUris } from "../render/connection-uri.ts";

export type ApiMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A route of the imitated API: its method and path, its request, and its answer. */
export type ApiRoute = {
  readonly method: string;
  readonly path: string;
  readonly options: RouteOptions<z.ZodType, z.ZodType, z.ZodType>;
  readonly handle: (request: RequestContext<unknown, unknown, unknown>) => unknown;
};

/** A route, for a constant that is named by its operation id in the public document. */
export function route<
  P extends z.ZodType = z.ZodUnknown,
  Q extends z.ZodType = z.ZodUnknown,
  B extends z.ZodType = z.ZodUnknown,
>(
  methodAndPath: `${ApiMethod} /${string}`,
  options: RouteOptions<P, Q, B>,
  handle: (request: RequestContext<z.output<P>, z.output<Q>, z.output<B>>) => unknown,
): ApiRoute {
  const [method = "", path = ""] = methodAndPath.split(" ");
  // Requests are parsed with the schemas of `options`, so `handle` gets the types that these return.
  return { method, path, options, handle } as ApiRoute;
}

/** One request, authenticated and parsed, in its transaction. */
export type RequestContext<P, Q, B> = {
  readonly transaction: Transaction;
  /** The account that the call acts for: that of the named project or organization, else the caller's own. */
  readonly account: Account;
  readonly principal: Principal;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** URL of the surfaces of the request's world, without a final slash. */
  readonly worldUrl: string;
  /** How clients connect to the computes of the request's world. */
  readonly connectionUris: ConnectionUris;
  /** When Postgres had written the log of a branch up to an LSN; `undefined` without an LSN, or if it has not. */
  readonly writtenAt: (branchId: string | undefined, lsn: string | undefined) => SimTime | undefined;
  /** For a `LaterBody`: the schema of a database. */
  readonly readSchema: (request: SchemaRequest) => Promise<DatabaseSchema>;
  /** Executes a command. A refusal ends the request with the matching error. */
  readonly execute: (command: Command) => readonly RecordedEvent[];
};

export type RouteOptions<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = {
  /** S: usually 200, or 201 for a creation. */
  readonly status?: 200 | 201 | 202 | 204;
  /** The permission that the caller needs. Default: read for GET, write for other methods. */
  readonly permission?: Permission;
  /** The same, if the body decides it. */
  readonly permissionIn?: (body: z.output<B>) => Permission;
  /** The organization that the body names; used if neither path nor query names one. */
  readonly organizationIn?: (body: z.output<B>) => string | undefined;
  /** The project that the body names; used if the path names none. */
  readonly projectIn?: (body: z.output<B>) => string | undefined;
  readonly params?: P;
  readonly query?: Q;
  /** Repeatable query parameters, parsed as one list with commas. */
  readonly listParameters?: readonly string[];
  readonly body?: B;
  /** The body is a form (`multipart/form-data`) instead of JSON: an object of its fields. A file is its bytes. */
  readonly form?: true;
  /** S: fields of its 404, whose body has no request id. */
  readonly notFound?: object;
};
