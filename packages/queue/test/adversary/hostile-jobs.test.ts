import { createHash, createHmac } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serialize } from "node:v8";
import { deflateSync, inflateSync } from "node:zlib";
import { Queue } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type SpawnedCommand,
  spawnCommand,
  spawnStandin,
  waitForExit,
} from "../../../../test/support/process/process.ts";
import { hasProgram } from "../../../../test/support/process/programs.ts";
import { testDirectory } from "../../../../test/support/server/running-server.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";

const COMMAND = join(import.meta.dirname, "../../../../dist/standin.js");
const LONGEST_MS = 90_000;
/** Bytes of a signature before a result. */
const SIGNATURE_BYTES = 32;
const SECRET = "the first line of a file that nobody may read";

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");

/** A directory with traces, beside files that no job may read or write. */
function scene() {
  const path = testDirectory();
  const traces = join(path, "traces");
  mkdirSync(traces);
  const rows = Array.from({ length: 60 }, (_, i) => `a,${new Date(Date.UTC(2026, 0, 5, i)).toISOString()},5`);
  writeFileSync(join(traces, "calls.csv"), `endpoint,at,duration_ms\n${rows.join("\n")}\n`);
  writeFileSync(join(path, "secret.csv"), `${SECRET},x\n1,2\n`);
  writeFileSync(join(path, "secret.yaml"), `${SECRET}: x\n`);
  symlinkSync(join(path, "secret.csv"), join(traces, "link.csv"));
  return { path, traces };
}

/** All files in a directory and below, with what they contain. */
function contentOf(path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(path, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file, sha256(readFileSync(file))]),
  );
}

async function startWorker(redis: RedisServer, traces: string, args: readonly string[] = []) {
  const directory = testDirectory();
  const command = ["env", "-C", directory, process.execPath, COMMAND, "worker", "--queue", redis.url];
  const environment = args.includes("--insecure") ? {} : redis.environment;
  const worker = spawnCommand([...command, "--lock", "1s", "--traces", traces, ...args], {
    ...environment,
    TMPDIR: directory,
  });
  onTestFinished(async () => void (await worker.kill("SIGKILL")));
  await worker.waitForOutput(/is ready/);
  return { ...worker, directory };
}

/** The id of the job that a command has added. */
async function nextJob({ client }: RedisServer): Promise<string> {
  while (true) {
    const names = await client.keys("standin:runs-*");
    const id = names.map((name) => name.split(":").at(-1) ?? "").find((name) => /^[0-9a-f]{64}-/.test(name));
    if (id !== undefined) return id;
    await sleep(20);
  }
}

/** What somebody who can write to Redis does, without the key of the queue. */
async function intruderIn({ client, url }: RedisServer) {
  const [worker = ""] = (await client.keys("standin:worker:*")) as string[];
  const code = (await client.get(worker)) ?? "";
  const { hostname, port } = new URL(url);
  const queue = new Queue(`runs-${code}`, {
    connection: { host: hostname, port: Number(port) },
    prefix: "standin",
    defaultJobOptions: { removeOnComplete: false, removeOnFail: false },
  });
  onTestFinished(() => queue.close());
  return {
    queue,
    /** Adds a job and waits until the worker is done with it. */
    async send(id: string, data: unknown) {
      await queue.add("job", data as object, { jobId: id });
      while (true) {
        const job = await queue.getJob(id);
        if (job?.finishedOn != null) return { reason: job.failedReason };
        await sleep(20);
      }
    },
  };
}

const ID = "a".repeat(64);
const RUN = "1".repeat(16);
const JOB_ID = `${ID}-${RUN}`;
const IDENTITY = { id: ID, run: RUN, isReusable: false };

/** Signed with the key that everyone knows. */
function signed(purpose: string, subject: string, text: string): string {
  return createHmac("sha256", "")
    .update(`${JSON.stringify([purpose, subject])}\n${text}`)
    .digest("hex");
}

