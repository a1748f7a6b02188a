import { type AddressInfo, connect, createServer } from "node:net";

// Passes bytes between clients and a Unix socket, and does nothing else.
const path = process.argv[2] ?? "";
const server = createServer({ noDelay: true }, (client) => {
  const target = connect(path);
  for (const socket of [client, target]) socket.on("error", () => undefined);
  client.pipe(target).pipe(client);
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);
