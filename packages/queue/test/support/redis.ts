import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { freePort } from "../../../../test/support/process/ports.ts";
import { testDirectory } from "../../../../test/support/server/running-server.ts";

/** A Redis server of one test, with all changes on disk. */
export type RedisServer = {
  readonly url: string;
  /** Environment of commands and workers that use it: they share a key. */
  readonly environment: { readonly STANDIN_QUEUE_KEY: string };
  readonly client: Redis;
  /** Ends it as a crash does, and starts it again on the same port with its files. */
  restart(): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
};

export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const directory = testDirectory();
  const args = ["--port", port, "--dir", directory, "--appendonly", "yes", "--appendfsync", "always"];
  const start = () =>
    spawn("redis-server", [...args, "--bind", "127.0.0.1", "--save", ""].map(String), { stdio: "ignore" });
  let server = start();
  const url = `redis://127.0.0.1:${port}`;
  const client = new Redis(url, {
    maxRetriesPerRequest: null,
    retryStrategy: () => 50,
    disconnectTimeout: 100,
  });
  client.on("error", () => undefined);
  onTestFinished(async () => {
    client.disconnect();
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  });
  await client.ping();
  return {
    url,
    environment: { STANDIN_QUEUE_KEY: randomBytes(32).toString("hex") },
    client,
    async restart() {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
      server = start();
      await client.ping();
    },
    signal: (signal) => void server.kill(signal),
  };
}
