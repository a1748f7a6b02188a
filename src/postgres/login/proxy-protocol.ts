import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { MAX } from "../../input-limits/limits.ts";
import { ConnectionRejected, protocolViolation } from "../protocol/errors.ts";
import { PacketReader } from "../protocol/packet-reader.ts";
import { plainAddress } from "./network-rules.ts";

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const HEADER_BYTES = 16;
const INET = 1;
const INET6 = 2;
const COMMAND_PROXY = 0x21;
const COMMAND_LOCAL = 0x20;

type ProxyHeader = { readonly address: string | undefined; readonly bytes: number };

/**
 * Reads the header that a proxy sends before the connection of its client, in version 1 or 2. Returns the
 * client's address; `undefined`: the proxy speaks for itself. Throws `ConnectionRejected` without a header.
 */
export async function readProxyHeader(stream: Duplex): Promise<string | undefined> {
  const reader = new PacketReader(stream, HEADER_BYTES + MAX.proxyAddresses);
  try {
    return (await reader.read(parseProxyHeader)).address;
  } finally {
    reader.release();
  }
}

/** `undefined`: more bytes are needed. */
export function parseProxyHeader(data: Buffer): ProxyHeader | undefined {
  const isVersion2 = startsWith(data, SIGNATURE);
  if (isVersion2 || startsWith(SIGNATURE, data)) return isVersion2 ? parseVersion2(data) : undefined;
  const begin = Buffer.from("PROXY ");
  if (!startsWith(data, begin) && !startsWith(begin, data)) throw invalid();
  return parseVersion1(data);
}

function parseVersion1(data: Buffer): ProxyHeader | undefined {
  const end = data.indexOf("\r\n");
  if (end === -1) {
    if (data.length >= MAX.proxyLine) throw invalid();
    return undefined;
  }
  const [, family, source = ""] = data.toString("latin1", 0, end).split(" ");
  const bytes = end + 2;
  if (family === "UNKNOWN") return { address: undefined, bytes };
  if (isIP(source) !== (family === "TCP4" ? 4 : family === "TCP6" ? 6 : -1)) throw invalid();
  return { address: plainAddress(source), bytes };
}

function parseVersion2(data: Buffer): ProxyHeader | undefined {
  if (data.length < HEADER_BYTES) return undefined;
  const length = data.readUInt16BE(14);
  if (length > MAX.proxyAddresses) throw invalid();
  const bytes = HEADER_BYTES + length;
  if (data.length < bytes) return undefined;
  if (data[12] === COMMAND_LOCAL) return { address: undefined, bytes };
  if (data[12] !== COMMAND_PROXY) throw invalid();
  const family = (data[13] ?? 0) >> 4;
  if (family === INET && length >= 12)
    return { address: [...data.subarray(HEADER_BYTES, HEADER_BYTES + 4)].join("."), bytes };
  if (family !== INET6 || length < 36) throw invalid();
  const groups = Array.from({ length: 8 }, (_, index) =>
    data.readUInt16BE(HEADER_BYTES + 2 * index).toString(16),
  );
  return { address: plainIpv6(groups), bytes };
}

/** The address of a client of IPv4 may be mapped. */
function plainIpv6(groups: readonly string[]): string {
  const isMapped = groups.slice(0, 5).every((group) => group === "0") && groups[5] === "ffff";
  if (!isMapped) return groups.join(":");
  return groups
    .slice(6)
    .map((group) => Number.parseInt(group, 16))
    .map((value) => `${value >> 8}.${value & 0xff}`)
    .join(".");
}

/** Whether `data` begins with `prefix`, and not only with a part of it. */
function startsWith(data: Buffer, prefix: Buffer): boolean {
  return data.length >= prefix.length && data.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

function invalid(): ConnectionRejected {
  return new ConnectionRejected(
    protocolViolation("expected a header of the PROXY protocol before the startup packet (--proxy-protocol)"),
  );
}
