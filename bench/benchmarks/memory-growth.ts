import type { Benchmark } from "../benchmark.ts";
import {
  API,
  createProjectFixture,
  listEndpoints,
  type ProjectFixture,
} from "../environment/project-fixture.ts";
import { AUTHORIZATION, startCommand } from "../environment/servers.ts";
import { type Figure, plainFigure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import type { ProcessMetrics } from "../processes/process-metrics.ts";

const MIB = 1024 ** 2;
const CONNECTIONS = 32;
const SAMPLES = 20;
/** Until then the process grows to the size that it keeps: V8 compiles, and its young generation grows. */
const WARM_UP_SHARE = 0.4;
/** Heap sizes differ by this much between two garbage collections of the same state. */
const NO_HEAP_GROWTH_MIB = 5;
const NO_RSS_GROWTH_MIB = 2;
/** The aim. V8's young generation alone grows by 25 MiB. */
const RSS_OVER_START_MIB = 10;

export const memoryGrowth: Benchmark = {
  name: "growth",
  measures: "memory growth over 1,000,000 requests that create no rows",
  async run(environment, progress) {
    const total = environment.quick ? 100_000 : 1_000_000;
    const server = await startCommand(environment, environment.directory(), { nodeOptions: ["--expose-gc"] });
    const requests = traffic(await createProjectFixture(server));
    const run = (count: number) =>
      environment.runClosedLoop({ port: server.port, connections: CONNECTIONS, total: count, requests });
    const start = await server.metrics({ collectGarbage: true });
    progress("warming up");
    await run(total * WARM_UP_SHARE);
    const metrics = [await server.metrics({ collectGarbage: true })];
    for (let sample = 1; sample <= SAMPLES; sample += 1) {
      progress(`round ${sample} of ${SAMPLES}`);
      await run(total / SAMPLES);
      metrics.push(await server.metrics({ collectGarbage: true }));
    }
    await environment.stop(server.child);
    const growth = (name: string, atMost: number, of: (sample: ProcessMetrics) => number): Figure =>
      plainFigure(
        `${name} growth, ${total.toLocaleString("en-US")} requests`,
        "MiB",
        (slope(metrics.map(of)) * SAMPLES) / MIB,
        {
          of: "value",
          atMost,
        },
      );
    return [
      growth("heap", NO_HEAP_GROWTH_MIB, ({ heapUsedBytes }) => heapUsedBytes),
      growth("RSS", NO_RSS_GROWTH_MIB, ({ rssBytes }) => rssBytes),
      plainFigure(
        "RSS after them, over the start",
        "MiB",
        ((metrics.at(-1) as ProcessMetrics).rssBytes - start.rssBytes) / MIB,
        { of: "value", atMost: RSS_OVER_START_MIB },
      ),
    ];
  },
};

/** Requests that create no rows: reads, rejected requests, invalid input, and activity of active computes. */
function traffic(fixture: ProjectFixture): LoadRequest[] {
  const get = (path: string, expected = 200): LoadRequest => ({
    method: "GET",
    path,
    headers: AUTHORIZATION,
    expected,
  });
  const post = (path: string, body: unknown, expected: number): LoadRequest => ({
    method: "POST",
    path,
    headers: AUTHORIZATION,
    body,
    expected,
  });
  const project = `${API}/projects/${fixture.projectId}`;
  return [
    listEndpoints(fixture),
    get(`${project}/endpoints/${fixture.endpointId}`),
    get(`${API}/projects?limit=10`),
    get(`${project}/operations?limit=10`),
    get(`${project}/branches`),
    get(`${API}/api_keys`),
    post("/_sim/activity", { endpoint_id: fixture.endpointId, duration_ms: 5 }, 200),
    post(`${project}/endpoints`, { endpoint: { branch_id: "br-missing", type: "read_only" } }, 404),
    post(`${API}/api_keys`, { key_name: "" }, 400),
    { ...get(`${API}/projects`, 401), headers: { Authorization: "Bearer invalid" } },
  ];
}

/** Least-squares slope: growth per sample. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let covariance = 0;
  let variance = 0;
  for (const [index, value] of values.entries()) {
    covariance += (index - middle) * (value - mean);
    variance += (index - middle) ** 2;
  }
  return covariance / variance;
}
