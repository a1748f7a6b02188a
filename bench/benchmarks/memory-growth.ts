import type { Benchmark } from "../benchmark.ts";
import { API, listEndpoints, makeScene, type Scene } from "../environment/scene.ts";
import { AUTHORIZATION, startCommand } from "../environment/servers.ts";
import { type Figure, plainFigure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import type { Sample } from "../processes/probe.ts";

const MIB = 1024 ** 2;
const CONNECTIONS = 32;
const SAMPLES = 20;
/** What counts as none: the noise of a heap after its collection. */
const NO_GROWTH_MIB = 5;

export const memoryGrowth: Benchmark = {
  name: "growth",
  measures: "memory growth over 1,000,000 requests that leave nothing behind",
  async run(environment, progress) {
    const total = environment.quick ? 100_000 : 1_000_000;
    const server = await startCommand(environment, environment.directory(), ["--expose-gc"]);
    const requests = traffic(await makeScene(server));
    const run = (count: number) =>
      environment.flood({ port: server.port, connections: CONNECTIONS, total: count, requests });
    progress("warming up");
    await run(total / 5);
    const samples = [await server.sample(true)];
    for (let sample = 1; sample <= SAMPLES; sample += 1) {
      progress(
        `${((sample / SAMPLES) * total).toLocaleString("en-US")} of ${total.toLocaleString("en-US")} requests`,
      );
      await run(total / SAMPLES);
      samples.push(await server.sample(true));
    }
    await environment.stop(server.child);
    const growth = (name: string, of: (sample: Sample) => number): Figure =>
      plainFigure(
        `${name} growth, ${total.toLocaleString("en-US")} requests`,
        "MiB",
        (slope(samples.map(of)) * SAMPLES) / MIB,
        {
          of: "value",
          atMost: NO_GROWTH_MIB,
        },
      );
    return [growth("heap", ({ heapUsedBytes }) => heapUsedBytes), growth("RSS", ({ rssBytes }) => rssBytes)];
  },
};

/** A little of everything that changes no more than instants: reads, refusals, bad input, and activity of computes that are awake. */
function traffic(scene: Scene): LoadRequest[] {
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
  const project = `${API}/projects/${scene.projectId}`;
  return [
    listEndpoints(scene),
    get(`${project}/endpoints/${scene.endpointId}`),
    get(`${API}/projects?limit=10`),
    get(`${project}/operations?limit=10`),
    get(`${project}/branches`),
    get(`${API}/api_keys`),
    post("/_sim/activity", { endpoint_id: scene.endpointId, duration_ms: 5 }, 200),
    post(`${project}/endpoints`, { endpoint: { branch_id: "br-missing", type: "read_only" } }, 404),
    post(`${API}/api_keys`, { key_name: "" }, 400),
    { ...get(`${API}/projects`, 401), headers: { Authorization: "Bearer of nothing" } },
  ];
}

/** By how much a value grows from one sample to the next: the slope of the line that fits them best. */
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
