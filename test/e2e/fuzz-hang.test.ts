import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { watchForHang } from "../fuzz/hang-watch.ts";
import { testDirectory } from "../support/running-server.ts";

/** `/loop` never ends, `/forget` is never answered, and everything else is answered at once. */
const SERVER = `
const { createServer } = require("node:http");
const server = createServer((request, response) => {
  if (request.url === "/loop") for (;;);
  if (request.url !== "/forget") response.end();
});
server.listen(0, "127.0.0.1", () => process.send(server.address().port));
`;
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function hangingServer(path: string): Promise<{ port: number; pid: number }> {
  const file = join(testDirectory(), "server.cjs");
  writeFileSync(file, SERVER);
  const server = fork(file);
  cleanups.push(() => server.kill("SIGKILL"));
  const [port] = (await once(server, "message")) as [number];
  const request = get({ port, host: "127.0.0.1", path });
  request.on("error", () => undefined);
  await once(request, "finish");
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
