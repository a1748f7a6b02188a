import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { uniform } from "../../../../src/kernel/random-port.ts";
import { randomFrom } from "../../../../src/simulation/random.ts";
import { runStandin } from "../../../../test/support/process/in-process-command.ts";
import {
  type SpawnedCommand,
  spawnCommand,
  spawnStandin,
  waitForExit,
} from "../../../../test/support/process/process.ts";
import { hasProgram } from "../../../../test/support/process/programs.ts";
import { startServer, testDirectory } from "../../../../test/support/server/running-server.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";

const SEED = Number(process.env["STANDIN_TEST_SEED"] ?? 20260101);
const COMMAND = join(import.meta.dirname, "../../../../dist/standin.js");
const LONGEST_MS = 60_000;

const matrix = (runs: number) => `[${Array.from({ length: runs }, (_, index) => index + 1).join(", ")}]`;
const world = (count: number) =>
  `world: { seed: "\${seed}", start_delay: 2s, projects: { shop: { count: ${count}, branches: { main: { computes: { primary: {} } } } } } }`;

/** A scenario whose runs take a few milliseconds. */
function quick(runs: number): string {
  const lines = ["version: 1", `matrix: { seed: ${matrix(runs)} }`, world(1), "length: 1h"];
  return written("quick.yaml", [...lines, "expect: [{ computes: 1 }]"]);
}

/** A scenario whose runs take some tenths of a second. */
function slow(runs: number): string {
  const traffic =
    'traffic: [{ name: clicks, to: shop-*/main, pattern: office-hours, opens: "09:00", closes: "17:00", rate: 600/hour }]';
  return written("slow.yaml", [
    "version: 1",
    `matrix: { seed: ${matrix(runs)} }`,
    world(10),
    traffic,
    "length: 3d",
  ]);
}

