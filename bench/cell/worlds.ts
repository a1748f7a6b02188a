import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import {
  CREATE_API_KEY,
  createProjectFixture,
  listEndpoints,
  type ProjectFixture,
} from "../environment/project-fixture.ts";
import { type Server, startCommand } from "../environment/servers.ts";
import { type Figure, plainFigure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import { costPerUnit } from "./law.ts";

const MIB = 1024 ** 2;
const CONNECTIONS = 64;
/** Writes leave work for the next seconds: logs are merged, and old rows deleted. */
const SETTLING_MS = 5_000;
const IDLE_MS = 3_000;
const ASK_EVERY_MS = 250;

type Load = { readonly total: number; readonly cpuMs: number; readonly elapsedMs: number };

/** One server with this many worlds beside the default one, each with a project of 20 computes. */
type CellMeasurement = {
  readonly worlds: number;
  readonly startCpuMs: number;
  readonly closedBytes: number;
  readonly openBytes: number;
  readonly closedAgainBytes: number;
  readonly openFiles: number;
  readonly opening: Load;
  readonly reads: Load;
  readonly writes: Load;
  readonly idleCpuMs: number;
};

/** Measures what worlds cost one server: closed, open, read, written and idle. */
export async function worldFigures(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const measured: CellMeasurement[] = [];
  for (const worlds of environment.quick ? [10, 30] : [10, 100, 1_000]) {
    progress(`${worlds} worlds`);
    measured.push(await measureCell(environment, worlds));
  }
  const each = (of: (cell: CellMeasurement) => number) =>
    costPerUnit(measured.map((cell) => ({ x: cell.worlds, y: of(cell) }))).each;
  return [
    ...measured.flatMap(figuresOf),
    plainFigure(
      "each closed world: CPU time of the start",
      "ms",
      each(({ startCpuMs }) => startCpuMs),
    ),
    plainFigure("each closed world: RSS", "KiB", each(({ closedBytes }) => closedBytes) / 1_024),
    plainFigure("each open world: RSS", "KiB", each(({ openBytes }) => openBytes) / 1_024),
  ];
}

function figuresOf(cell: CellMeasurement): Figure[] {
  const title = `${cell.worlds.toLocaleString("en-US")} worlds`;
  const loadFigures = (name: string, { total, cpuMs, elapsedMs }: Load) => [
    plainFigure(`  ${name}, each world in turn`, "/s", total / (elapsedMs / 1_000)),
    plainFigure("    server CPU time per request", "us", (cpuMs / total) * 1_000),
  ];
  return [
    plainFigure(`${title}: CPU time until the first response`, "ms", cell.startCpuMs),
    plainFigure("  RSS, all closed but the default", "MiB", cell.closedBytes / MIB),
    plainFigure("  RSS, all open", "MiB", cell.openBytes / MIB),
    plainFigure("  RSS after idle worlds were closed", "MiB", cell.closedAgainBytes / MIB),
    plainFigure("  open files, all open", "", cell.openFiles),
    plainFigure("  CPU time to open one", "ms", cell.opening.cpuMs / cell.opening.total),
    ...loadFigures("GET endpoints", cell.reads),
    ...loadFigures("durable POST api_keys", cell.writes),
    plainFigure("  CPU time per second without requests", "ms", cell.idleCpuMs / (IDLE_MS / 1_000)),
  ];
}

async function measureCell(environment: BenchEnvironment, worlds: number): Promise<CellMeasurement> {
  const data = environment.directory();
  const names = Array.from({ length: worlds }, (_, index) => `team-${index + 1}`);
  const fixture = await createWorlds(environment, data, names);
  const inEach = (request: LoadRequest): LoadRequest[] =>
    names.map((name) => ({ ...request, path: `/w/${name}${request.path}` }));
  const requests = { reads: inEach(listEndpoints(fixture)), writes: inEach(CREATE_API_KEY) };
  const total = environment.quick ? 2_000 : 20_000;

  const server = await startCell(environment, data, worlds);
  await fetch(`http://127.0.0.1:${server.port}/_sim/health`);
  const { cpuMs: startCpuMs } = await server.metrics();
  const { rssBytes: closedBytes } = await server.metrics({ collectGarbage: true });
  const opening = await load(environment, server, requests.reads, worlds);
  const { rssBytes: openBytes } = await server.metrics({ collectGarbage: true });
  const openFiles = readdirSync(`/proc/${server.child.process.pid}/fd`).length;
  await load(environment, server, requests.reads, total);
  const reads = await load(environment, server, requests.reads, total);
  const writes = await load(environment, server, requests.writes, total / 2);
  await sleep(SETTLING_MS);
  const before = await server.metrics();
  await sleep(IDLE_MS);
  const idleCpuMs = (await server.metrics()).cpuMs - before.cpuMs;
  await environment.stop(server.child);
  const closedAgainBytes = await bytesAfterIdle(environment, data, requests.reads);
  return {
    ...{ worlds, startCpuMs, closedBytes, openBytes, closedAgainBytes, openFiles },
    ...{ opening, reads, writes, idleCpuMs },
  };
}

async function createWorlds(
  environment: BenchEnvironment,
  data: string,
  names: readonly string[],
): Promise<ProjectFixture> {
  const server = await startCell(environment, data, names.length);
  const fixture = await createProjectFixture(server);
  for (const name of names) {
    const response = await fetch(`http://127.0.0.1:${server.port}/_sim/worlds`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name }),
    });
    if (!response.ok) throw new Error(`world ${name}: ${await response.text()}`);
  }
  await environment.stop(server.child);
  return fixture;
}

function startCell(
  environment: BenchEnvironment,
  data: string,
  worlds: number,
  more: readonly string[] = [],
): Promise<Server> {
  const args = ["--max-worlds", String(worlds + 1), "--pg-port", "none", ...more];
  return startCommand(environment, data, { nodeOptions: ["--expose-gc"], more: args });
}

async function load(
  environment: BenchEnvironment,
  server: Server,
  requests: readonly LoadRequest[],
  total: number,
): Promise<Load> {
  const before = await server.metrics();
  const { port } = server;
  const { elapsedMs } = await environment.runClosedLoop({ port, connections: CONNECTIONS, total, requests });
  return { total, elapsedMs, cpuMs: (await server.metrics()).cpuMs - before.cpuMs };
}

/** Opens all worlds of a server that closes idle ones after a second, and waits until it has closed them. */
async function bytesAfterIdle(
  environment: BenchEnvironment,
  data: string,
  reads: readonly LoadRequest[],
): Promise<number> {
  const server = await startCell(environment, data, reads.length, ["--close-idle", "1s"]);
  await load(environment, server, reads, reads.length);
  for (let open = Number.NaN; open !== 1; ) {
    await sleep(ASK_EVERY_MS);
    const text = await (await fetch(`http://127.0.0.1:${server.port}/_sim/metrics`)).text();
    open = Number(/^standin_worlds_open (\d+)$/m.exec(text)?.[1]);
  }
  const { rssBytes } = await server.metrics({ collectGarbage: true });
  await environment.stop(server.child);
  return rssBytes;
}
