import type { Context } from "hono";

/** The address of the client. A request without a socket comes from this process. */
export function clientAddress(context: Context): string {
  const address = (context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)
    ?.incoming?.socket?.remoteAddress;
  return address?.replace(/^::ffff:/, "") ?? "127.0.0.1";
}
