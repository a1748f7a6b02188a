import { MAX } from "../../input-limits/limits.ts";

const CANCEL_REQUEST = 80_877_102;
const SSL_REQUEST = 80_877_103;
const GSSENC_REQUEST = 80_877_104;
const PROTOCOL_MAJOR = 3;
/** A TLS handshake record: the client skips the SSLRequest. */
const TLS_HANDSHAKE = 0x16;

/** The first packet of a connection, or of the session within TLS. */
export type StartupPacket =
  | { readonly kind: "incomplete" }
  | { readonly kind: "invalid"; readonly reason: string }
  | { readonly kind: "direct-tls" }
  | { readonly kind: "ssl-request"; readonly bytes: number }
  | { readonly kind: "gssenc-request"; readonly bytes: number }
  | { readonly kind: "cancel"; readonly pid: number; readonly secret: string; readonly bytes: number }
  | {
      readonly kind: "startup";
      readonly parameters: ReadonlyMap<string, string>;
      /** The minor version and options that only newer servers know. */
      readonly minor: number;
      readonly bytes: number;
    };

/** Parses the packet at the beginning of `data`, which may be followed by others. */
export function parseStartup(data: Buffer): StartupPacket {
  if (data.length === 0) return { kind: "incomplete" };
  if (data[0] === TLS_HANDSHAKE) return { kind: "direct-tls" };
  if (data.length < 8) return data.length >= 4 ? (checkLength(data) ?? INCOMPLETE) : INCOMPLETE;
  const invalid = checkLength(data);
  if (invalid !== undefined) return invalid;
  const bytes = data.readInt32BE(0);
  const code = data.readInt32BE(4);
  if (data.length < bytes) return INCOMPLETE;
  if (code === SSL_REQUEST && bytes === 8) return { kind: "ssl-request", bytes };
  if (code === GSSENC_REQUEST && bytes === 8) return { kind: "gssenc-request", bytes };
  if (code === CANCEL_REQUEST && bytes >= 16)
    return { kind: "cancel", pid: data.readInt32BE(8), secret: data.toString("hex", 12, bytes), bytes };
  const major = code >> 16;
  if (major !== PROTOCOL_MAJOR)
    return invalidPacket(`unsupported frontend protocol ${major}.${code & 0xffff}: server supports 3.0`);
  const parameters = parseParameters(data.subarray(8, bytes));
  if (parameters === undefined)
    return invalidPacket("invalid startup packet layout: expected terminator as last byte");
  return { kind: "startup", parameters, minor: code & 0xffff, bytes };
}

const INCOMPLETE: StartupPacket = { kind: "incomplete" };

function checkLength(data: Buffer): StartupPacket | undefined {
  const length = data.readInt32BE(0);
  return length < 8 || length > MAX.startupPacket
    ? invalidPacket("invalid length of startup packet")
    : undefined;
}

function invalidPacket(reason: string): StartupPacket {
  return { kind: "invalid", reason };
}

/** Pairs of strings, each terminated by a zero byte, and one more zero byte. `undefined` if malformed. */
function parseParameters(body: Buffer): Map<string, string> | undefined {
  if (body.length === 0 || body.at(-1) !== 0) return undefined;
  const parts = body.subarray(0, -1).toString("utf8").split("\0");
  if (parts.at(-1) === "") parts.pop();
  if (parts.length % 2 !== 0) return undefined;
  const parameters = new Map<string, string>();
  for (let index = 0; index < parts.length; index += 2) {
    const name = parts[index] ?? "";
    if (name === "") return undefined;
    parameters.set(name, parts[index + 1] ?? "");
  }
  return parameters;
}
