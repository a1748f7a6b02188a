import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import "./process-metrics.ts";

/** The response to every request. */
export type FixedResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

// Minimal node:http server: reads the whole request and sends a fixed response.
const fixed = JSON.parse(process.argv[2] ?? "") as FixedResponse;
const bytes = Buffer.from(fixed.body);
const headers = { ...fixed.headers, "Content-Length": bytes.length };
const server = createServer((request, response) => {
  const send = () => response.writeHead(fixed.status, headers).end(bytes);
  if (request.method === "GET") return void send();
  request.resume().on("end", send);
});
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);