const signedJob = (job: object, key = JOB_ID) => {
  const text = JSON.stringify(job);
  return { job: text, signature: signed("job", key, text) };
};

const signOfLife = (run: string, at: number) => `${at} ${signed("sign-of-life", run, String(at))}`;

/** Contents of Redis that nobody without the key may turn into work. */
const UNSIGNED = [
  { what: "a part without a signature", data: (part: object) => part },
  {
    what: "a part with an empty signature",
    data: (part: object) => ({ job: JSON.stringify(part), signature: "" }),
  },
  { what: "a part signed with another key", data: (part: object) => signedJob(part) },
  { what: "nothing", data: () => ({}) },
];

describe.skipIf(!hasProgram("redis-server"))("a worker with a key", () => {
  test.each(UNSIGNED)("does nothing for $what", async ({ data }) => {
    const redis = await startRedis();
    const { path, traces } = scene();
    const worker = await startWorker(redis, traces);
    const { send } = await intruderIn(redis);
    await redis.client.set(`standin:run:${RUN}`, signOfLife(RUN, Date.now()));
    const before = contentOf(path);
    const args = ["whatif", "compare", "calls.csv", "--out", join(path, "written")];
    const { reason } = await send(JOB_ID, data({ ...IDENTITY, args, directory: traces, title: "x" }));
    expect(reason).toMatch(/the job is not signed/);
    expect(worker.stderr()).toMatch(/rejected a job: the job is not signed/);
    expect(contentOf(path)).toEqual(before);
    expect(await redis.client.keys("standin:result:*")).toEqual([]);
    expect(await redis.client.keys("standin:done:*")).toEqual([]);
  });

  test("does nothing for a signed job of a command that has ended, and for one under another id", async () => {
    const redis = await startRedis();
    const { path, traces } = scene();
    const worker = await startWorker(redis, traces);
    const { queue, send } = await intruderIn(redis);
    // The intruder copies the job and the sign of life of a command that waits.
    await queue.pause();
    const file = quick(path, "quick.yaml", 1);
    const waiting = runOn(redis, file, "--json");
    const id = await nextJob(redis);
    const data = (await queue.getJob(id))?.data;
    const run = id.split("-").at(-1) ?? "";
    const sign = (await redis.client.get(`standin:run:${run}`)) ?? "";
    expect(await waiting.kill("SIGINT")).toBe(130);
    await queue.resume();
    const rejected = /shows no signed sign of life of the last 10 minutes/;
    await redis.client.set(`standin:run:${run}`, "");
    expect((await send(id, data)).reason).toMatch(rejected);
    await (await queue.getJob(id))?.remove();
    const [, signature] = sign.split(" ");
    await redis.client.set(`standin:run:${run}`, `${Date.now() + 5_000} ${signature}`);
    expect((await send(id, data)).reason).toMatch(rejected);
    await (await queue.getJob(id))?.remove();
    // The sign of life is valid, and the job is that of another id.
    await redis.client.set(`standin:run:${run}`, sign);
    expect((await send(`${"b".repeat(64)}-${run}`, data)).reason).toMatch(
      /not signed with the key .* for its id/,
    );
    expect(worker.stdout()).not.toMatch(/passed|failed/);
    expect(await redis.client.keys("standin:result:*")).toEqual([]);
  });
});

function quick(path: string, name: string, runs: number): string {
  const seeds = Array.from({ length: runs }, (_, index) => index + 1).join(", ");
  const lines = ["version: 1", `matrix: { seed: [${seeds}] }`, `world: { seed: "\${seed}" }`, "length: 1h"];
  writeFileSync(join(path, name), `${lines.join("\n")}\n`);
  return join(path, name);
}

function runOn(redis: RedisServer, ...args: string[]): SpawnedCommand {
  const run = spawnStandin(["run", ...args, "--queue", redis.url], redis.environment);
  onTestFinished(async () => void (await run.kill("SIGKILL")));
  return run;
}

