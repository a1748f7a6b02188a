/** Where input arrives. The reference page has one section for each. */
type Surface = "http" | "platform-api" | "control-api" | "sql" | "websocket" | "postgres" | "files";

/** Before login, whoever can reach the port can send it. After login, the sender has proved who it is. */
type Stage = "before login" | "after login" | "always";

type Unit =
  | "bytes"
  | "characters"
  | "levels"
  | "values"
  | "entries"
  | "parameters"
  | "packets"
  | "requests"
  | "connections"
  | "ms";

export type Limit = {
  readonly surface: Surface;
  readonly stage: Stage;
  readonly value: number;
  readonly unit: Unit;
  /** What is limited, as a cell of the reference page. */
  readonly what: string;
  /** What the sender gets beyond the limit. */
  readonly beyond: string;
};

const KIB = 1024;
const MIB = 1024 ** 2;

/**
 * Every limit of input that others send: the only place for their numbers. `docs/reference/limits.md` is
 * generated from it, and the fuzzer sends inputs at and around each limit. All limits are inclusive.
 */
export const LIMITS = {
  httpBodyBeforeLogin: {
    surface: "http",
    stage: "before login",
    value: 64 * KIB,
    unit: "bytes",
    what: "Part of a body that is read before the key is checked",
    beyond: "The rest is read only with a valid key. Without one, the connection closes after the 401",
  },
  httpBody: {
    surface: "http",
    stage: "after login",
    value: MIB,
    unit: "bytes",
    what: "Request body",
    beyond: "413 `PAYLOAD_TOO_LARGE`",
  },
  jsonLevels: {
    surface: "http",
    stage: "always",
    value: 64,
    unit: "levels",
    what: "Nesting of arrays and objects in a body, also of `/sql`",
    beyond: "400",
  },
  httpValues: {
    surface: "http",
    stage: "after login",
    value: 100_000,
    unit: "values",
    what: "Values in a body: strings, numbers, arrays and objects, at all levels together",
    beyond: "400",
  },
  moveChunk: {
    surface: "control-api",
    stage: "after login",
    value: 8 * MIB,
    unit: "bytes",
    what: "Part of a file in one call, when a world moves to this server",
    beyond: "400",
  },
  moveSecretsBody: {
    surface: "control-api",
    stage: "after login",
    value: 64 * MIB,
    unit: "bytes",
    what: "Body with the passwords of all roles, when a world moves to this server",
    beyond: "413",
  },
  moveSecretsValues: {
    surface: "control-api",
    stage: "after login",
    value: 2_000_000,
    unit: "values",
    what: "Values in this body",
    beyond: "400",
  },
  sqlBody: {
    surface: "sql",
    stage: "after login",
    // D: the limit of a request, and the text of its error, which public repositories quote.
    value: 64 * MIB,
    unit: "bytes",
    what: "Request body. Nothing of it is read before the password is checked",
    beyond: "413",
  },
  sqlValues: {
    surface: "sql",
    stage: "after login",
    value: 500_000,
    unit: "values",
    what: "Values in a body: strings, numbers, arrays and objects, at all levels together",
    beyond: "413",
  },
  sqlParameters: {
    surface: "sql",
    stage: "after login",
    // Of the Postgres protocol.
    value: 65_535,
    unit: "parameters",
    what: "Parameters of a statement",
    beyond: "400",
  },
  sqlSmallBody: {
    surface: "sql",
    stage: "after login",
    value: MIB,
    unit: "bytes",
    what: "Body of any number of requests at the same time. A larger one needs one of the places below",
    beyond: "The request waits for a place",
  },
  sqlLargeBodies: {
    surface: "sql",
    stage: "after login",
    value: 4,
    unit: "requests",
    what: "Requests with larger bodies that are read or executed at the same time",
    beyond: "The request waits, and its body is not read",
  },
  sqlWaitingBodies: {
    surface: "sql",
    stage: "after login",
    value: 64,
    unit: "requests",
    what: "Requests with larger bodies that wait",
    beyond: "503",
  },
  sqlResponse: {
    surface: "sql",
    stage: "after login",
    // D: as for the request.
    value: 64 * MIB,
    unit: "bytes",
    what: "Response",
    beyond: "507",
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;

/** The numbers alone. */
export const MAX = Object.fromEntries(
  Object.entries(LIMITS).map(([name, { value }]) => [name, value]),
) as Readonly<Record<LimitName, number>>;
