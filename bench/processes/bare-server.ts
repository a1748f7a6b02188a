import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import "./probe.ts";

/** An answer to repeat. */
export type BareAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

// The least that a server on node:http can do: read the request to its end and send the same bytes every time.
const answer = JSON.parse(process.argv[2] ?? "") as BareAnswer;
const bytes = Buffer.from(answer.body);
const headers = { ...answer.headers, "Content-Length": bytes.length };
const server = createServer((request, response) => {
  const send = () => response.writeHead(answer.status, headers).end(bytes);
  if (request.method === "GET") return void send();
  request.resume().on("end", send);
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);
