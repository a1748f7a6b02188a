import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { createDouble, createProject, START } from "../../support/double/double.ts";
import { expectHolds } from "../../support/properties/properties.ts";

type Span = { since_ms: number; until_ms: number; state: string; size_cu: number; active_share?: number };

async function createBusy() {
  const double = await createDouble();
  onTestFinished(double.close);
  const { endpointId, ...rest } = await createProject(double);
  const timeline = async (query = "") => (await double.sim("GET", `/timeline${query}`)).body;
  const lane = async (query = "") => (await timeline(query)).endpoints[0];
  return { double, endpointId, timeline, lane, ...rest };
}

test("a lane has the states of its compute, with their sizes", async () => {
  const { double, endpointId, lane } = await createBusy();
  await double.advance("10m");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("10m");
  const { spans, endpoint_id } = await lane();
  expect(endpoint_id).toBe(endpointId);
  expect(spans.map(({ state }: Span) => state)).toEqual([
    "suspended",
    "starting",
    "active",
    "suspended",
    "starting",
    "active",
    "suspended",
  ]);
  for (const { state, size_cu } of spans as Span[])
    expect(size_cu > 0).toBe(state === "active" || state === "suspending");
});

test("the spans of a lane follow each other without gaps up to now", async () => {
  const { double, endpointId, timeline } = await createBusy();
  await double.advance("7m");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("3m");
  const { now, from, endpoints } = await timeline();
  const spans: Span[] = endpoints[0].spans;
  for (const [index, span] of spans.slice(1).entries()) expect(span.since_ms).toBe(spans[index]?.until_ms);
  expect(spans.at(-1)?.until_ms).toBe(Date.parse(now) - Date.parse(from));
});

test("short spans are combined, and the active share is exact", async () => {
  const { double, endpointId, lane } = await createBusy();
  for (let visit = 0; visit < 20; visit += 1) {
    await double.sim("POST", "/activity", { endpoint_id: endpointId });
    await double.advance("10m");
  }
  const period = `?from=${new Date(START).toISOString()}`;
  const activeMs = (spans: Span[]) =>
    spans.reduce(
      (sum, { state, since_ms, until_ms, active_share }) =>
        sum + (until_ms - since_ms) * (state === "active" ? 1 : (active_share ?? 0)),
      0,
    );
  const fine: Span[] = (await lane(`${period}&points=2000`)).spans;
  const coarse: Span[] = (await lane(`${period}&points=4`)).spans;
  expect(coarse.length).toBeLessThanOrEqual(9);
  expect(coarse.some(({ state }) => state === "mixed")).toBe(true);
  const totalMs = fine.at(-1)?.until_ms ?? 0;
  expect(Math.abs(activeMs(coarse) - activeMs(fine)) / totalMs).toBeLessThan(0.002);
});

test("the requests of a span count as arrivals at its begin, also if an arrival within it was counted first", async () => {
  const { double, endpointId, lane } = await createBusy();
  const span = (kind: "begin" | "end", more: object = {}) =>
    double.sim("POST", "/spans", { kind, endpoint_id: endpointId, ...more });
  await span("begin");
  await double.advance("20s");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("20s");
  await span("end", { arrivals: 7 });
  await span("begin");
  await span("end", { arrivals: 0 });
  const points: { at_ms: number; count: number; waiting: number }[] = (await lane("?points=2000")).arrivals;
  expect(points.map(({ count, waiting }) => ({ count, waiting }))).toEqual([
    { count: 7, waiting: 0 },
    { count: 1, waiting: 0 },
  ]);
  expect((points[1]?.at_ms ?? 0) - (points[0]?.at_ms ?? 0)).toBe(20_000);
});

test("arrivals are counted, and those that waited for a start", async () => {
  const { double, endpointId, lane } = await createBusy();
  await double.advance("10m");
  for (let index = 0; index < 3; index += 1)
    await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("1m");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  const counts = (await lane("?points=2000")).arrivals.map((point: object) => ({ ...point, at_ms: 0 }));
  expect(counts).toEqual([
    { at_ms: 0, count: 3, waiting: 3 },
    { at_ms: 0, count: 1, waiting: 0 },
  ]);
});

