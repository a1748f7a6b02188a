import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Benchmark } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import {
  awaitIdle,
  type Compute,
  createCompute,
  enginePids,
  type PostgresServer,
  proportionalBytes,
  type RunningEngine,
  runningEngine,
  startPostgresServer,
} from "../environment/postgres-server.ts";
import { createPopulatedDirectory } from "../environment/project-fixture.ts";
import { residentBytes } from "../environment/resident-set.ts";
import { awaitFirstResponse, startUninstrumented } from "../environment/uninstrumented-servers.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { directTo, fillTables, pgbench, queryFigures } from "./postgres-queries.ts";
import { sqlOverHttpFigures } from "./sql-over-http.ts";

const IDLE_CLIENTS = 100;
const IDLE_FOR_MS = 1_000;
/** `max_connections` depends on the size, and with it the memory of Postgres. */
const LARGE_CU = 4;
const SMALLEST_CU = 0.25;
const START_DELAY_MS = 1_000;
/** Within it, the Postgres process of a suspended compute ends. */
const ENGINE_STOP_MS = 1_000;
const READS_PER_SECOND = 200;
const MIB = 1024 ** 2;

export const postgres: Benchmark = {
  name: "postgres",
  measures:
    "queries, connections and wakes of Postgres clients, compared with a direct connection to Postgres",
  async run(environment, progress) {
    const server = await startPostgresServer(environment);
    const compute = await createCompute(server, LARGE_CU);
    progress("filling the tables of pgbench");
    await fillTables(compute.uri);
    const engine = runningEngine(server.pid);
    return [
      ...(await queryFigures(environment, server, compute, engine, progress)),
      ...(await sqlOverHttpFigures(environment, server, compute, progress)),
      ...(await readFigures(environment, server, compute, engine, progress)),
      ...(await memoryFigures(server, compute, engine, progress)),
      ...(await suspendFigures(environment, server, compute, progress)),
      ...(await wakeFigures(environment, server, progress)),
      ...(await addedWakeFigures(environment, progress)),
      ...(await unusedPortFigures(environment, progress)),
    ];
  },
};

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
  engine: RunningEngine,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const seconds = environment.quick ? 1 : 5;
  const during = async (target: readonly string[]) => {
    const load = pgbench(target, seconds + 1);
    await sleep(500);
    const p99 = await readP99(server, path, seconds * 1_000 - 500);
    await load;
    return p99;
  };
  const rounds = await measureInRounds(
    environment.quick ? 1 : 5,
    {
      alone: () => readP99(server, path, seconds * 1_000),
      loaded: () => during([uri]),
      // The server relays nothing, but the processors have as much to do.
      direct: () => during(directTo(engine)),
    },
    (step) => progress(`reads of the API, ${step}`),
  );
  const p99 = (own: "loaded" | "direct", baseline: "alone" | "direct") =>
    pairs(rounds, own, baseline, (value) => value);
  return [
    comparedFigure("read p99 of the API during pgbench", "ms", "without pgbench", p99("loaded", "alone"), {
      of: "ratio",
      atMost: 3,
    }),
    comparedFigure("  the same", "ms", "during pgbench direct to Postgres", p99("loaded", "direct"), {
      of: "ratio",
      atMost: 1.5,
    }),
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

/** Measures the wait of a client of a suspended compute in addition to the start delay. */
async function addedWakeFigures(
  environment: BenchEnvironment,
  progress: (step: string) => void,
): Promise<Figure[]> {
  progress("wakes after a suspend");
  const server = await startPostgresServer(environment, `${START_DELAY_MS}ms`);
  const { path, uri } = await createCompute(server, SMALLEST_CU);
  const connectionMs = async () => {
    const began = performance.now();
    const client = new pg.Client(uri);
    client.on("error", () => undefined);
    await client.connect();
    const elapsed = performance.now() - began;
    await client.query("SELECT 1");
    await client.end();
    return elapsed;
  };
  await connectionMs();
  const added: number[] = [];
  for (let round = 0; round < (environment.quick ? 3 : 9); round += 1) {
    await server.call("POST", `${path}/suspend`);
    await awaitIdle(server, path);
    await sleep(ENGINE_STOP_MS);
    const addedMs = (await connectionMs()) - START_DELAY_MS;
    if (addedMs < 0) throw new Error("a client did not wait for the start delay of its compute");
    added.push(addedMs);
  }
  return [
    plainFigure("wake after a suspend, added to a start delay of 1 s", "ms", median(added), {
      of: "value",
      atMost: 150,
    }),
  ];
}

/** Measures what the port for Postgres clients costs a server without such clients. */
async function unusedPortFigures(
  environment: BenchEnvironment,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const populated = await createPopulatedDirectory(environment);
  const side = async (...more: string[]) => {
    const began = performance.now();
    const child = await startUninstrumented(environment, populated, more);
    await awaitFirstResponse(child);
    const readyMs = performance.now() - began;
    await sleep(IDLE_FOR_MS);
    const idleMib = residentBytes(child.process.pid ?? 0) / MIB;
    await environment.stop(child);
    return { readyMs, idleMib };
  };
  const sides = { open: () => side("--pg-port", "0"), closed: () => side("--pg-port", "none") };
  const rounds = await measureInRounds(environment.quick ? 1 : 15, sides, (step) =>
    progress(`starts without clients, ${step}`),
  );
  const target = { of: "ratio", atMost: 1.02 } as const;
  const baseline = "--pg-port none";
  return [
    comparedFigure(
      "first response, with the port for Postgres clients",
      "ms",
      baseline,
      pairs(rounds, "open", "closed", ({ readyMs }) => readyMs),
      target,
    ),
    comparedFigure(
      "idle RSS, with the port for Postgres clients",
      "MiB",
      baseline,
      pairs(rounds, "open", "closed", ({ idleMib }) => idleMib),
      target,
    ),
  ];
}