describe.skipIf(!hasProgram("redis-server"))("a command with a key", () => {
  test("accepts no result that somebody else has written", async () => {
    const redis = await startRedis();
    const { path } = scene();
    const run = runOn(redis, quick(path, "quick.yaml", 1), "--json");
    const id = await nextJob(redis);
    const forged = deflateSync(JSON.stringify({ verdict: "passed", steps: [], measures: {}, failures: [] }));
    await redis.client.set(`standin:result:${id}`, Buffer.concat([Buffer.alloc(SIGNATURE_BYTES), forged]));
    await redis.client.rpush(
      `standin:done:${id.split("-").at(-1)}`,
      "{",
      JSON.stringify({ job: id, worker: "x" }),
    );
    const { code, stdout, stderr } = await waitForExit(run, LONGEST_MS);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /a result in Redis is not signed with the key of this command; somebody else writes to Redis/,
    );
  });

  test("accepts no result of another run, although a worker has signed it", async () => {
    const redis = await startRedis();
    const { path, traces } = scene();
    const worker = await startWorker(redis, traces);
    const file = quick(path, "two.yaml", 2);
    expect((await waitForExit(runOn(redis, file, "--json"), LONGEST_MS)).code).toBe(0);
    await worker.kill("SIGTERM");
    const [one = "", other = ""] = await redis.client.keys("standin:result:*");
    await redis.client.set(other, (await redis.client.getBuffer(one)) ?? "");
    const { code, stdout, stderr } = await waitForExit(runOn(redis, file, "--json"), LONGEST_MS);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/a result in Redis is not signed with the key of this command/);
  });
});

test.each([
  [["worker", "--queue", "redis://localhost:1"], {}, "--queue needs a key that the workers have, too"],
  [["run", "x.yaml", "--queue", "redis://localhost:1"], {}, "--queue needs a key that the workers have, too"],
  [
    ["whatif", "compare", "x.csv", "--queue", "redis://localhost:1"],
    {},
    "--queue needs a key that the workers have, too",
  ],
  [
    ["worker", "--queue", "redis://localhost:1", "--insecure"],
    { STANDIN_QUEUE_KEY: "k".repeat(32) },
    "--insecure cannot be used with environment variable 'STANDIN_QUEUE_KEY'",
  ],
  [
    ["worker", "--queue", "redis://localhost:1"],
    { STANDIN_QUEUE_KEY: "short-secret" },
    "STANDIN_QUEUE_KEY: the key must have 32 to 4,096 characters",
  ],
  [
    ["worker", "--queue", "redis://localhost:1", "--queue-key-file", "/no/key"],
    {},
    "/no/key: does not exist",
  ],
  [["run", "x.yaml", "--insecure"], {}, "--insecure requires --queue"],
  [
    ["worker", "--queue", "redis://localhost:1", "--insecure", "--traces", "/no/dir"],
    {},
    "is not a directory",
  ],
])("%j with the environment %j is a usage error: %s", async (args, environment, message) => {
  const { code, stdout, stderr } = await waitForExit(spawnStandin(args, environment), LONGEST_MS);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("short-secret");
});

/** Parts of somebody with the key, or for a worker without one: `path` is the directory above the traces. */
const PARTS: readonly (readonly [string, (path: string) => readonly string[]])[] = [
  ["writes a report", (path) => ["calls.csv", "--out", join(path, "written")]],
  [
    "writes a report to the place of its second value",
    (path) => ["calls.csv", `--out=${join(path, "written")}`],
  ],
  ["reads an absolute path", (path) => [join(path, "secret.csv")]],
  ["reads a path with ..", () => ["../secret.csv"]],
  ["reads through a link", () => ["link.csv"]],
  ["reads another file as a profile", (path) => ["calls.csv", "--profile", join(path, "secret.yaml")]],
  ["reads a data directory", (path) => ["--data", path]],
  ["contacts a server", () => ["--url", "http://127.0.0.1:9"]],
];

