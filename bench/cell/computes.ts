import { statSync } from "node:fs";
import type { Progress } from "../benchmark.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { API } from "../environment/project-fixture.ts";
import { startCommand } from "../environment/servers.ts";
import { LARGE_HEAP, worldOf } from "../environment/simulated-world.ts";
import { type Figure, plainFigure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import { costPerUnit } from "./law.ts";

const MIB = 1024 ** 2;
const CONNECTIONS = 64;

export type WorldMeasurement = {
  readonly computes: number;
  readonly events: number;
  readonly fileBytes: number;
  readonly startCpuMs: number;
  readonly rssBytes: number;
  readonly readCpuUs: number;
  readonly writeCpuUs: number;
};

/** Measures what the computes of one world cost its server. */
export async function computeFigures(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const measured: WorldMeasurement[] = [];
  for (const computes of environment.quick ? [100, 1_000] : [1_000, 10_000, 100_000]) {
    progress(`a world of ${computes} computes`);
    measured.push(await measureWorld(environment, computes));
  }
  const each = (of: (world: WorldMeasurement) => number) =>
    costPerUnit(measured.map((world) => ({ x: world.computes, y: of(world) }))).each;
  return [
    ...measured.flatMap(({ computes, fileBytes, startCpuMs, rssBytes, readCpuUs, writeCpuUs }) => [
      plainFigure(
        `world of ${computes.toLocaleString("en-US")} computes: CPU time until the first response`,
        "ms",
        startCpuMs,
      ),
      plainFigure("  RSS", "MiB", rssBytes / MIB),
      plainFigure("  file", "MiB", fileBytes / MIB),
      plainFigure("  GET endpoints of a project, server CPU time", "us", readCpuUs),
      plainFigure("  durable POST api_keys, server CPU time", "us", writeCpuUs),
    ]),
    plainFigure("each compute: CPU time of the start", "us", each(({ startCpuMs }) => startCpuMs) * 1_000),
    plainFigure("each compute: RSS", "KiB", each(({ rssBytes }) => rssBytes) / 1_024),
  ];
}

/** One server with one world. */
export async function measureWorld(
  environment: BenchEnvironment,
  computes: number,
  startsPerCompute = 1,
): Promise<WorldMeasurement> {
  const { data, file, events } = await worldOf(environment, computes, startsPerCompute);
  const server = await startCommand(environment, data, {
    nodeOptions: ["--expose-gc", LARGE_HEAP],
    more: ["--pg-port", "none"],
  });
  const base = `http://127.0.0.1:${server.port}`;
  await fetch(`${base}/_sim/health`);
  const { cpuMs: startCpuMs } = await server.metrics();
  const { rssBytes } = await server.metrics({ collectGarbage: true });
  const created = await fetch(`${base}/_sim/api_keys`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key_name: "load" }),
  });
  const { key } = (await created.json()) as { key: string };
  const headers = { Authorization: `Bearer ${key}` };
  const listed = (await (await fetch(`${base}${API}/projects?limit=100`, { headers })).json()) as {
    projects: { id: string }[];
  };
  const total = environment.quick ? 2_000 : 10_000;
  const cpuUs = async (requests: readonly LoadRequest[]) => {
    const run = () =>
      environment.runClosedLoop({ port: server.port, connections: CONNECTIONS, total, requests });
    await run();
    const before = await server.metrics();
    await run();
    return (((await server.metrics()).cpuMs - before.cpuMs) / total) * 1_000;
  };
  const readCpuUs = await cpuUs(
    listed.projects.map(({ id }) => ({
      ...{ method: "GET", path: `${API}/projects/${id}/endpoints`, headers, expected: 200 },
    })),
  );
  const body = { key_name: "bench" };
  const write = { method: "POST", path: `${API}/api_keys`, headers, body, expected: 200 };
  const writeCpuUs = await cpuUs([write]);
  await environment.stop(server.child);
  return { computes, events, fileBytes: statSync(file).size, startCpuMs, rssBytes, readCpuUs, writeCpuUs };
}
