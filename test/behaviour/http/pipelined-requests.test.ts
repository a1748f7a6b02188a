import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../../src/app/http-server.ts";
import { RequestOrder } from "../../../src/app/request-order.ts";
import { createServedApp } from "../../../src/app/served-app.ts";
import { API_KEY, createDouble } from "../../support/double/double.ts";

/** With this time between two looks at the clock, each write ends the turn of the writes. */
const LONGER_THAN_A_TURN_MS = 10;

type Sent = readonly [method: string, path: string, body?: object];

/** Sends requests to one connection in one packet. Resolves with the bodies of the answers in their order. */
async function pipelined(repeats: boolean, ...rounds: (readonly Sent[])[]) {
  const { worlds, close } = await createDouble();
  const onBug = (error: unknown) => {
    throw error;
  };
  let now = 0;
  const app = createServedApp({
    ...{ worlds, version: "test", rateLimit: false, hosts: [], controlToken: undefined },
    ...{ fetchesAll: !repeats, onBug },
    steadyTime: () => {
      now += LONGER_THAN_A_TURN_MS;
      return now;
    },
  });
  const server = createHttpServer(app.fetch, () => app.repeated);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString("latin1");
  });
  let answers: { readonly status: number; readonly body: unknown }[] = [];
  for (const requests of rounds) {
    received = "";
    socket.write(requests.map(([method, path, body]) => requestText(method, path, body)).join(""));
    await expect.poll(() => answersIn(received).length, { timeout: 10_000 }).toBe(requests.length);
    answers = answersIn(received);
  }
  return answers;
}

function requestText(method: string, path: string, body?: object): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const head = [
    `${method} /api/v2${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${API_KEY}`,
    ...(body === undefined ? [] : ["Content-Type: application/json", `Content-Length: ${text.length}`]),
  ];
  return `${head.join("\r\n")}\r\n\r\n${text}`;
}

/** The complete answers. */
function answersIn(text: string) {
  const answers = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf("\r\n\r\n");
    const length = Number(/\r\nContent-Length: (\d+)/.exec(rest.slice(0, headEnd))?.[1]);
    const end = headEnd + 4 + length;
    if (headEnd < 0 || rest.length < end) return answers;
    answers.push({ status: Number(rest.slice(9, 12)), body: JSON.parse(rest.slice(headEnd + 4, end)) });
    rest = rest.slice(end);
  }
}

const namesIn = (body: unknown) => (body as { name: string }[]).map(({ name }) => name).sort();

test.each([false, true])(
  "a read that is sent before the answer to a write shows it (repeated: %s)",
  async (repeats) => {
    const requests: readonly Sent[] = [
      ["POST", "/api_keys", { key_name: "one" }],
      ["GET", "/api_keys"],
      ["POST", "/api_keys", { key_name: "two" }],
      ["GET", "/api_keys"],
    ];
    const [first, before, second, after] = await pipelined(repeats, requests, requests);
    expect([first, before, second, after].map((answer) => answer?.status)).toEqual([200, 200, 200, 200]);
    expect(namesIn(before?.body)).toEqual(["given key", "one", "one", "two"]);
    expect(namesIn(after?.body)).toEqual(["given key", "one", "one", "two", "two"]);
  },
);

test.each([false, true])(
  "a read that is sent before the answers to two writes shows both (repeated: %s)",
  async (repeats) => {
    const answers = await pipelined(
      repeats,
      [["GET", "/api_keys"]],
      [
        ["POST", "/api_keys", { key_name: "one" }],
        ["DELETE", "/api_keys/2"],
        ["GET", "/api_keys"],
      ],
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(namesIn(answers[2]?.body)).toEqual(["given key"]);
  },
);

test("a thousand requests that are sent before the first answer are answered in their order", async () => {
  const COUNT = 1_000;
  const requests = Array.from({ length: COUNT }, (_, index): Sent => ["GET", `/api_keys/${index}/none`]);
  const answers = await pipelined(false, requests);
  const paths = answers.map(({ body }) => /\/api_keys\/(\d+)\/none/.exec(JSON.stringify(body))?.[1]);
  expect(paths).toEqual(requests.map((_, index) => String(index)));
});

test("of a connection that sends many requests before the first answer, few are read", async () => {
  const COUNT = 100_000;
  let arrived = 0;
  let answerFirst = () => {};
  const order = new RequestOrder();
  const server = createServer((incoming, outgoing) => {
    arrived += 1;
    order.next(incoming, outgoing, () => {
      if (incoming.url === "/first") answerFirst = () => outgoing.end();
      else outgoing.end();
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let answers = 0;
  socket.on("data", (bytes) => {
    answers += bytes.toString("latin1").split("HTTP/1.1 200").length - 1;
  });
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  socket.write(request("/first") + request("/").repeat(COUNT - 1));
  await expect.poll(() => arrived).toBeGreaterThan(100);
  // Turns in which more would be read.
  for (let turn = 0; turn < 1_000; turn += 1) await nextTurn();
  // At most 100, and those in one read of 64 KiB.
  expect(arrived).toBeLessThan(5_000);
  answerFirst();
  const before = arrived;
  await expect.poll(() => arrived).toBeGreaterThan(before);
  expect(answers).toBeGreaterThan(0);
});
