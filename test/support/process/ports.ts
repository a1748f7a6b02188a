import { once } from "node:events";
import { createServer, connect as openConnection, type Socket } from "node:net";

/** Linux and macOS take the ports of clients, and those of servers that name none, from 32768 on. */
const [FIRST_PORT, END_OF_PORTS] = [10_000, 32_000];
let lastPort = FIRST_PORT + (process.pid % (END_OF_PORTS - FIRST_PORT));

/** A port for a program that cannot choose one itself. Nobody else gets it by chance until that program listens. */
export async function freePort(): Promise<number> {
  for (let tries = FIRST_PORT; tries < END_OF_PORTS; tries += 1) {
    lastPort = lastPort + 1 < END_OF_PORTS ? lastPort + 1 : FIRST_PORT;
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(lastPort, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    const port = lastPort;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("no port is free");
}

/** A port at which nobody listens until `release`: the client of a connection has it. */
export async function closedPort(): Promise<{ readonly port: number; release(): void }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const client = openConnection((server.address() as { port: number }).port, "127.0.0.1");
  await once(client, "connect");
  const [peer] = await accepted;
  const release = () => {
    client.destroy();
    peer.destroy();
    server.close();
  };
  return { port: client.localPort as number, release };
}
