import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { openTracing } from "../../../../src/cli/server/open-tracing.ts";
import { startServer, testDirectory } from "../../../../test/support/server/running-server.ts";

const MANUAL = ["--clock", "manual", "--start-at", "2026-01-01T00:00:00Z", "--seed", "1"];
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

type Attribute = { key: string; value: Record<string, unknown> };
type Span = {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  attributes: Attribute[];
  links?: { spanId: string }[];
};

/** A collector on a free port; returns its URL. */
async function startCollector(
  respond: (body: string, request: IncomingMessage, response: ServerResponse) => void,
) {
  const collector = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    respond(body, request, response);
  });
  await new Promise<void>((listening) => collector.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    collector.closeAllConnections();
    collector.close();
  });
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}

const attributesOf = (span: Span | undefined) =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));

test("a request, its decisions and its commit are one trace, which continues that of the caller", async () => {
  const spans: Span[] = [];
  const resources: Attribute[][] = [];
  const headers = new Set<unknown>();
  const endpoint = await startCollector((body, request, response) => {
    headers.add(`${request.url} ${request.headers["x-tenant"]}`);
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      resources.push(resource.attributes);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    response.setHeader("Content-Type", "application/json").end("{}");
  });
  const server = await startServer(testDirectory(), MANUAL, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=team-a",
      OTEL_SERVICE_NAME: "doubles",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
  });
  const create = (name: unknown, traced: Record<string, string> = {}) =>
    fetch(`${server.ready.api_url}/projects`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${server.ready.api_key}`,
        ...traced,
      },
      body: JSON.stringify({ project: { name } }),
    });
  expect((await create("a", { traceparent: `00-${TRACE}-${CALLER}-01` })).status).toBe(201);
  await Promise.all(["b", "c", "d"].map((name) => create(name)));
  await fetch(`${server.ready.api_url}/projects/nothing/branches`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.ready.api_key}` },
  });
  await fetch(`${server.ready.control_url}/clock`);
  await vi.waitUntil(() => spans.some(({ name }) => name === "GET /_sim/clock"), { timeout: 10_000 });

  const own = spans.filter(({ traceId }) => traceId === TRACE);
  const request = own.find(({ kind }) => kind === 2);
  expect([request?.name, request?.parentSpanId]).toEqual(["POST /api/v2/projects", CALLER]);
  expect(attributesOf(request)).toMatchObject({
    "http.request.method": "POST",
    "http.route": "/api/v2/projects",
    "http.response.status_code": 201,
    "standin.world": "default",
  });
  const children = own.filter((span) => span !== request);
  expect(children.map(({ name }) => name)).toEqual(["decide CreateProject", "commit"]);
  expect(children.every(({ parentSpanId }) => parentSpanId === request?.spanId)).toBe(true);
  expect(attributesOf(children[0])).toMatchObject({
    "standin.command": "CreateProject",
    "standin.simulated_time": "2026-01-01T00:00:00.000Z",
  });
  // Whether requests share a commit depends on when they arrive, but links and sizes of batches agree.
  const commits = spans.filter(({ name }) => name === "commit");
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(commits).toHaveLength(4);
  for (const commit of commits) {
    const links = commit.links ?? [];
    expect(links.length).toBeLessThan(Number(attributesOf(commit)["standin.commit.requests"]));
    expect(links.every(({ spanId }) => ids.has(spanId))).toBe(true);
  }
  expect([...headers]).toEqual(["/v1/traces team-a"]);
  expect(resources[0]).toContainEqual({ key: "service.name", value: { stringValue: "doubles" } });
  expect(JSON.stringify(spans)).not.toContain(server.ready.api_key);
});

test("a collector that never answers neither delays nor fails requests, and does not prevent the end of the server", async () => {
  let exports = 0;
  const endpoint = await startCollector(() => {
    exports += 1;
  });
  const server = await startServer(testDirectory(), MANUAL, {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_BSP_SCHEDULE_DELAY: "10",
      OTEL_BSP_MAX_QUEUE_SIZE: "20",
    },
  });
  const statuses = new Set<number>();
  for (let count = 0; count < 50; count += 1)
    statuses.add((await server.api("POST", "/api_keys", { key_name: `k${count}` })).status);
  expect([...statuses]).toEqual([200]);
  await vi.waitUntil(() => exports > 0, { timeout: 10_000 });
  expect((await server.sim("GET", "/health")).status).toBe(200);
  const stopped = performance.now();
  expect(await server.kill("SIGTERM")).toBe(0);
  // The timeout of an export is 10 s.
  expect(performance.now() - stopped).toBeLessThan(8_000);
});

test("traces are off without an endpoint, and variables that cannot be used are errors that name them", async () => {
  const open = (environment: Record<string, string>) => openTracing(environment, () => undefined);
  const url = "http://127.0.0.1:4318";
  for (const off of [
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: "true" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: "none" },
  ])
    expect(await open(off as Record<string, string>)).toBeUndefined();
  for (const [name, value] of [
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_TRACES_SAMPLER", "sometimes"],
  ] as const)
    await expect(open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, [name]: value })).rejects.toThrow(
      new RegExp(`^${name}: expected .*, got "${value}"$`),
    );
});
