/** Where input arrives. The reference page has one section for each surface. */
type Surface = "http" | "platform-api" | "control-api" | "sql" | "websocket" | "postgres" | "queue" | "files";

/** Before login, any client that reaches the port can send it. After login, the sender is authenticated. */
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
  /** Description of the limited input, as a cell of the reference page. */
  readonly what: string;
  /** Response beyond the limit. */
  readonly beyond: string;
};

const KIB = 1024;
const MIB = 1024 ** 2;
const MINUTE = 60_000;

/**
 * Limits that protect the server and its commands from large input. `docs/reference/limits.md` is generated from this
 * table. All limits are inclusive. Limits of a single field, and limits that the platform's document states (S), are at
 * the schema of the field.
 */
export const LIMITS = {
  httpConnections: {
    surface: "http",
    stage: "before login",
    value: 10_000,
    unit: "connections",
    what: "Connections of the HTTP port, WebSockets included",
    beyond: "The connection closes",
  },
  httpHeaders: {
    surface: "http",
    stage: "before login",
    value: 16 * KIB,
    unit: "bytes",
    what: "Path and headers of a request together",
    beyond: "431",
  },
  httpHeadersMs: {
    surface: "http",
    stage: "before login",
    value: MINUTE,
    unit: "ms",
    what: "Time until the headers of a request are complete",
    beyond: "408",
  },
  httpRequestMs: {
    surface: "http",
    stage: "always",
    value: 5 * MINUTE,
    unit: "ms",
    what: "Time until a request is complete, its body included",
    beyond: "408",
  },
  httpIdleMs: {
    surface: "http",
    stage: "always",
    // A: the platform documents no such time. It is the default of nginx, and longer than the 60 s after which AWS
    // load balancers give up an idle connection, so a client that is idle for a minute finds its connection open.
    value: 75_000,
    unit: "ms",
    what: "Time for which a connection stays open between two requests, as stated in `Keep-Alive`",
    beyond: "The connection closes",
  },
  httpIdleWhenBusyMs: {
    surface: "http",
    stage: "always",
    value: 5_000,
    unit: "ms",
    what: "The same while more than half of the connections of the HTTP port are open",
    beyond: "The connection closes",
  },
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
  formBody: {
    surface: "platform-api",
    stage: "after login",
    // A: the platform documents no limit of the code of a function.
    value: 32 * MIB,
    unit: "bytes",
    what: "Multipart form with the code of a function",
    beyond: "413 `PAYLOAD_TOO_LARGE`",
  },
  storedObject: {
    surface: "platform-api",
    stage: "after login",
    // C: public clients upload up to 100 MiB at once. Bytes are stored in the file of the world.
    value: MIB,
    unit: "bytes",
    what: "Object that is uploaded to a bucket by a presigned URL. Its signature is checked before it is read",
    beyond: "413 `PAYLOAD_TOO_LARGE`",
  },
  issues: {
    surface: "http",
    stage: "always",
    value: 20,
    unit: "entries",
    what: "Problems of a request that its answer describes",
    beyond: "The answer states how many more there are",
  },
  issueCharacters: {
    surface: "http",
    stage: "always",
    value: 300,
    unit: "characters",
    what: "Description of one problem, with the name of its field",
    beyond: "The description is truncated",
  },
  messageCharacters: {
    surface: "http",
    stage: "always",
    value: 8_192,
    unit: "characters",
    what: "Message of an error",
    beyond: "The message is truncated",
  },
  hintCharacters: {
    surface: "platform-api",
    stage: "after login",
    // Proxies in front of a server commonly accept 4 to 8 KiB of headers.
    value: 2_048,
    unit: "characters",
    what: "Header `X-Standin-Hint` of an error",
    beyond: "The hint is truncated",
  },
  decodedBody: {
    surface: "platform-api",
    stage: "after login",
    value: 64 * KIB,
    unit: "characters",
    what: "Body of a rejected request that is read again to produce the platform's message",
    beyond: "The message is standin's own",
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
  requestId: {
    surface: "http",
    stage: "always",
    value: 128,
    unit: "characters",
    what: "`X-Request-ID` that is used",
    beyond: "Another id is used",
  },
  loggedPath: {
    surface: "http",
    stage: "always",
    value: 2_048,
    unit: "characters",
    what: "Path of a request in the request log",
    beyond: "The path is truncated",
  },
  loggedBody: {
    surface: "http",
    stage: "after login",
    value: 8 * KIB,
    unit: "characters",
    what: "Body of a request in the request log",
    beyond: "Only its size is stored",
  },
  loggedIds: {
    surface: "http",
    stage: "after login",
    value: 100,
    unit: "entries",
    what: "Ids of each list of a response in the request log",
    beyond: "Further ids are not stored",
  },
  countedAddresses: {
    surface: "http",
    stage: "before login",
    value: 10_000,
    unit: "entries",
    what: "Addresses, accounts and routes whose requests are counted with `--rate-limit`",
    beyond: "The count of the oldest one restarts",
  },
  apiEntries: {
    surface: "platform-api",
    stage: "after login",
    // A: the platform documents no limit of its lists.
    value: 1_000,
    unit: "entries",
    what: "Entries of a list or fields of an object in a body, such as `allowed_ips.ips`",
    beyond: "400 with the field and the limit",
  },
  scenarioRecordings: {
    surface: "control-api",
    stage: "after login",
    value: 8,
    unit: "requests",
    what: "Concurrent calls of `GET /_sim/scenario`. One is executed, and the others wait",
    beyond: "429 `TOO_MANY_REQUESTS`",
  },
  activities: {
    surface: "control-api",
    stage: "after login",
    value: 10_000,
    unit: "entries",
    what: "Activities in a call of `POST /_sim/activity`",
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
  statementMs: {
    surface: "control-api",
    stage: "after login",
    value: 60 * MINUTE,
    unit: "ms",
    what: "`timeout` of `POST /_sim/endpoints/{id}/sql`, and of the `sql` step of a scenario, in wall-clock time",
    beyond: "400; the file is rejected",
  },
  sqlBody: {
    surface: "sql",
    stage: "after login",
    // D: the limit of a request, and the text of its error, which public repositories quote.
    value: 64 * MIB,
    unit: "bytes",
    what: "Request body. It is not read before the password is checked",
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
    // The Postgres protocol counts parameters in 16 bits.
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
    what: "Request body up to which the number of concurrent requests is not limited. A larger body needs one of the places below",
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
  webSocketBytesBeforeLogin: {
    surface: "websocket",
    stage: "before login",
    value: 32 * KIB,
    unit: "bytes",
    what: "Bytes before the password was checked",
    beyond: "The connection closes",
  },
  webSocketMessage: {
    surface: "websocket",
    stage: "after login",
    // The driver sends what it writes at once as one message.
    value: 64 * MIB,
    unit: "bytes",
    what: "Message of a WebSocket",
    beyond: "The connection closes",
  },
  postgresConnectionsBeforeLogin: {
    surface: "postgres",
    stage: "before login",
    value: 1_000,
    unit: "connections",
    what: "Connections that have not logged in, WebSockets included",
    beyond: "The oldest of these connections closes, with SQLSTATE 53300",
  },
  loginMs: {
    surface: "postgres",
    stage: "before login",
    // Default of `authentication_timeout` in Postgres; wall-clock time.
    value: MINUTE,
    unit: "ms",
    what: "Time until the login",
    beyond: "08P01",
  },
  endedConnectionMs: {
    surface: "postgres",
    stage: "before login",
    value: 5_000,
    unit: "ms",
    what: "Time in which a client closes a connection that ended with an error",
    beyond: "The connection is destroyed",
  },
  proxyLine: {
    surface: "postgres",
    stage: "before login",
    // S: of version 1 of the PROXY protocol, with its line end.
    value: 107,
    unit: "bytes",
    what: "Header of the PROXY protocol, version 1",
    beyond: "08P01",
  },
  proxyAddresses: {
    surface: "postgres",
    stage: "before login",
    value: 2_048,
    unit: "bytes",
    what: "Addresses in a header of the PROXY protocol, version 2",
    beyond: "08P01",
  },
  startupPacket: {
    surface: "postgres",
    stage: "before login",
    // `MAX_STARTUP_PACKET_LENGTH` of Postgres.
    value: 10_000,
    unit: "bytes",
    what: "Startup packet, with the names of role and database",
    beyond: "08P01",
  },
  startupPackets: {
    surface: "postgres",
    stage: "before login",
    value: 4,
    unit: "packets",
    what: "Packets up to the startup packet, including requests for encryption",
    beyond: "08P01",
  },
  passwordMessage: {
    surface: "postgres",
    stage: "before login",
    value: 4_096,
    unit: "bytes",
    what: "Message with a password, or with a part of a SCRAM exchange",
    beyond: "08P01",
  },
  tlsCertificates: {
    surface: "postgres",
    stage: "before login",
    value: 100,
    unit: "entries",
    what: "Certificates for host names that clients ask for",
    beyond: "The oldest one is discarded, and created again when it is requested",
  },
  pooledQueue: {
    surface: "postgres",
    stage: "after login",
    value: MIB,
    unit: "bytes",
    what: "Messages of a pooled client that waits for a session",
    beyond: "Further messages are not read until it has a session",
  },
  pooledMessage: {
    surface: "postgres",
    stage: "after login",
    value: 256 * MIB,
    unit: "bytes",
    what: "Message of a pooled client. Without the pooler, messages are forwarded in parts and limited only by Postgres",
    beyond: "08P01",
  },
  queueFile: {
    surface: "queue",
    stage: "always",
    // Redis limits a value to 512 MiB.
    value: 256 * MIB,
    unit: "bytes",
    what: "File that is sent with a run (a scenario, a recording or a world), compressed or not",
    beyond: "The run is not queued; a worker rejects the job",
  },
  queuePart: {
    surface: "queue",
    stage: "always",
    value: 256 * MIB,
    unit: "bytes",
    what: "Result of a part of a question",
    beyond: "The part fails",
  },
  queueRetained: {
    surface: "queue",
    stage: "always",
    value: 512 * MIB,
    unit: "bytes",
    what: "Total size of files that a worker keeps for its next jobs",
    beyond: "The files that were used least recently are deleted",
  },
  scenarioFile: {
    surface: "files",
    stage: "always",
    value: 64 * MIB,
    unit: "bytes",
    what: "Scenario file or seed file",
    beyond: "The file is rejected",
  },
  teamTokens: {
    surface: "files",
    stage: "always",
    value: 100,
    unit: "entries",
    what: "Tokens of teams in a file of --team-tokens",
    beyond: "The file is rejected",
  },
  seedSql: {
    surface: "files",
    stage: "always",
    value: 256 * MIB,
    unit: "bytes",
    what: "File of SQL that a seed file names",
    beyond: "The file is rejected",
  },
  savedAnswer: {
    surface: "files",
    stage: "always",
    value: 256 * MIB,
    unit: "bytes",
    what: "Answer, part or report of standin that another command reads",
    beyond: "The file is rejected",
  },
  settingsFile: {
    surface: "files",
    stage: "always",
    value: 16 * MIB,
    unit: "bytes",
    what: "File of faults or of prices, or list of calls to compare",
    beyond: "The file is rejected",
  },
  csvRecord: {
    surface: "files",
    stage: "always",
    value: 16 * MIB,
    unit: "bytes",
    what: "Record of a CSV file",
    beyond: "The file is rejected",
  },
  jsonLine: {
    surface: "files",
    stage: "always",
    value: 16 * MIB,
    unit: "bytes",
    what: "Line of a JSON file or a log",
    beyond: "The file is rejected",
  },
  traceIndex: {
    surface: "files",
    stage: "always",
    value: 512 * MIB,
    unit: "bytes",
    what: "Index of a trace file",
    beyond: "The file is rejected",
  },
  traceComputes: {
    surface: "files",
    stage: "always",
    value: 1_000_000,
    unit: "entries",
    what: "Computes in a recording",
    beyond: "The recording is rejected",
  },
  parquetRows: {
    surface: "files",
    stage: "always",
    value: 100_000_000,
    unit: "entries",
    what: "Rows of a row group in a Parquet file",
    beyond: "The file is rejected",
  },
  parquetColumn: {
    surface: "files",
    stage: "always",
    value: 2 * 1024 * MIB,
    unit: "bytes",
    what: "Column of a row group in a Parquet file",
    beyond: "The file is rejected",
  },
  parquetPage: {
    surface: "files",
    stage: "always",
    value: 512 * MIB,
    unit: "bytes",
    what: "Page of a Parquet file, before and after decompression",
    beyond: "The file is rejected",
  },
  matrixCombinations: {
    surface: "files",
    stage: "always",
    value: 10_000,
    unit: "entries",
    what: "Combinations of the matrix of a scenario",
    beyond: "The file is rejected",
  },
  embeddedWorld: {
    surface: "files",
    stage: "always",
    value: 32 * MIB,
    unit: "bytes",
    what: "World that a scenario file contains",
    beyond: "The file is rejected",
  },
} as const satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;

/** The values of `LIMITS` by name. */
export const MAX = Object.fromEntries(
  Object.entries(LIMITS).map(([name, { value }]) => [name, value]),
) as Readonly<Record<LimitName, number>>;
