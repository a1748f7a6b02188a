import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { runStandin } from "../../../../test/support/process/in-process-command.ts";
import { type SpawnedCommand, spawnCommand, waitForExit } from "../../../../test/support/process/process.ts";
import { hasProgram } from "../../../../test/support/process/programs.ts";
import { testDirectory } from "../../../../test/support/server/running-server.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";

const COMMAND = join(import.meta.dirname, "../../../../dist/standin.js");
const LONGEST_MS = 60_000;
const POLICIES = ["--policy", "fixed:60", "--policy", "ski-rental:randomised", "--replications", "2"];

/** Requests of six computes, a few a day, for 24 days. */
function requests(shiftMs = 0): string {
  const rows = Array.from({ length: 24 * 30 }, (_, index) => {
    const at = new Date(Date.UTC(2026, 0, 5) + index * 2_893_000 + shiftMs).toISOString();
    return `ep-${index % 6},${at},${(index % 7) * 100}`;
  });
  return `endpoint_id,at,duration_ms\n${rows.join("\n")}\n`;
}

/** A command in a directory, with the environment of this process. */
function inDirectory(directory: string, args: readonly string[], environment = {}): SpawnedCommand {
  const command = spawnCommand(["env", "-C", directory, process.execPath, COMMAND, ...args], environment);
  onTestFinished(async () => void (await command.kill("SIGKILL")));
  return command;
}

async function startWorker(redis: RedisServer, directory: string, traces: string, environment = {}) {
  const args = ["worker", "--queue", redis.url, "--lock", "1s", "--traces", traces];
  const worker = inDirectory(directory, args, { ...redis.environment, ...environment });
  await worker.waitForOutput(/is ready/);
  return worker;
}

function traces(): string {
  const directory = testDirectory();
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "calls.csv"), requests());
  return directory;
}

describe.skipIf(!hasProgram("redis-server"))("parts of whatif on a queue", () => {
  test("compare and backtest: the bytes of one machine, also if a worker is killed", async () => {
    const redis = await startRedis();
    const directory = traces();
    const victim = await startWorker(redis, directory, directory);
    // Settings of a worker are not those of the question.
    const other = await startWorker(redis, testDirectory(), directory, {
      STANDIN_PRESENT: "never",
      STANDIN_WORKERS: "3",
    });
    const ask = (place: string, ...options: string[]) =>
      inDirectory(
        directory,
        ["whatif", "compare", "calls.csv", ...POLICIES, "--out", place, ...options],
        redis.environment,
      );
    const asked = ask("queued", "--queue", redis.url, "--parts", "4");
    await victim.waitForOutput(/answered whatif compare/);
    await victim.kill("SIGKILL");
    const queued = await waitForExit(asked, LONGEST_MS);
    const alone = await waitForExit(ask("alone"), LONGEST_MS);
    expect(queued.code, queued.stderr).toBe(0);
    expect(queued.stdout.replaceAll("queued", "alone")).toBe(alone.stdout);
    for (const file of ["summary.json", "manifest.json", "report.html"])
      expect(readFileSync(join(directory, "queued", file), "utf8")).toBe(
        readFileSync(join(directory, "alone", file), "utf8"),
      );
    const backtest = ["whatif", "backtest", "calls.csv", "--json"];
    const tested = inDirectory(
      directory,
      [...backtest, "--queue", redis.url, "--parts", "3"],
      redis.environment,
    );
    expect((await waitForExit(tested, LONGEST_MS)).stdout).toBe(
      (await waitForExit(inDirectory(directory, backtest), LONGEST_MS)).stdout,
    );
    expect(await other.kill("SIGTERM")).toBe(0);
  });

  test("Ctrl-C removes the parts from the queue, and exits with 130", async () => {
    const redis = await startRedis();
    const directory = traces();
    const ask = ["whatif", "compare", "calls.csv", ...POLICIES, "--queue", redis.url, "--parts", "3"];
    const asked = inDirectory(directory, ask, redis.environment);
    while (!asked.stderr().includes("waiting for a worker")) await sleep(20);
    const jobs = async () =>
      (await redis.client.keys("standin:runs-*")).filter((key) => /-[0-9a-f]{16}$/.test(key)).length;
    expect(await jobs()).toBe(3);
    expect(await asked.kill("SIGINT")).toBe(130);
    expect(asked.stdout()).toBe("");
    expect(await jobs()).toBe(0);
  });

  test("a worker without the files, or with other files, is an error that names them", async () => {
    const redis = await startRedis();
    const directory = traces();
    const file = join(directory, "calls.csv");
    /** The answer if the file changes after the command has read it, before there is a worker. */
    const answerAfter = async (change: () => void) => {
      const ask = ["whatif", "compare", "calls.csv", ...POLICIES, "--queue", redis.url, "--parts", "1"];
      const asked = inDirectory(directory, ask, redis.environment);
      while (!asked.stderr().includes("waiting for a worker")) await sleep(20);
      change();
      const worker = await startWorker(redis, directory, directory);
      const { code, stdout, stderr } = await waitForExit(asked, LONGEST_MS);
      await worker.kill("SIGKILL");
      return { code, stdout, stderr };
    };
    const changed = await answerAfter(() => writeFileSync(file, requests(60_000)));
    expect(changed).toMatchObject({ code: 1, stdout: "" });
    expect(changed.stderr).toContain(
      `standin: --queue: the worker of whatif compare 1/1 has other files than this machine in ${directory}; give all workers the same files there`,
    );
    const missing = await answerAfter(() => rmSync(file));
    expect(missing).toMatchObject({ code: 1, stdout: "" });
    expect(missing.stderr).toMatch(
      /standin: --queue: a worker could not answer whatif compare 1\/1: .*calls\.csv does not exist on .* below /,
    );
  });
});

test.each([
  [["calls.csv", "--parts", "2"], "--parts requires --queue"],
  [
    ["calls.csv", "--queue", "redis://localhost:1", "--workers", "2"],
    "--workers has no effect with --queue: start more workers",
  ],
  [["calls.csv", "--queue", "redis://localhost:1", "--parts", "0"], "--parts"],
  [["calls.csv", "--queue", "http://localhost:1"], "--queue: expected the URL of a Redis server"],
  [["-", "--queue", "redis://localhost:1"], "--queue: workers cannot read the standard input; give a file"],
  [
    ["calls.csv", "--queue", "redis://localhost:1", "--shard", "1/2"],
    "cannot be used with option '--shard <i/n>'",
  ],
])("whatif compare %j is a usage error: %s", async (args, message) => {
  const { code, stdout, stderr } = await runStandin(["whatif", "compare", ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});

test("whatif compare with a queue needs traces: a world or a divided trace is an error", async () => {
  const directory = traces();
  const ofWorld = await runStandin(["whatif", "compare", "--queue", "redis://localhost:1"]);
  expect(ofWorld).toMatchObject({ code: 2, stdout: "" });
  expect(ofWorld.stderr).toContain("--queue: workers read trace files");
  const divided = join(directory, "part.standin-trace");
  await runStandin(["whatif", "import", join(directory, "calls.csv"), "--out", divided, "--shard", "1/2"]);
  const ofPart = await runStandin([
    "whatif",
    "compare",
    divided,
    ...POLICIES,
    "--queue",
    "redis://localhost:1",
    "--insecure",
  ]);
  expect(ofPart).toMatchObject({ code: 2, stdout: "" });
  expect(ofPart.stderr).toContain("--queue: the trace contains only the computes of 1/2; give a whole trace");
});
