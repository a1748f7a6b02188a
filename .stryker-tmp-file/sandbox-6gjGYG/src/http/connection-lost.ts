/**
 * A fault dropped the connection of a request, so there is no response. Over a socket, the socket is
 * destroyed. In process, fetch rejects with the same error as for a reset socket.
 */
// @ts-nocheck

export class ConnectionLost extends TypeError {
  constructor(fault: string) {
    const cause = Object.assign(new Error(`the fault "${fault}" dropped the connection`), {
      code: "ECONNRESET",
    });
    super("fetch failed", { cause });
  }
}
