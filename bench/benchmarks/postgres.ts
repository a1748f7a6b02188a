import { execFile } from "node:child_process";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import {
  type Compute,
  createCompute,
  enginePids,
  type PostgresServer,
  proportionalBytes,
  type RunningEngine,
  runningEngine,
  startPostgresServer,
} from "../environment/postgres-server.ts";
import { residentBytes } from "../environment/resident-set.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const run = promisify(execFile);

const CLIENTS = 8;
const IDLE_CLIENTS = 100;
/** `max_connections` depends on the size, and with it the memory of Postgres. */
const LARGE_CU = 4;
const SMALLEST_CU = 0.25;
const READS_PER_SECOND = 200;
const MIB = 1024 ** 2;
const SUPERUSER = "cloud_admin";

export const postgres: Benchmark = {
  name: "postgres",
  measures:
    "queries, connections and wakes of Postgres clients, compared with a direct connection to Postgres",
  async run(environment, progress) {
    const server = await startPostgresServer(environment);
    const compute = await createCompute(server, LARGE_CU);
    progress("filling the tables of pgbench");
    await run("pgbench", ["-i", "-s", "10", "-q", compute.uri]);
    const engine = runningEngine(server.pid);
    return [
      ...(await queryFigures(environment, compute, engine, progress)),
      ...(await readFigures(environment, server, compute, progress)),
      ...(await memoryFigures(server, compute, engine, progress)),
      ...(await suspendFigures(environment, server, compute, progress)),
      ...(await wakeFigures(environment, server, progress)),
    ];
  },
};

/** Transactions per second. */
async function pgbench(
  target: readonly string[],
  seconds: number,
  more: readonly string[] = [],
): Promise<number> {
  const args = [
    "-n",
    "-S",
    "-M",
    "prepared",
    "-c",
    String(CLIENTS),
    "-j",
    "2",
    "-T",
    String(seconds),
    ...more,
  ];
  const { stdout } = await run("pgbench", [...args, ...target]);
  return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
}

async function queryFigures(
  environment: BenchEnvironment,
  { uri }: Compute,
  { sockets }: RunningEngine,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const seconds = environment.quick ? 1 : 5;
  const direct = ["-h", sockets, "-p", "5432", "-U", SUPERUSER, "neondb"];
  const withTls = [uri.replace("sslmode=disable", "sslmode=require")];
  const rounds = await measureInRounds(
    environment.quick ? 1 : 3,
    {
      direct: () => pgbench(direct, seconds),
      plain: () => pgbench([uri], seconds),
      tls: () => pgbench(withTls, seconds),
      directConnects: () => pgbench(direct, seconds, ["-C"]),
      tlsConnects: () => pgbench(withTls, seconds, ["-C"]),
    },
    (step) => progress(`pgbench, ${step}`),
  );
  const same = (value: number) => value;
  return [
    comparedFigure("pgbench -S -M prepared -c 8", "/s", "direct", pairs(rounds, "plain", "direct", same), {
      of: "ratio",
      atLeast: 0.5,
    }),
    comparedFigure("  with TLS", "/s", "direct, without TLS", pairs(rounds, "tls", "direct", same), {
      of: "ratio",
      atLeast: 0.35,
    }),
    comparedFigure(
      "connections with TLS and SCRAM, one query each",
      "/s",
      "direct, without both",
      pairs(rounds, "tlsConnects", "directConnects", same),
    ),
  ];
}

