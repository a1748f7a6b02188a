import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Connection } from "../../fuzz/connection.ts";
import { watchForHang } from "../../fuzz/hang-watch.ts";
import { testDirectory } from "../../support/server/running-server.ts";

/** `/loop` never ends, `/forget` is never answered, `/drop` loses its connection, all others are echoed. */
const SERVER = `
const { createServer } = require("node:http");
const server = createServer((request, response) => {
  if (request.url === "/loop") for (;;);
  if (request.url === "/drop") request.socket.destroy();
  else if (request.url !== "/forget") response.end(request.method + " " + request.url);
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
`;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function hangingServer(path: string): Promise<{ port: number; pid: number }> {
  const address = await startServer();
  const request = get({ port: address.port, host: "127.0.0.1", path });
  request.on("error", () => undefined);
  await once(request, "finish");
  return address;
}

async function startServer(): Promise<{ port: number; pid: number }> {
  const file = join(testDirectory(), "server.cjs");
  writeFileSync(file, SERVER);
  const server = fork(file);
  cleanups.push(() => server.kill("SIGKILL"));
  const [port] = (await once(server, "message")) as [number];
  return { port, pid: server.pid as number };
}

test.runIf(process.platform === "linux")(
  "a request that loops hangs once it has used its CPU time",
  async () => {
    const { port, pid } = await hangingServer("/loop");
    const { signal } = new AbortController();
    const hang = await watchForHang({ port, pid, signal, maxCpuMs: 200, checkCpuEveryMs: 10 });
    expect(hang).toMatch(/^no answer after \d+ ms of CPU time$/);
  },
);

test("a request that is never answered hangs once 100 later requests were answered", async () => {
  const { port, pid } = await hangingServer("/forget");
  const { signal } = new AbortController();
  expect(await watchForHang({ port, pid, signal, pauseMs: 0 })).toBe(
    "no answer, although 100 later requests of another connection were answered",
  );
});

test("the watch ends without a finding when the request is answered", async () => {
  const { port, pid } = await hangingServer("/");
  const answered = new AbortController();
  const watch = watchForHang({ port, pid, signal: answered.signal });
  answered.abort();
  expect(await watch).toBeUndefined();
});

function requestFor(path: string, body?: string) {
  return { method: body === undefined ? "GET" : "POST", path, headers: {}, body };
}

test("a connection returns the answers in the order of its requests", async () => {
  const connection = new Connection(await startServer());
  cleanups.push(() => connection.close());
  const requests = Array.from({ length: 40 }, (_, index) =>
    requestFor(`/${index}`, index % 7 === 0 ? "x".repeat(index * 1_000) : undefined),
  );
  const answers = await connection.sendAll(requests);
  expect(answers.map((answer) => answer?.text)).toEqual(
    requests.map(({ method, path }) => `${method} ${path}`),
  );
});

test("a connection that is lost answers later requests", async () => {
  const connection = new Connection(await startServer());
  cleanups.push(() => connection.close());
  expect(await connection.sendAll([requestFor("/drop")])).toEqual([undefined]);
  expect((await connection.sendAll([requestFor("/1")]))[0]?.text).toBe("GET /1");
});

test("the first request without an answer is reported as the one that hangs", async () => {
  const connection = new Connection(await startServer(), { watchAfterMs: 0, pauseMs: 0 });
  cleanups.push(() => connection.close());
  await expect(connection.sendAll(["/1", "/forget", "/2"].map((path) => requestFor(path)))).rejects.toThrow(
    /^no answer, although 100 later requests.*"path":"\/forget"/,
  );
});
