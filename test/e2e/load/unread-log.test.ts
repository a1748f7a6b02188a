import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { environment, type ReadyLine } from "../../support/process/process.ts";
import { serverClient, testDirectory } from "../../support/server/running-server.ts";

const COMMAND = join(import.meta.dirname, "../../../dist/standin.js");
/** An entry at level debug contains the path, so these fill the pipe and the log's own buffer. */
const REQUESTS = 900;
const LONG_PATH = `/${"x".repeat(2_000)}`;

test("a server whose stderr nobody reads answers all requests, and ends at SIGTERM", async () => {
  const server = spawn(
    process.execPath,
    [COMMAND, "serve", "--data", testDirectory(), "--port", "0", "--json", "--log-level", "debug"],
    { stdio: ["ignore", "pipe", "pipe"], env: environment() },
  );
  onTestFinished(() => void server.kill("SIGKILL"));
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  const ready = JSON.parse(line.toString()) as ReadyLine;
  const { sim } = serverClient(ready);
  for (let sent = 0; sent < REQUESTS; sent += 100) {
    const answers = await Promise.all(Array.from({ length: 100 }, () => sim("GET", LONG_PATH)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  }
  const ended = once(server, "exit");
  server.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});