function written(name: string, lines: readonly string[]): string {
  const file = join(testDirectory(), name);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

type WorkerProcess = SpawnedCommand & { readonly directory: string };

/** A worker whose directory has none of the files of a scenario. */
async function startWorker({ url, environment }: RedisServer, ...options: string[]): Promise<WorkerProcess> {
  const directory = testDirectory();
  const cwd = ["env", "-C", directory, process.execPath, COMMAND];
  const worker = spawnCommand([...cwd, "worker", "--queue", url, "--lock", "1s", ...options], {
    ...environment,
    TMPDIR: directory,
  });
  onTestFinished(async () => void (await worker.kill("SIGKILL")));
  await worker.waitForOutput(/is ready/);
  return { ...worker, directory };
}

const runOn = ({ url, environment }: RedisServer, ...args: string[]) =>
  spawnStandin(["run", ...args, "--queue", url], environment);

async function waitFor(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(20);
}

/** The number of jobs in the queue, of any state. */
async function jobsIn({ client }: RedisServer): Promise<number> {
  return (await client.keys("standin:runs-*")).filter((key) => /-[0-9a-f]{16}$/.test(key)).length;
}

describe.skipIf(!hasProgram("redis-server"))("with Redis", () => {
  test("a run with SQL is repeated with the data directory of its user, not of the worker", async () => {
    const redis = await startRedis();
    await startWorker(redis, "--data", "of-the-worker");
    const file = join(testDirectory(), "sql.yaml");
    // The worker has no such version of Postgres, so the run ends before its step.
    writeFileSync(
      file,
      'version: 1\nworld: { projects: { shop: { pg_version: 14 } } }\nsteps: [{ sql: { on: shop/main, query: "select 1" } }]\n',
    );
    const environment = { ...redis.environment, STANDIN_DATA: "of-the-user" };
    const { stdout } = await waitForExit(
      spawnStandin(["run", file, "--json", "--queue", redis.url], environment),
      LONGEST_MS,
    );
    const [{ repeat }] = JSON.parse(stdout).runs;
    expect(repeat).toBe(`standin run ${file} --seed 1 --data of-the-user`);
  });

  test("two workers give the bytes of one machine, with the files that the scenarios read", async () => {
    const redis = await startRedis();
    const workers = await Promise.all([startWorker(redis), startWorker(redis, "--concurrency", "2")]);
    const directory = testDirectory();
    const server = await startServer(join(directory, "data"), ["--clock", "manual"]);
    await server.api("POST", "/projects", { project: { name: "exported" } });
    await runStandin(["export", join(directory, "data"), "--out", join(directory, "exported.sqlite")]);
    writeFileSync(
      join(directory, "traffic.csv"),
      "time,endpoint,duration_ms\n2026-01-01T00:00:10Z,a,5\n2026-01-01T00:20:00Z,a,7\n",
    );
    writeFileSync(
      join(directory, "replay.yaml"),
      `version: 1\nmatrix: { seed: ${matrix(3)} }\n${world(1)}\ntraffic: [{ name: recorded, to: shop-1/main, pattern: replay, file: traffic.csv }]\nlength: 1h\nexpect: [{ cold_starts: 2 }]\n`,
    );
    writeFileSync(
      join(directory, "from-file.yaml"),
      "version: 1\nworld: { file: exported.sqlite }\nlength: 1h\nexpect: [{ computes: 7 }]\n",
    );
    writeFileSync(join(directory, "missing.yaml"), "version: 1\nworld: { file: no.sqlite }\nlength: 1h\n");
    copyFileSync(join(directory, "traffic.csv"), join(directory, "damaged.sqlite"));
    writeFileSync(
      join(directory, "damaged.yaml"),
      "version: 1\nworld: { file: damaged.sqlite }\nlength: 1h\n",
    );
    const names = ["replay.yaml", "from-file.yaml", "missing.yaml", "damaged.yaml"];
    const files = [quick(12), ...names.map((name) => join(directory, name))];
    const reports = (place: string) =>
      ["json", "junit", "pretty", "html"].flatMap((name) => [
        "--reporter",
        `${name}=${join(directory, place, name)}`,
      ]);
    const one = await runStandin(["run", ...files, ...reports("one")]);
    const two = await waitForExit(runOn(redis, ...files, ...reports("two")), LONGEST_MS);
    expect(one.stderr).toMatch(/no\.sqlite does not exist/);
    expect(two.stderr).toBe(one.stderr);
    expect({ code: two.code, stdout: two.stdout }).toEqual({ code: 2, stdout: one.stdout });
    for (const name of readdirSync(join(directory, "one")))
      expect(
        readFileSync(join(directory, "two", name), "utf8") ===
          readFileSync(join(directory, "one", name), "utf8"),
        name,
      ).toBe(true);
    // The same runs again: their results are reused, and the order of stdout is that of the files.
    const pretty = await waitForExit(runOn(redis, ...files.slice(0, 2)), LONGEST_MS);
    expect(pretty.stdout).toBe((await runStandin(["run", ...files.slice(0, 2)])).stdout);
    expect(await jobsIn(redis)).toBe(0);
    const runsOf = async (worker: WorkerProcess) => {
      expect(await worker.kill("SIGTERM")).toBe(0);
      expect(readdirSync(worker.directory)).toEqual([]);
      return Number(/stopped after (\d+) runs/.exec(worker.stdout())?.[1]);
    };
    const [first = 0, second = 0] = await Promise.all(workers.map(runsOf));
    expect(first + second).toBe(12 + 3 + 2);
  });

  test("workers killed at random moments: each run has its result, and the bytes are the same", async () => {
    const redis = await startRedis();
    const file = slow(12);
    const random = randomFrom(SEED).stream("kills", 1);
    const workers = await Promise.all([startWorker(redis), startWorker(redis)]);
    const run = runOn(redis, file, "--json");
    for (let kills = 0; kills < 3; kills += 1) {
      await sleep(300 + 500 * uniform(random));
      const victim = uniform(random) < 0.5 ? 0 : 1;
      await workers[victim]?.kill("SIGKILL");
      workers[victim] = await startWorker(redis);
    }
    const { code, stdout } = await waitForExit(run, LONGEST_MS);
    expect({ code, isSame: stdout === (await runStandin(["run", file, "--json"])).stdout }).toEqual({
      code: 0,
      isSame: true,
    });
    expect(await jobsIn(redis)).toBe(0);
  });

  test("Redis crashes, loses everything, or sleeps: the command waits, and nothing is lost", async () => {
    const redis = await startRedis();
    const file = slow(12);
    const run = runOn(redis, file, "--json");
    const worker = await startWorker(redis);
    await waitFor(() => worker.stdout().includes("passed"));
    await redis.restart();
    const before = worker.stdout().length;
    await waitFor(() => worker.stdout().length > before);
    await redis.client.flushall();
    redis.signal("SIGSTOP");
    await waitFor(() => /does not answer; waiting/.test(run.stderr()));
    redis.signal("SIGCONT");
    const { code, stdout, stderr } = await waitForExit(run, LONGEST_MS);
    expect({ code, isSame: stdout === (await runStandin(["run", file, "--json"])).stdout }).toEqual({
      code: 0,
      isSame: true,
    });
    expect(stderr).toMatch(/answers again/);
  });

  test("a full Redis is reported, and the runs go on when it has memory", async () => {
    const redis = await startRedis();
    const file = slow(6);
    const worker = await startWorker(redis);
    await redis.client.config("SET", "maxmemory", "1");
    const run = runOn(redis, file, "--json");
    await waitFor(() => /is full; waiting: raise its maxmemory/.test(run.stderr()));
    await redis.client.config("SET", "maxmemory", "0");
    await waitFor(() => worker.stdout().includes("passed"));
    await redis.client.config("SET", "maxmemory", "1");
    await waitFor(() => /is full; waiting/.test(worker.stderr()));
    await redis.client.config("SET", "maxmemory", "0");
    const { code, stdout, stderr } = await waitForExit(run, LONGEST_MS);
    expect({ code, isSame: stdout === (await runStandin(["run", file, "--json"])).stdout }).toEqual({
      code: 0,
      isSame: true,
    });
    expect(stderr).toMatch(/has memory again/);
  });

  test("Ctrl-C removes the jobs that have not begun; a worker completes its run on SIGTERM", async () => {
    const redis = await startRedis();
    const file = slow(12);
    const waiting = runOn(redis, file, "--json");
    await waitFor(() => /waiting for a worker: start one with standin worker/.test(waiting.stderr()));
    expect(await jobsIn(redis)).toBe(12);
    expect(await waiting.kill("SIGINT")).toBe(130);
    expect(waiting.stdout()).toBe("");
    expect(await jobsIn(redis)).toBe(0);
    const worker = await startWorker(redis);
    const run = runOn(redis, file, "--json");
    await waitFor(() => worker.stdout().includes("passed"));
    expect(await worker.kill("SIGTERM")).toBe(0);
    const completed = worker.stdout().match(/^passed/gm)?.length;
    expect(worker.stdout()).toContain(`stopped after ${completed} runs\n`);
    expect((await redis.client.keys("standin:result:*")).length).toBe(completed);
    expect(await run.kill("SIGINT")).toBe(130);
  });

  test("with --bail the runs after a failure are removed, as on one machine", async () => {
    const redis = await startRedis();
    await startWorker(redis, "--exit-when-idle", "1h");
    const failing = written("failing.yaml", ["version: 1", "length: 1m", "expect: [{ computes: 9 }]"]);
    const args = [quick(3), failing, slow(12), "--bail"];
    const { code, stdout } = await waitForExit(runOn(redis, ...args), LONGEST_MS);
    expect({ code, stdout }).toEqual({ code: 1, stdout: (await runStandin(["run", ...args])).stdout });
    await waitFor(async () => (await jobsIn(redis)) === 0);
  });

  test("a worker ends when it is idle", async () => {
    const redis = await startRedis();
    const args = ["worker", "--queue", redis.url, "--exit-when-idle", "300ms", "--json"];
    const { code, stdout } = await waitForExit(spawnStandin(args, redis.environment));
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(lines).toMatchObject([
      { event: "ready", concurrency: 1 },
      { event: "stopped", runs: 0 },
    ]);
    expect(await redis.client.keys("standin:worker*")).toEqual([]);
  });
});

test.each([
  [
    ["run", "x.yaml", "--queue", "http://localhost"],
    2,
    /^standin: --queue: expected the URL of a Redis server/,
  ],
  [
    ["worker", "--queue", "redis://:secret@127.0.0.1:1", "--insecure"],
    1,
    /cannot use Redis at 127\.0\.0\.1:1: connect ECONNREFUSED/,
  ],
  [["worker"], 2, /^standin: --queue is required/],
  [
    ["worker", "--queue", "redis://localhost", "--lock", "5ms"],
    2,
    /^standin: --lock: expected a duration from 1s to 10m/,
  ],
  [["run", "x.yaml", "--queue", "redis://localhost", "--keep", "x"], 2, /cannot be used with option '--keep/],
] as const)("%j exits with %i", async (args, code, message) => {
  const result = await runStandin(args);
  expect(result.code).toBe(code);
  expect(result.stderr).toMatch(message);
  expect(result.stderr).not.toContain("secret");
});

const QUEUE = "redis://localhost:1";
test.each([
  [["run", "x.yaml", "--queue", QUEUE], { STANDIN_WORKERS: "3" }, "'--queue <url>'", "'STANDIN_WORKERS'"],
  [
    ["run", "x.yaml", "--queue", QUEUE],
    { STANDIN_TARGET: "http://x" },
    "'--queue <url>'",
    "'STANDIN_TARGET'",
  ],
  [["run", "x.yaml", "--workers", "2"], { STANDIN_QUEUE: QUEUE }, "'STANDIN_QUEUE'", "'--workers <n>'"],
  [["run", "x.yaml"], { STANDIN_QUEUE: QUEUE, STANDIN_WORKERS: "3" }, "'STANDIN_QUEUE'", "'STANDIN_WORKERS'"],
  [
    ["whatif", "compare", "x.csv", "--shard", "1/2"],
    { STANDIN_QUEUE: QUEUE },
    "'STANDIN_QUEUE'",
    "'--shard <i/n>'",
  ],
])("%j with the environment %j is an error that names both", async (args, environment, one, other) => {
  const { code, stdout, stderr } = await runStandin(args, environment);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(one);
  expect(stderr).toContain(
    `cannot be used with ${other.startsWith("'--") ? "option" : "environment variable"} ${other}`,
  );
});