test("faults and restarts are marks, and operations of other kinds are listed", async () => {
  const { double, projectId, endpointId, path, timeline } = await createBusy();
  await double.api("POST", `${path}/restart`);
  await double.advance("1m");
  await double.api("PATCH", path, { endpoint: { suspend_timeout_seconds: 600 } });
  const fault = await double.sim("PUT", "/faults/limited", {
    on: { operation: "listProjects" },
    effect: { answer: { status: 500 } },
  });
  expect(fault.status).toBe(200);
  await double.api("GET", "/projects");
  const { marks, operations } = await timeline();
  expect(marks.map(({ kind, name }) => [kind, name])).toEqual([
    ["restart", null],
    ["fault", "limited"],
  ]);
  expect(operations.map(({ action }) => action)).toContain("create_timeline");
  expect(operations.at(-1)).toMatchObject({ project_id: projectId, endpoint_id: endpointId, until: null });
});

test("a deleted compute ends its lane, and is absent afterwards", async () => {
  const { double, path, timeline } = await createBusy();
  await double.api("DELETE", path);
  await double.advance("1m");
  const whole = await timeline();
  expect(whole.endpoints).toHaveLength(1);
  expect(whole.endpoints[0].spans.at(-1).until_ms).toBeLessThan(
    Date.parse(whole.now) - Date.parse(whole.from),
  );
  await double.advance("1m");
  const later = `?from=${encodeURIComponent(whole.now)}`;
  expect((await timeline(later)).endpoints).toEqual([]);
});

test("lanes follow a restore of a snapshot", async () => {
  const { double, endpointId, lane } = await createBusy();
  await double.sim("POST", "/snapshots", { name: "before" });
  await double.advance("1h");
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  expect((await lane()).arrivals).toHaveLength(1);
  await double.sim("POST", "/snapshots/before/restore");
  expect((await lane()).arrivals).toEqual([]);
});

test("lanes begin with the state at the beginning of a shortened history", async () => {
  const { double, endpointId, lane } = await createBusy();
  await double.sim("POST", "/activity", { endpoint_id: endpointId });
  await double.advance("1m");
  const { body } = await double.sim("POST", "/compact", { keep: "0ms" });
  expect(body.forgotten_seq).toBeGreaterThan(0);
  await double.advance("10m");
  expect((await lane()).spans.map(({ state }: Span) => state)).toEqual(["active", "suspended"]);
});

test.each([
  ["from", "?from=yesterday"],
  ["points", "?points=0"],
  ["points", "?points=99999"],
  ["endpoint_id", `?endpoint_id=${"ep,".repeat(200)}`],
  ["from", "?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"],
  ["unknown", "?unknown=1"],
])("bad input is 400 and names %s", async (name, query) => {
  const { double } = await createBusy();
  const { status, body } = await double.sim("GET", `/timeline${query}`);
  expect(status).toBe(400);
  expect(body.message).toContain(name);
});

test("an answer read in steps equals one read at the end", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 12 }), async (gaps) => {
      const answer = async (readsBetween: boolean) => {
        const double = await createDouble();
        const { endpointId } = await createProject(double);
        for (const gap of gaps) {
          await double.sim("POST", "/activity", { endpoint_id: endpointId });
          await double.advance(`${gap}s`);
          if (readsBetween) await double.sim("GET", "/timeline");
        }
        const { body } = await double.sim("GET", "/timeline?points=300");
        await double.close();
        return body;
      };
      expect(await answer(true)).toEqual(await answer(false));
    }),
    30,
  );
});

test("a long history is read in several requests, and is complete at the end", async () => {
  const double = await createDouble();
  try {
    const { endpointId } = await createProject(double);
    const ARRIVALS = 30_000;
    const begin = START + 60_000;
    for (let from = 0; from < ARRIVALS; from += 10_000)
      await double.sim(
        "POST",
        "/activity",
        Array.from({ length: 10_000 }, (_, index) => ({
          endpoint_id: endpointId,
          at: new Date(begin + (from + index) * 100).toISOString(),
        })),
      );
    await double.advance("2h");
    const query = `/timeline?from=2026-01-01T00:00:00Z&to=2026-01-01T02:00:00Z&points=100`;
    const { body: first } = await double.sim("GET", query);
    expect(first.read.seq).toBeLessThan(first.read.of);
    const [lane] = first.endpoints;
    expect(Math.max(...lane.arrivals.map(({ at_ms }) => at_ms))).toBeLessThanOrEqual(
      Date.parse(first.read.at) - START,
    );
    let last = first;
    for (let requests = 1; last.read !== undefined && requests < 10; requests += 1)
      last = (await double.sim("GET", query)).body;
    expect(last.read).toBeUndefined();
    const counts: number[] = last.endpoints[0].arrivals.map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(ARRIVALS);
  } finally {
    await double.close();
  }
});
