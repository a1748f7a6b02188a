import { MAX } from "../../input-limits/limits.ts";
import { type Route, routeOf } from "../protocol/route.ts";
import { SqlError } from "./sql-error.ts";
import type { Json } from "./sql-values.ts";

const CONNECTION_STRING = "Neon-Connection-String";
const RAW_TEXT_OUTPUT = "Neon-Raw-Text-Output";
const ARRAY_MODE = "Neon-Array-Mode";
export const READ_ONLY = "Neon-Batch-Read-Only";
export const DEFERRABLE = "Neon-Batch-Deferrable";
export const ISOLATION_LEVEL = "Neon-Batch-Isolation-Level";

/** The headers that a request from a page of another origin may have. */
export const REQUEST_HEADERS = [
  "Authorization",
  "Content-Type",
  CONNECTION_STRING,
  RAW_TEXT_OUTPUT,
  ARRAY_MODE,
  "Neon-Pool-Opt-In",
  READ_ONLY,
  DEFERRABLE,
  ISOLATION_LEVEL,
];

/** S: the values of the header, and the words of SQL for them. */
const ISOLATION_LEVELS = new Map([
  ["ReadUncommitted", "READ UNCOMMITTED"],
  ["ReadCommitted", "READ COMMITTED"],
  ["RepeatableRead", "REPEATABLE READ"],
  ["Serializable", "SERIALIZABLE"],
]);

export type Statement = {
  readonly text: string;
  readonly parameters: readonly Json[];
  readonly arrayMode: boolean;
};

/** Whom to connect as, and to which database. */
export type SqlLogin = {
  readonly route: Route;
  readonly role: string;
  readonly database: string;
  readonly applicationName: string | undefined;
  /** Absent: the client has sent the password of the role. */
  readonly needsNoPassword?: true;
};

export type SqlWork = {
  readonly statements: readonly Statement[];
  /** Values are returned as the text that Postgres sends. */
  readonly rawText: boolean;
  /** The statement that begins the transaction of a batch; `undefined`: a single statement. */
  readonly begin: string | undefined;
};

/** The headers of a request. Names have any case; `null`: there is no such header. */
export type SqlHeaders = { get(name: string): string | null };

export type ParsedLogin = SqlLogin & { readonly password: string };

/** Reads the header with the connection string. Throws `SqlError`. */
export function readConnectionString(headers: SqlHeaders): string {
  if (headers.get("Authorization") !== null)
    throw new SqlError(
      "Authorization: authentication with a JSON Web Token (authToken) is not imitated; omit the token, and put the role's password into the connection string",
    );
  const text = headers.get(CONNECTION_STRING);
  if (text === null) throw new SqlError(`${CONNECTION_STRING}: this header is required`);
  return text;
}

/** Throws `SqlError`. */
export function parseLogin(text: string): ParsedLogin {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid("is not a URL");
  }
  if (url.protocol !== "postgres:" && url.protocol !== "postgresql:")
    throw invalid(`begins with ${url.protocol}//`);
  const [role, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decode);
  if (!role) throw invalid("names no role");
  if (!password) throw invalid("has no password");
  if (!database) throw invalid("names no database");
  const parameters = new Map(url.searchParams);
  return {
    route: routeOf(url.hostname, parameters),
    role,
    password,
    database,
    applicationName: parameters.get("application_name"),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("contains an invalid percent-encoding");
  }
}

function invalid(problem: string): SqlError {
  return new SqlError(
    `${CONNECTION_STRING}: expected postgresql://<role>:<password>@<host>/<database>, but the header ${problem}`,
  );
}

/** Reads the body and the headers that concern it. Throws `SqlError`. */
export function parseWork(headers: SqlHeaders, body: string): SqlWork {
  const arrayMode = headers.get(ARRAY_MODE) === "true";
  const rawText = headers.get(RAW_TEXT_OUTPUT) === "true";
  const input = parseJson(body);
  if (!isObject(input)) throw new SqlError("request body: expected a JSON object");
  const { queries } = input;
  if (queries === undefined)
    return { statements: [parseStatement(input, "", arrayMode)], rawText, begin: undefined };
  if (!Array.isArray(queries)) throw new SqlError("queries: expected a list of queries");
  const statements = queries.map((query, index) => {
    const path = `queries.${index}`;
    if (!isObject(query)) throw new SqlError(`${path}: expected an object with a query`);
    return parseStatement(query, `${path}.`, arrayMode);
  });
  return { statements, rawText, begin: beginStatement(headers) };
}

function parseStatement(input: JsonObject, path: string, defaultArrayMode: boolean): Statement {
  const { query, params = [], arrayMode = defaultArrayMode } = input;
  if (typeof query !== "string") throw new SqlError(`${path}query: expected a string`);
  if (!Array.isArray(params) || params.length > MAX.sqlParameters)
    throw new SqlError(`${path}params: expected a list of at most ${MAX.sqlParameters} values`);
  if (arrayMode !== null && typeof arrayMode !== "boolean")
    throw new SqlError(`${path}arrayMode: expected true or false`);
  for (const [index, value] of [query, ...params].entries())
    if (typeof value === "string" && value.includes("\0"))
      throw new SqlError(
        `${path}${index === 0 ? "query" : `params.${index - 1}`}: contains a NUL character, which is not allowed in text`,
      );
  return { text: query, parameters: params, arrayMode: arrayMode ?? defaultArrayMode };
}

function beginStatement(headers: SqlHeaders): string {
  const level = headers.get(ISOLATION_LEVEL);
  const words = level === null ? undefined : ISOLATION_LEVELS.get(level);
  if (level !== null && words === undefined)
    throw new SqlError(
      `${ISOLATION_LEVEL}: expected one of ${[...ISOLATION_LEVELS.keys()].join(", ")}, got "${level}"`,
    );
  return [
    "BEGIN",
    ...(words === undefined ? [] : [`ISOLATION LEVEL ${words}`]),
    ...(headers.get(READ_ONLY) === "true" ? ["READ ONLY"] : []),
    ...(headers.get(DEFERRABLE) === "true" ? ["DEFERRABLE"] : []),
  ].join(" ");
}

type JsonObject = { readonly [key: string]: Json };

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new SqlError("request body: expected JSON");
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
