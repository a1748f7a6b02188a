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
  /** Reads the messages of the login, until it is released. */
  readonly reader: PacketReader;
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
  let reader = new PacketReader(stream, MAX.startupPacket);
  for (let packets = 0; packets < MAX.startupPackets; packets += 1) {
    const { packet } = await reader.read(parsePacket);
    switch (packet.kind) {
      case "direct-tls":
      case "ssl-request": {
        if (stream !== socket) throw new ConnectionRejected(protocolViolation("TLS is already in use"));
        if (packet.kind === "ssl-request") {
          // Whatever follows before the handshake did not come through TLS.
          if (reader.hasMore)
            throw new ConnectionRejected(protocolViolation("received unencrypted data after SSL request"));
          socket.write(ACCEPT_TLS);
        }
        reader.release();
        const secured = await secure(socket, tls);
        ({ serverName, certificateHash } = secured);
        stream = secured.socket;
        onTls(stream);
        reader = new PacketReader(stream, MAX.startupPacket);
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
        return { reader, parameters: known, serverName, certificateHash };
      }
      default:
        packet satisfies never;
    }
  }
  throw new ConnectionRejected(protocolViolation("expected a startup packet"));
}

type UsablePacket = Exclude<StartupPacket, { kind: "incomplete" | "invalid" }>;

function parsePacket(data: Buffer): { readonly packet: UsablePacket; readonly bytes: number } | undefined {
  const packet = parseStartup(data);
  if (packet.kind === "incomplete") return undefined;
  if (packet.kind === "invalid") throw new ConnectionRejected(protocolViolation(packet.reason));
  // A handshake is not consumed: TLS reads it.
  return { packet, bytes: "bytes" in packet ? packet.bytes : 0 };
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
