import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { verifyWorld } from "../../../src/cli/history/world-history.ts";
import { type PostgresServer, startPostgresServer } from "../../support/postgres/postgres.ts";
import { type WalkScene, walk } from "../../support/postgres-walk/walk.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const FIRST_SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const WALKS = Number(process.env["STANDIN_TEST_POSTGRES_WALKS"] ?? 1);
const STEPS = 25;

/** A server in a process of its own, which the walk kills and starts again on the same ports. */
async function serverScene(data: string): Promise<WalkScene & { end(): Promise<void> }> {
  const apiKey = "k".repeat(64);
  let server = await startPostgresServer(["--clock", "manual", "--api-key", apiKey], data);
  onTestFinished(() => server.end());
  const current = (): PostgresServer => server;
  return {
    clock: "manual",
    api: (method, path, body) => current().api(method, path, body, apiKey),
    sim: (method, path, body) => current().sim(method, path, body),
    address: (uri) => uri.replace("sslmode=require", "sslmode=disable").replace(/&channel_binding=\w+/, ""),
    killEngine(branchId) {
      const pid = enginePid(join(data, "volumes"), branchId);
      if (pid === undefined) return false;
      try {
        return process.kill(pid, "SIGKILL");
      } catch {
        return false;
      }
    },
    async restartServer() {
      await server.kill("SIGKILL");
      server = await startPostgresServer([], data, server.pgPort);
    },
    check: () => {
      const errors = current()
        .stderr()
        .split("\n")
        .filter((line) => line.includes('"level":50') && !line.includes("has exited"));
      expect(errors).toEqual([]);
    },
    end: () => server.end(),
  };
}

/** The process id in the file of the cluster, which a killed server leaves behind. */
function enginePid(volumes: string, branchId: string): number | undefined {
  try {
    const files = readdirSync(volumes, { recursive: true, encoding: "utf8" });
    const file = files.find((path) => path.endsWith(join(branchId, "data", "postmaster.pid"))) ?? "";
    return Number(readFileSync(join(volumes, file), "utf8").split("\n")[0]);
  } catch {
    // No Postgres runs on it, or files change while they are listed.
    return undefined;
  }
}

const seeds = Array.from({ length: WALKS }, (_, number) => FIRST_SEED + number);
test.each(seeds)(
  "seed %i: clients of a server that is killed at random lose no acknowledged row",
  async (seed) => {
    const data = testDirectory();
    const scene = await serverScene(data);
    try {
      await walk(scene, seed, STEPS);
    } catch (error) {
      const repeat = `STANDIN_TEST_SEED=${seed} STANDIN_TEST_POSTGRES_WALKS=1 npx vitest run --project e2e test/e2e/postgres/postgres-walk.test.ts`;
      throw new Error(`${error instanceof Error ? error.message : error}\nto repeat the choices: ${repeat}`, {
        cause: error,
      });
    }
    await scene.end();
    expect(await verifyWorld(data, "default")).toMatchObject({ ok: true });
  },
);
