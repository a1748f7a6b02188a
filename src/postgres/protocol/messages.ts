// Messages of the Postgres frontend/backend protocol, version 3. Lengths include themselves, not the type.

const PROTOCOL_3_0 = 196_608;
const HEADER_BYTES = 5;

export type Severity = "ERROR" | "FATAL";

/** An error that a client receives instead of, or within, a session. */
export type ClientError = {
  readonly severity: Severity;
  /** SQLSTATE */
  readonly code: string;
  readonly message: string;
};

export function errorResponse({ severity, code, message }: ClientError): Buffer {
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${message}`];
  return encode("E", Buffer.from(`${fields.join("\0")}\0\0`));
}

/** Asks for the password as text. */
export function authenticationCleartextPassword(): Buffer {
  return authentication(3, Buffer.alloc(0));
}

/** Offers these mechanisms, the preferred one first. */
export function authenticationSasl(mechanisms: readonly string[]): Buffer {
  return authentication(10, Buffer.from(`${mechanisms.join("\0")}\0\0`));
}

export function authenticationSaslContinue(data: string): Buffer {
  return authentication(11, Buffer.from(data));
}

export function authenticationSaslFinal(data: string): Buffer {
  return authentication(12, Buffer.from(data));
}

/** For a client that asks for a newer minor version: 3.0 is spoken, and these options are unknown. */
export function negotiateProtocolVersion(unknownOptions: readonly string[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeInt32BE(PROTOCOL_3_0, 0);
  head.writeInt32BE(unknownOptions.length, 4);
  return encode("v", Buffer.concat([head, Buffer.from(unknownOptions.map((name) => `${name}\0`).join(""))]));
}

/** The first message of a session, as the gateway sends it to the engine. */
export function startupMessage(parameters: ReadonlyMap<string, string>): Buffer {
  const text = [...parameters].map(([name, value]) => `${name}\0${value}\0`).join("");
  const body = Buffer.from(`${text}\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + body.length, 0);
  head.writeInt32BE(PROTOCOL_3_0, 4);
  return Buffer.concat([head, body]);
}

/** Begins the session of a client whose settings these are. `key`: the body of BackendKeyData. */
export function greeting(settings: ReadonlyMap<string, string>, key: Buffer): Buffer {
  return Buffer.concat([
    authentication(0, Buffer.alloc(0)),
    ...[...settings].map(([name, value]) => encode("S", Buffer.from(`${name}\0${value}\0`))),
    backendKeyData(key),
    encode("Z", Buffer.from("I")),
  ]);
}

/** `key`: the body. */
export function backendKeyData(key: Buffer): Buffer {
  return encode("K", key);
}

/** A Parse of this name. `rest`: the text and the types of the parameters. */
export function parseMessage(name: string, rest: Buffer): Buffer {
  return encode("P", Buffer.concat([Buffer.from(`${name}\0`), rest]));
}

export function closeStatement(name: string): Buffer {
  return encode("C", Buffer.from(`S${name}\0`));
}

/** The message with this name instead of the one from `begin` to `end`, which includes its zero byte. */
export function renamed(message: Buffer, begin: number, end: number, name: string): Buffer {
  const body = [message.subarray(HEADER_BYTES, begin), Buffer.from(`${name}\0`), message.subarray(end)];
  return encode(String.fromCharCode(message[0] ?? 0), Buffer.concat(body));
}

/** A simple query. */
export function query(text: string): Buffer {
  return encode("Q", Buffer.from(`${text}\0`));
}

/** Executes one statement, with parameters and results as text, up to the Sync. `null`: NULL. */
export function unnamedStatement(text: string, parameters: readonly (string | null)[]): Buffer {
  const values = parameters.map((value) => {
    const bytes = value === null ? undefined : Buffer.from(value);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes?.length ?? -1);
    return bytes === undefined ? length : Buffer.concat([length, bytes]);
  });
  const count = Buffer.alloc(2);
  count.writeUInt16BE(parameters.length);
  const none = Buffer.alloc(2);
  return Buffer.concat([
    encode("P", Buffer.concat([Buffer.from(`\0${text}\0`), none])),
    encode("B", Buffer.concat([Buffer.from("\0\0"), none, count, ...values, none])),
    encode("D", Buffer.from("P\0")),
    encode("E", Buffer.alloc(5)),
    encode("S", none.subarray(0, 0)),
  ]);
}

function authentication(kind: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeInt32BE(kind);
  return encode("R", Buffer.concat([head, data]));
}

function encode(type: string, body: Buffer): Buffer {
  const message = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  message.writeUInt8(type.charCodeAt(0));
  message.writeInt32BE(4 + body.length, 1);
  body.copy(message, HEADER_BYTES);
  return message;
}
