/**
 * The connection of a request is lost by a fault: nobody gets an answer. Over a socket, the socket is destroyed; in this process, a
 * fetch rejects as it does when that happens.
 */
export class ConnectionLost extends TypeError {
  constructor(fault: string) {
    const cause = Object.assign(new Error(`the connection was lost by the fault "${fault}"`), {
      code: "ECONNRESET",
    });
    super("fetch failed", { cause });
  }
}