describe.skipIf(!hasProgram("redis-server"))("a worker, also without a key", () => {
  test("answers no part that reads or writes elsewhere, and says nothing about other files", async () => {
    const redis = await startRedis();
    const { path, traces } = scene();
    const worker = await startWorker(redis, traces, ["--insecure"]);
    const { send } = await intruderIn(redis);
    const before = contentOf(path);
    for (const [index, [what, argsOf]] of PARTS.entries()) {
      const id = sha256(String(index));
      const key = `${id}-${RUN}`;
      await redis.client.set(`standin:run:${RUN}`, signOfLife(RUN, Date.now()));
      const args = ["whatif", "compare", ...argsOf(path)];
      const job = { ...IDENTITY, id, args, directory: traces, title: what };
      expect((await send(key, signedJob(job, key))).reason, what).toBeUndefined();
      const bytes = (await redis.client.getBuffer(`standin:result:${key}`)) ?? Buffer.alloc(0);
      const result = inflateSync(bytes.subarray(SIGNATURE_BYTES)).toString();
      expect(JSON.parse(result), what).toMatchObject({ verdict: "could_not_run" });
      expect(result, what).not.toContain(SECRET);
    }
    expect(contentOf(path)).toEqual(before);
    expect(contentOf(worker.directory)).toEqual({});
    expect(existsSync(join(path, "written"))).toBe(false);
  });

  test("runs no scenario with a file of its own, with values of V8, or with a file that grows", async () => {
    const redis = await startRedis();
    const { path, traces } = scene();
    const worker = await startWorker(redis, traces, ["--insecure"]);
    const { send } = await intruderIn(redis);
    /** Puts a file into Redis as a command does; the name is the digest of its content. */
    const put = async (content: Buffer, name = sha256(content)) => {
      await redis.client.set(`standin:file:${name}`, deflateSync(content));
      return name;
    };
    const scenario = (lines: string) => put(Buffer.from(`version: 1\n${lines}\nlength: 1m\n`));
    const plain = await scenario("world: { projects: { shop: {} } }");
    const outside = await scenario(`world: { file: ${join(path, "secret.csv")} }`);
    const replays = await scenario(
      "world: { projects: { shop: {} } }\ntraffic: [{ name: r, to: shop/main, pattern: replay, file: r.csv }]",
    );
    const bomb = Buffer.alloc(300 * 1024 ** 2);
    const runs: readonly (readonly [string, object, RegExp])[] = [
      ["a file of the worker", { text: outside }, /the file did not come with the run/],
      [
        "values of V8",
        { text: replays, recordings: [["r", await put(serialize({ endpoints: new Map() }))]] },
        /the recording/,
      ],
      ["a file that grows", { text: await put(bomb) }, /larger than|length/i],
      ["another content", { text: await put(Buffer.from("x"), sha256("y")) }, /^$/],
    ];
    for (const [index, [what, change, reason]] of [
      ...runs,
      ["nothing else", { text: plain }, /^passed$/] as const,
    ].entries()) {
      const id = sha256(String(index));
      const key = `${id}-${RUN}`;
      await redis.client.set(`standin:run:${RUN}`, signOfLife(RUN, Date.now()));
      const job = { ...IDENTITY, id, file: "s.yaml", variant: 0, bail: false, recordings: [], ...change };
      const { reason: failure } = await send(key, signedJob(job, key));
      const bytes = await redis.client.getBuffer(`standin:result:${key}`);
      const result =
        bytes === null ? undefined : JSON.parse(inflateSync(bytes.subarray(SIGNATURE_BYTES)).toString());
      const said = failure ?? (result?.verdict === "passed" ? "passed" : (result?.reason ?? ""));
      expect(said, what).toMatch(reason);
    }
    expect(worker.stderr()).not.toContain(SECRET);
    expect(contentOf(worker.directory)).toEqual({});
  });
});
