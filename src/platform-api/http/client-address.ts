import type { IncomingCall } from "../../http/request.ts";

/** The address of the client. A request without a socket comes from this process. */
export function clientAddress(context: IncomingCall): string {
  const address = (context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)
    ?.incoming?.socket?.remoteAddress;
  return address?.replace(/^::ffff:/, "") ?? "127.0.0.1";
}
