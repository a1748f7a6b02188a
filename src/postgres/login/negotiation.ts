import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { MAX } from "../../input-limits/limits.ts";
import { CLIENT_ERRORS, ConnectionRejected, protocolViolation } from "../protocol/errors.ts";
import { negotiateProtocolVersion } from "../protocol/messages.ts";
import { ConnectionClosed, PacketReader } from "../protocol/packet-reader.ts";
import { parseStartup, type StartupPacket } from "./startup.ts";
import type { ServerCertificate, TlsIdentity } from "./tls-identity.ts";

const ACCEPT_TLS = "S";
const REFUSE = "N";
/** Clients that skip the SSLRequest must name the protocol. */
const ALPN_PROTOCOL = "postgresql";

/** The stream after the startup packet, and what the client asked for. */
export type Negotiated = {
  readonly socket: Duplex;
  readonly parameters: ReadonlyMap<string, string>;
  readonly serverName: string | undefined;
  /** Hash of the certificate that the client saw; `undefined` without TLS. */
  readonly certificateHash: Buffer | undefined;
};

export type CancelRequest = { readonly pid: number; readonly secret: string };

/** Negotiates TLS and reads the startup packet, or the request to cancel a query. */
export async function negotiate(
  socket: Duplex,
  tls: TlsIdentity,
  requireTls: boolean,
  onTls: (socket: Duplex) => void,
): Promise<Negotiated | CancelRequest> {
  let stream: Duplex = socket;
  let serverName: string | undefined;
  let certificateHash: Buffer | undefined;
  for (let packets = 0; packets < MAX.startupPackets; packets += 1) {
    const { packet, hasMore } = await readPacket(stream);
    switch (packet.kind) {
      case "direct-tls":
      case "ssl-request": {
        if (stream !== socket) throw new ConnectionRejected(protocolViolation("TLS is already in use"));
        if (packet.kind === "ssl-request") {
          // Whatever follows before the handshake did not come through TLS.
          if (hasMore)
            throw new ConnectionRejected(protocolViolation("received unencrypted data after SSL request"));
          socket.write(ACCEPT_TLS);
        }
        const secured = await secure(socket, tls);
        ({ serverName, certificateHash } = secured);
        stream = secured.socket;
        onTls(stream);
        continue;
      }
      case "gssenc-request":
        stream.write(REFUSE);
        continue;
      case "cancel":
        return { pid: packet.pid, secret: packet.secret };
      case "startup": {
        if (requireTls && certificateHash === undefined) throw new ConnectionRejected(CLIENT_ERRORS.insecure);
        const { parameters, minor } = packet;
        const unknown = [...parameters.keys()].filter((name) => name.startsWith("_pq_."));
        if (minor > 0 || unknown.length > 0) stream.write(negotiateProtocolVersion(unknown));
        const known = new Map([...parameters].filter(([name]) => !name.startsWith("_pq_.")));
        return { socket: stream, parameters: known, serverName, certificateHash };
      }
      default:
        packet satisfies never;
    }
  }
  throw new ConnectionRejected(protocolViolation("expected a startup packet"));
}

type UsablePacket = Exclude<StartupPacket, { kind: "incomplete" | "invalid" }>;

async function readPacket(socket: Duplex): Promise<{ packet: UsablePacket; hasMore: boolean }> {
  const reader = new PacketReader(socket, MAX.startupPacket);
  try {
    const { packet } = await reader.read((data) => {
      const parsed = parseStartup(data);
      if (parsed.kind === "incomplete") return undefined;
      if (parsed.kind === "invalid") throw new ConnectionRejected(protocolViolation(parsed.reason));
      // A handshake is not consumed: TLS reads it.
      return { packet: parsed, bytes: "bytes" in parsed ? parsed.bytes : 0 };
    });
    return { packet, hasMore: reader.hasMore };
  } finally {
    reader.release();
  }
}

async function secure(
  socket: Duplex,
  tls: TlsIdentity,
): Promise<{ socket: TLSSocket; serverName: string | undefined; certificateHash: Buffer }> {
  let certificate: ServerCertificate = await tls.certificateFor(undefined);
  const secured = new TLSSocket(socket, {
    isServer: true,
    secureContext: certificate.context,
    ALPNProtocols: [ALPN_PROTOCOL],
    SNICallback: (name, done) => {
      tls.certificateFor(name).then(
        (chosen) => {
          certificate = chosen;
          done(null, chosen.context);
        },
        (error: Error) => done(error),
      );
    },
  });
  await new Promise<void>((resolve, reject) => {
    let isSecure = false;
    // The handshake has failed, for example because the client does not trust the certificate.
    const onFailure = () => {
      // An error with its stack is not free, and every connection closes.
      if (!isSecure) reject(new ConnectionClosed());
    };
    secured.once("error", onFailure).once("close", onFailure);
    secured.once("secure", () => {
      isSecure = true;
      resolve();
    });
  });
  const { servername } = secured as TLSSocket & { servername?: string | false };
  return {
    socket: secured,
    serverName: typeof servername === "string" ? servername : undefined,
    certificateHash: certificate.hash,
  };
}
