import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { createServedApp } from "../../../src/app/served-app.ts";
import type { RunSql } from "../../../src/app/sql-route.ts";
import { ConnectionLost } from "../../../src/http/connection-lost.ts";
import { SqlError } from "../../../src/postgres/serverless/sql-error.ts";
import { createDouble } from "../../support/double/double.ts";

const DONE = { status: 200, headers: { "Neon-Batch-Read-Only": "true" }, body: '{"rows":["ä"]}' };

/** A server of `POST /sql` whose work is done by `runSql`. `fetchesAll`: each request takes its route. */
async function serverOf(runSql: RunSql, fetchesAll = false) {
  const { worlds, close } = await createDouble();
  const bugs: unknown[] = [];
  const app = createServedApp({
    ...{ worlds, version: "test", rateLimit: false, hosts: [], controlToken: undefined, cell: "c1" },
    ...{ fetchesAll, onBug: (error: unknown) => bugs.push(error) },
    postgres: { sql: runSql, api: {}, control: {} } as never,
  });
  let fetched = 0;
  const fetch: typeof app.fetch = (...request) => {
    fetched += 1;
    return app.fetch(...request);
  };
  const server = createHttpServer(fetch, () => app.repeated);
  const left = new Promise<void>((resolve) => {
    server.on("connection", (accepted) => accepted.once("close", resolve));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString("utf8");
  });
  return {
    bugs,
    socket,
    /** Closes the connection, and resolves when the server has learned of it. */
    leave(): Promise<void> {
      socket.destroy();
      return left;
    },
    fetched: () => fetched,
    /** Sends a request, and resolves with the response without its date. */
    async send(request: string | Buffer): Promise<string> {
      received = "";
      socket.write(request);
      const isOver = () => socket.destroyed || /\r\n\r\n./s.test(received);
      await expect.poll(isOver, { timeout: 10_000, interval: 5 }).toBe(true);
      return received.replace(/Date: .*\r\n/, "");
    },
  };
}

function requestOf(body: string, path = "/sql", ...headers: string[]): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    "X-Request-ID: r1",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** What the route and the repeated requests give to `runSql`. */
const echo: RunSql = async ({ headers, readBody, address, world }) => ({
  ...DONE,
  body: JSON.stringify([
    await readBody(),
    headers.get("Neon-Array-Mode"),
    headers.get("none"),
    address,
    world,
  ]),
});

test.each([
  ["a statement", requestOf('{"query":"ä"}', "/sql", "neon-array-mode: true")],
  ["repeated headers", requestOf("{}", "/sql", "Neon-Array-Mode:  a ", "Neon-Array-Mode: b")],
  ["an empty body", requestOf("")],
  ["a body that is nested too deeply", requestOf("[".repeat(1_000))],
  ["a named world", requestOf("{}", "/w/default/sql")],
  ["a body that is not UTF-8", Buffer.from(requestOf("{}").replace("{}", "\xff\xff"), "latin1")],
  [
    "a body of unknown length",
    requestOf("").replace("Content-Length: 0", "Transfer-Encoding: chunked").concat("2\r\n{}\r\n0\r\n\r\n"),
  ],
])("a repeated request with %s gets the response of the route", async (_, request) => {
  const [routed, repeated] = [await serverOf(echo, true), await serverOf(echo)];
  const expected = await routed.send(request);
  expect(await repeated.send(request)).toBe(expected);
  expect(await repeated.send(request)).toBe(expected);
});

test("only the first request to a URL takes the route", async () => {
  const { send, fetched } = await serverOf(echo);
  const first = await send(requestOf("1"));
  const second = await send(requestOf("2"));
  expect(second).toBe(first.replace('["1"', '["2"'));
  expect(fetched()).toBe(1);
});

test.each([
  ["an error of Postgres", async () => ({ status: 400, headers: {}, body: "{}" })],
  [
    "a limit",
    () => {
      throw new SqlError("too large", 413);
    },
  ],
  [
    "a lost connection",
    async () => {
      throw new ConnectionLost("f");
    },
  ],
])("%s is sent as by the route, and the work is done once", async (_, fails: RunSql) => {
  const outcomes = async (fetchesAll: boolean) => {
    let calls = 0;
    const { send, bugs } = await serverOf(async (request) => {
      calls += 1;
      await request.readBody();
      return calls === 1 ? DONE : fails(request);
    }, fetchesAll);
    await send(requestOf("{}"));
    return { failed: await send(requestOf("{}")), calls, bugs: bugs.map(String) };
  };
  const [routed, repeated] = [await outcomes(true), await outcomes(false)];
  expect(repeated).toEqual(routed);
  expect(repeated.calls).toBe(2);
});

test("a repeated request is abandoned when its client closes the connection", async () => {
  let isAbandoned = false;
  let calls = 0;
  const { send, socket } = await serverOf(async ({ readBody, onAbandoned }) => {
    await readBody();
    calls += 1;
    if (calls === 1) return DONE;
    await new Promise<void>((resolve) => onAbandoned(resolve));
    isAbandoned = true;
    return DONE;
  });
  await send(requestOf("{}"));
  socket.write(requestOf("{}"));
  await expect.poll(() => calls).toBe(2);
  socket.destroy();
  await expect.poll(() => isAbandoned).toBe(true);
});

test("a client that leaves before its body is complete ends the request", async () => {
  const outcomes: string[] = [];
  const { send, socket } = await serverOf(async ({ readBody }) => {
    outcomes.push("began");
    await readBody().catch((error: Error) => outcomes.push(error.message));
    return DONE;
  });
  await send(requestOf("{}"));
  socket.write(requestOf("{}").slice(0, -1));
  await expect.poll(() => outcomes).toHaveLength(2);
  socket.destroy();
  await expect.poll(() => outcomes.at(-1)).toBe("the request body ended before it was complete");
});

test("a client that leaves before its body is asked for ends the request", async () => {
  const outcomes: string[] = [];
  let passwordIsChecked: (() => Promise<void>) | undefined;
  const { send, socket, leave } = await serverOf(async ({ readBody }) => {
    await passwordIsChecked?.();
    await readBody().catch((error: Error) => outcomes.push(error.message));
    return DONE;
  });
  await send(requestOf("{}"));
  passwordIsChecked = leave;
  socket.write(requestOf("{}"));
  await expect.poll(() => outcomes).toEqual(["the request body ended before it was complete"]);
});

test("a client that leaves before its session is sought has abandoned the request", async () => {
  const outcomes: string[] = [];
  let bodyIsRead: (() => Promise<void>) | undefined;
  const { send, socket, leave } = await serverOf(async ({ readBody, onAbandoned }) => {
    await readBody();
    await bodyIsRead?.();
    onAbandoned(() => outcomes.push("abandoned"));
    outcomes.push("begins");
    return DONE;
  });
  await send(requestOf("{}"));
  expect(outcomes.splice(0)).toEqual(["begins"]);
  bodyIsRead = leave;
  socket.write(requestOf("{}"));
  await expect.poll(() => outcomes).toEqual(["abandoned", "begins"]);
});