/** Latencies of reads of the API, one after another at a fixed rate. */
async function readP99(server: PostgresServer, path: string, durationMs: number): Promise<number> {
  const latencies: number[] = [];
  const beginning = performance.now();
  for (let due = beginning; due < beginning + durationMs; due += 1_000 / READS_PER_SECOND) {
    await sleep(Math.max(0, due - performance.now()));
    await server.call("GET", path);
    latencies.push(performance.now() - Math.min(due, performance.now()));
  }
  return latencies.sort((one, other) => one - other)[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
}

async function readFigures(
  environment: BenchEnvironment,
  server: PostgresServer,
  { path, uri }: Compute,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const seconds = environment.quick ? 1 : 5;
  const rounds = await measureInRounds(
    environment.quick ? 1 : 3,
    {
      alone: () => readP99(server, path, seconds * 1_000),
      loaded: async () => {
        const load = pgbench([uri], seconds + 1);
        await sleep(500);
        const p99 = await readP99(server, path, seconds * 1_000 - 500);
        await load;
        return p99;
      },
    },
    (step) => progress(`reads of the API, ${step}`),
  );
  return [
    comparedFigure(
      "read p99 of the API during pgbench",
      "ms",
      "without pgbench",
      pairs(rounds, "loaded", "alone", (value) => value),
      { of: "ratio", atMost: 3 },
    ),
  ];
}

async function memoryFigures(
  server: PostgresServer,
  { uri }: Compute,
  engine: RunningEngine,
  progress: (step: string) => void,
): Promise<Figure[]> {
  progress("memory of idle clients");
  const idle = await createCompute(server, SMALLEST_CU);
  const client = new pg.Client(idle.uri);
  await client.connect();
  const [pid = 0] = enginePids(server.pid).filter((candidate) => candidate !== engine.pid);
  const engineMib = proportionalBytes(pid) / MIB;
  await client.end();
  const before = residentBytes(server.pid);
  const clients = await Promise.all(
    Array.from({ length: IDLE_CLIENTS }, async () => {
      const opened = new pg.Client(uri);
      opened.on("error", () => undefined);
      await opened.connect();
      return opened;
    }),
  );
  await sleep(1_000);
  const perClientKb = (residentBytes(server.pid) - before) / IDLE_CLIENTS / 1_000;
  await Promise.all(clients.map((opened) => opened.end()));
  return [
    plainFigure("idle Postgres of the smallest compute, PSS", "MiB", engineMib, { of: "value", atMost: 30 }),
    plainFigure("memory of the server per idle client", "kB", perClientKb, { of: "value", atMost: 20 }),
  ];
}

/** From the answer to the suspend, which is sent after the commit, until the client gets 57P01. */
async function suspendFigures(
  environment: BenchEnvironment,
  server: PostgresServer,
  { path, uri }: Compute,
  progress: (step: string) => void,
): Promise<Figure[]> {
  progress("suspends");
  const delays: number[] = [];
  for (let round = 0; round < (environment.quick ? 1 : 9); round += 1) {
    const client = new pg.Client(uri);
    await client.connect();
    let lostAt = 0;
    const lost = new Promise<void>((resolve) =>
      client.once("error", () => {
        lostAt = performance.now();
        resolve();
      }),
    );
    await server.call("POST", `${path}/suspend`);
    const committedAt = performance.now();
    await lost;
    delays.push(Math.max(0, lostAt - committedAt));
    await client.end().catch(() => undefined);
  }
  return [
    plainFigure("57P01 after the commit of a suspend", "ms", median(delays), { of: "value", atMost: 50 }),
  ];
}

/** The first connection to a new branch, which copies a cluster and starts Postgres. */
async function wakeFigures(
  environment: BenchEnvironment,
  server: PostgresServer,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const volumes = join(environment.directory(), "volumes");
  const { bareWake } = await import("../environment/bare-postgres.ts");
  const bare = await bareWake(volumes);
  const rounds = await measureInRounds(
    environment.quick ? 1 : 7,
    {
      own: async () => {
        const { uri } = await createCompute(server, SMALLEST_CU);
        const began = performance.now();
        const client = new pg.Client(uri);
        await client.connect();
        const elapsed = performance.now() - began;
        await client.end();
        return elapsed;
      },
      bare: () => bare.measure(),
    },
    (step) => progress(`wakes, ${step}`),
  );
  await bare.close();
  return [
    comparedFigure(
      "wake of a new branch, without start delay",
      "ms",
      "copy, start, connection",
      pairs(rounds, "own", "bare", (value) => value),
      { of: "ratio", atMost: 2 },
    ),
  ];
}
