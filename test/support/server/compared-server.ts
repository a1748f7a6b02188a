import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import { createHttpServer } from "../../../src/app/http-server.ts";
import type { PostgresServices } from "../../../src/app/postgres-services.ts";
import { createServedApp } from "../../../src/app/served-app.ts";
import type { WorldsHandle } from "../../../src/worlds/world-handle.ts";
import { API_KEY } from "../double/double.ts";

/** The clock of the worlds: no instant of the host's clock is as late. */
export const LATE_START = Date.parse("2040-01-01T00:00:00Z");

type Options = {
  /** Whether repeated requests are answered without the framework. */
  readonly repeats: boolean;
  readonly rateLimit?: boolean;
  readonly postgres?: PostgresServices;
  /** A clock of the process. */
  readonly steadyTime?: () => number;
};

type Sent = {
  readonly method: string;
  readonly path: string;
  /** Names and values, without `Host`. */
  readonly headers: readonly string[];
  /** Default: the address of the server. */
  readonly host?: string | undefined;
  /** Default: one connection for all requests. */
  readonly agent?: Agent;
  /** Sends the body. */
  readonly write: (sending: ClientRequest) => void;
};

/** Status, sorted headers and body. `status`: the code of the error if there is no response. */
export type ComparedAnswer = {
  readonly status: number | string | undefined;
  readonly lines: readonly string[];
  readonly body: string;
};

/** A server whose answers are compared with those of another one. */
export type ComparedServer = Awaited<ReturnType<typeof openComparedServer>>;

export async function openComparedServer(
  worlds: WorldsHandle,
  { repeats, rateLimit = false, postgres, steadyTime }: Options,
) {
  const bugs: unknown[] = [];
  const app = createServedApp({
    ...{ worlds, version: "test", rateLimit, hosts: [], controlToken: undefined, cell: "c1", postgres },
    postgresAddress: postgres && { host: "127.0.0.1", port: 5432, resolves: () => false },
    onBug: (error) => bugs.push(error),
    fetchesAll: !repeats,
    ...(steadyTime && { steadyTime }),
  });
  let [sent, routed] = [0, 0];
  const server = createHttpServer(
    (incoming, env) => {
      routed += 1;
      return app.fetch(incoming, env);
    },
    () => app.repeated,
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const oneConnection = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async ({ method, path, headers, host, agent, write }: Sent): Promise<ComparedAnswer> => {
    sent += 1;
    const address = { host: "127.0.0.1", port, method, path, agent: agent ?? oneConnection };
    const sending = request({ ...address, headers: ["Host", host ?? `127.0.0.1:${port}`, ...headers] });
    // A drop may be reported before the answer, or while the rest is sent.
    write(sending.on("error", () => undefined));
    try {
      const [response] = (await once(sending, "response")) as [IncomingMessage];
      const names = response.rawHeaders.filter((_, index) => index % 2 === 0);
      // Sorted, because the place of Content-Length is free.
      const lines = names.map((name, index) => `${name}: ${response.rawHeaders[2 * index + 1]}`).sort();
      return { status: response.statusCode, lines, body: (await buffer(response)).toString("latin1") };
    } catch (error) {
      return { status: (error as NodeJS.ErrnoException).code, lines: [], body: "" };
    }
  };
  const call = (method: string, path: string, body?: unknown) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = ["Authorization", `Bearer ${API_KEY}`, "Content-Type", "application/json"];
    headers.push("Content-Length", String(Buffer.byteLength(text)));
    return send({ method, path, headers, write: (sending) => sending.end(text) });
  };
  return {
    send,
    /** Calls with the key of the first account. */
    call,
    /** The JSON that a call is answered with. */
    read: async (method: string, path: string, body?: unknown) =>
      JSON.parse((await call(method, path, body)).body),
    /** The number of requests that were answered without the framework. */
    repeated: () => sent - routed,
    /** Events and requests of the default world. */
    async history() {
      const [{ body: events }, { body: requests }] = [
        await call("GET", "/_sim/events?limit=1000"),
        await call("GET", "/_sim/requests?limit=1000"),
      ];
      return [events, requests].map((text) => JSON.parse(withoutChance(text, port)));
    },
    /** The answer without what differs between two servers. */
    comparable: ({ body, ...answer }: ComparedAnswer) => {
      const text = withoutChance(body, port);
      const lines = answer.lines.map((line) => withoutChance(line, port));
      return { ...answer, lines, body: text.startsWith("{") ? JSON.parse(text) : text };
    },
    async close() {
      oneConnection.destroy();
      server.closeAllConnections();
      server.close();
      expect(bugs).toEqual([]);
    },
  };
}

/** Without secrets, ids of requests that no client has given, the port, and the host's clock. */
function withoutChance(text: string, port: number): string {
  return (
    text
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
      .replaceAll(/\w+, \d+ \w+ 20[0-3]\d [\d:]+ GMT/g, "HOST")
      .replaceAll(/20[0-3]\d-\d\d-\d\dT[\d:.]+Z/g, "HOST")
      .replaceAll(/\b[A-Za-z0-9]{64}\b/g, "KEY")
      .replaceAll(/"hash":"[0-9a-f]{32}"/g, '"hash":0')
      .replaceAll(/"size_bytes":\d+/g, '"size_bytes":0')
      .replaceAll(/npg_\w{16}/g, "PASSWORD")
      // Other numbers may have the digits of the port.
      .replaceAll(new RegExp(`(?<=127\\.0\\.0\\.1):${port}\\b`, "g"), ":PORT")
  );
}
