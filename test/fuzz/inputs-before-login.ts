import { CONTROL_ANSWERS } from "../../src/control-api/document/answers.ts";
import { LIMITS, type LimitName, MAX } from "../../src/input-limits/limits.ts";
import { KNOWN_OPERATIONS } from "../../src/platform-api/coverage/client-operations.ts";
import { randomFrom } from "../../src/simulation/random.ts";

/** What a client without a password or key sends. */
export type Input = {
  /** The row of the table of limits that it is at, or "mutation". */
  readonly of: LimitName | "mutation";
  readonly port: "http" | "postgres" | "postgres behind a proxy" | "postgres with TLS";
  /** Sent one after another. */
  readonly parts: readonly Buffer[];
  /** The name that a TLS client asks for. */
  readonly serverName?: string;
};

type Draw = (below: number) => number;
type Generator = (value: number, draw: Draw) => Omit<Input, "of">;

const SSL_REQUEST: Buffer = startup(80_877_103);
const CANCEL_REQUEST: Buffer = startup(80_877_102, Buffer.from([0, 0, 0, 1, 0, 0, 0, 2]));
const PROTOCOL_3 = 196_608;
const FIELDS = Buffer.from("user\0neondb_owner\0database\0neondb\0\0");
const PROXY_SIGNATURE = Buffer.from("0d0a0d0a000d0a515549540a", "hex");
/** A body is at most this much larger than its limit, so that a run is not a test of the network. */
const MAX_BODY_BYTES = 1024 ** 2;

/** Every operation of both APIs, and SQL over HTTP. */
const OPERATIONS = [
  ...KNOWN_OPERATIONS.map(({ method, path }) => ({ method, path: `/api/v2${path}` })),
  ...Object.keys(CONTROL_ANSWERS).map((name) => {
    const [method = "", path = ""] = name.split(" ");
    return { method, path: `/_sim${path}` };
  }),
  ...Array.from({ length: 20 }, () => ({ method: "POST", path: "/sql" })),
].map(({ method, path }) => ({ method, path: path.replaceAll(/\{\w+\}|:\w+/g, "some-id-12345678") }));
const READS = OPERATIONS.filter(({ method }) => method === "GET");
const WRITES = OPERATIONS.filter(({ method }) => method !== "GET");

/** The inputs at each limit that holds before login. `value`: what is sent, in the unit of the limit. */
const AT_LIMIT: Partial<Record<LimitName, Generator>> = {
  httpHeaders: (value, draw) =>
    get(READS[draw(READS.length)]?.path, [`X-Pad: ${"x".repeat(Math.max(1, value - 80))}`]),
  httpBodyBeforeLogin: (value, draw) => post(draw, filled(value, draw)),
  jsonLevels: (value, draw) => post(draw, nested(value, draw)),
  issues: (value, draw) => post(draw, fields(value, 10)),
  issueCharacters: (value, draw) => post(draw, fields(1, value)),
  messageCharacters: (value) => get(`/api/v2/projects/${"p".repeat(value)}`, []),
  requestId: (value, draw) => get(READS[draw(READS.length)]?.path, [`X-Request-ID: ${"i".repeat(value)}`]),
  loggedPath: (value) => get(`/api/v2/${"x".repeat(value)}?a=${"%41".repeat(Math.floor(value / 3))}`, []),
  countedAddresses: (value, draw) =>
    get(READS[draw(READS.length)]?.path, [`Authorization: Bearer ${value}-${draw(2 ** 30)}`]),
  webSocketBytesBeforeLogin: (value, draw) => ({
    port: "http",
    parts: [webSocketRequest(), ...webSocketFrames(wire(draw, value))],
  }),
  proxyLine: (value, draw) =>
    proxied(Buffer.from(`PROXY TCP4 ${"1".repeat(Math.max(0, value - 40))} 127.0.0.1 1 2\r\n`), draw),
  proxyAddresses: (value, draw) =>
    proxied(
      Buffer.concat([
        PROXY_SIGNATURE,
        Buffer.from([0x21, 0x11, (value >> 8) & 255, value & 255]),
        Buffer.alloc(value, draw(256)),
      ]),
      draw,
    ),
  startupPacket: (value, draw) => ({
    port: "postgres",
    parts: [
      startup(
        PROTOCOL_3,
        Buffer.concat([
          FIELDS.subarray(0, -1),
          Buffer.alloc(Math.max(1, value - 8 - FIELDS.length), draw(2) === 0 ? 0 : 97),
          Buffer.from([0]),
        ]),
      ),
    ],
  }),
  startupPackets: (value) => ({
    port: "postgres",
    parts: [...Array.from({ length: value }, () => SSL_REQUEST), startup(PROTOCOL_3, FIELDS)],
  }),
  passwordMessage: (value, draw) => ({
    port: "postgres",
    parts: [startup(PROTOCOL_3, FIELDS), message("p", Buffer.alloc(value, draw(256)))],
  }),
  tlsCertificates: (value, draw) => ({
    port: "postgres with TLS",
    serverName: `ep-${value}-${draw(2 ** 30)}.localhost`,
    parts: [startup(PROTOCOL_3, FIELDS)],
  }),
};

/** Limits before login that are no input: how long it takes, and how many come together. Each has a test of its own. */
const OTHER_UNITS: readonly string[] = ["ms", "connections"];
const SURFACES: readonly string[] = ["http", "sql", "websocket", "postgres"];

/** The limits before login without an input: a new row of the table must have one. */
export function limitsWithoutInput(): string[] {
  return Object.entries(LIMITS)
    .filter(([, { stage, surface }]) => stage !== "after login" && SURFACES.includes(surface))
    .filter(([name, { unit }]) => !OTHER_UNITS.includes(unit) && !(name in AT_LIMIT))
    .map(([name]) => name);
}

/** The inputs of a seed, of any number. The same number has always the same input. */
export function inputOf(seed: number, number: number): Input {
  const next = randomFrom(seed).stream("inputs before login", number + 1);
  const draw: Draw = (below) => (below <= 0 ? 0 : next() % below);
  const names = Object.keys(AT_LIMIT) as LimitName[];
  const name = names[draw(names.length)] as LimitName;
  const limit = MAX[name];
  const value =
    [limit - 1, limit, limit + 1, 1 + draw(limit), Math.min(4 * limit, MAX_BODY_BYTES)][draw(5)] ?? limit;
  const input = (AT_LIMIT[name] as Generator)(Math.min(value, MAX_BODY_BYTES), draw);
  return draw(3) === 0 ? { ...mutated(input, draw), of: "mutation" } : { ...input, of: name };
}

function mutated(input: Omit<Input, "of">, draw: Draw): Omit<Input, "of"> {
  const parts: Buffer[] = input.parts.map((content) => Buffer.from(content));
  const part = parts[draw(parts.length)] ?? Buffer.alloc(1);
  for (let change = 1 + draw(8); change > 0; change -= 1) part[draw(Math.min(part.length, 400))] = draw(256);
  if (draw(4) === 0) parts.pop();
  if (draw(4) === 0) parts.push(CANCEL_REQUEST);
  return { ...input, parts };
}

function get(path = "/api/v2/projects", headers: readonly string[]): Omit<Input, "of"> {
  const head = [`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers, "", ""].join(
    "\r\n",
  );
  return { port: "http", parts: [Buffer.from(head)] };
}

function post(draw: Draw, body: string): Omit<Input, "of"> {
  const { method, path } = WRITES[draw(WRITES.length)] ?? { method: "POST", path: "/sql" };
  const keys = ["Authorization: Bearer wrong", "X-Other: 1"];
  const sql = "Neon-Connection-String: postgresql://neondb_owner:wrong@ep-a-b-12345678.localhost/neondb";
  const length = draw(8) === 0 ? "Transfer-Encoding: chunked" : `Content-Length: ${Buffer.byteLength(body)}`;
  const head = [
    ...[
      `${method} ${path} HTTP/1.1`,
      "Host: localhost",
      "Connection: close",
      "Content-Type: application/json",
    ],
    ...[path === "/sql" ? sql : keys[draw(keys.length)], length, "", ""],
  ].join("\r\n");
  const chunked = length.startsWith("Transfer")
    ? `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`
    : body;
  return { port: "http", parts: [Buffer.from(head), Buffer.from(chunked)] };
}

/** JSON of this many bytes, made of many small values, or of one large one. */
function filled(bytes: number, draw: Draw): string {
  const value = ["[],", "{},", '"a",', "1,", "x"][draw(5)] as string;
  const content = value.repeat(Math.max(1, Math.floor((bytes - 40) / value.length)));
  return value === "x" ? `{"query":"${content}"}` : `{"query":"select 1","params":[${content}1]}`;
}

function nested(levels: number, draw: Draw): string {
  return draw(2) === 0
    ? "[".repeat(levels) + "]".repeat(levels)
    : `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

function fields(count: number, nameLength: number): string {
  const entries = Array.from(
    { length: count },
    (_, index) => `"${String(index).padEnd(nameLength, "n")}":[1]`,
  );
  return `{"project":{${entries.join(",")}}}`;
}

function startup(code: number, rest: Buffer = Buffer.alloc(0)): Buffer {
  const packet = Buffer.alloc(8 + rest.length);
  packet.writeUInt32BE(packet.length, 0);
  packet.writeUInt32BE(code, 4);
  rest.copy(packet, 8);
  return packet;
}

function message(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** What a client of Postgres sends first, followed by messages of this many bytes together. */
function wire(draw: Draw, bytes: number): Buffer {
  const first = startup(PROTOCOL_3, FIELDS);
  const rest = Math.max(5, bytes - first.length);
  return Buffer.concat([first, message(["p", "Q", "P"][draw(3)] as string, Buffer.alloc(rest - 5, 97))]);
}

function proxied(header: Buffer, draw: Draw): Omit<Input, "of"> {
  return { port: "postgres behind a proxy", parts: [header, wire(draw, 100)] };
}

function webSocketRequest(): Buffer {
  const head = [
    ...["GET /v2?address=ep-a-b-12345678.localhost:5432 HTTP/1.1", "Host: localhost", "Connection: Upgrade"],
    ...["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
  ];
  return Buffer.from([...head, "", ""].join("\r\n"));
}

/** Binary frames of a client, whose mask is zero. */
function webSocketFrames(content: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let from = 0; from < content.length; from += 60_000) {
    const part = content.subarray(from, from + 60_000);
    const head = Buffer.from([0x82, 0x80 | 126, part.length >> 8, part.length & 255, 0, 0, 0, 0]);
    frames.push(Buffer.concat([head, part]));
  }
  return frames;
}
